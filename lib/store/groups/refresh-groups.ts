import { DEFAULT_GROUP } from '../../job/groups/group-key.js';
import { groupBy } from '../../common/group-by.js';
import { idsOf, withSafeIds } from '../core/safe-id.js';
import type { Dialect } from '../core/sql-database.js';
import { execute, executeAll, Ids, query, type Work } from '../core/statement.js';
import { compareKeys, onDialects } from './group-row.js';
import { ARRIVING, IN_GROUP, RETURNED } from '../runnable.js';
import type { TableRow } from '../schema/entities/table-schemas.js';

// Reads without locks. On SQLite, and in a queue that had no groups before, jobs of groups are runnable.
const arrivals = (runnable: number, afterGroup = '') => `
  SELECT id, group_key, priority, runnable
  FROM {jobs} /*! FORCE INDEX ({jobs}_queue) */
  WHERE queue = :queue AND runnable = ${runnable} AND run_at IS NULL ${afterGroup} AND state = 'waiting'
  ORDER BY group_key, priority, id
  LIMIT :limit`;

const RUNNABLE_JOBS = arrivals(1);
const ARRIVING_JOBS = arrivals(ARRIVING, 'AND group_key > :afterGroup');
const RETURNED_JOBS = arrivals(RETURNED);

const DUE_GROUPS = `
  SELECT group_key
  FROM {groups} /*! FORCE INDEX ({groups}_turn) */
  WHERE queue = :queue AND state = 'blocked' AND turn <= :now
  ORDER BY queue, state, turn
  LIMIT :limit`;

const NEXT_DUE = `
  SELECT MIN(turn) AS turn, :now AS at
  FROM {groups} /*! FORCE INDEX ({groups}_turn) */
  WHERE queue = :queue AND state = 'blocked' AND turn > :now`;

const HAS_READY = `
  SELECT 1 AS one
  FROM {groups} /*! FORCE INDEX ({groups}_turn) */
  WHERE queue = :queue AND state = 'ready'
  LIMIT 1`;

const LOCK = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND queue = :queue AND state = 'waiting' AND runnable IN (1, ${ARRIVING}, ${RETURNED}) AND run_at IS NULL
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const JOIN_GROUP = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET runnable = ${IN_GROUP}, group_key = CASE WHEN group_key = '' THEN '${DEFAULT_GROUP}' ELSE group_key END
  WHERE :ids`;

// Each column is set before those that it depends on, because the server assigns from left to right.
const addGroups = (woken: string) =>
  onDialects(
    (onDuplicate, given) => `
  INSERT INTO {groups} (queue, group_key, state, turn, head_priority, head_id)
  VALUES :rows(?, ?, 'ready', :now, ?, ?)
  ${onDuplicate}
    turn = CASE WHEN {groups}.state IN (${woken}) THEN ${given('turn')} ELSE {groups}.turn END,
    state = CASE WHEN {groups}.state IN (${woken}) THEN 'ready' ELSE {groups}.state END,
    head_id = CASE WHEN ${given('head_priority')} < {groups}.head_priority
                     OR (${given('head_priority')} = {groups}.head_priority AND ${given('head_id')} < {groups}.head_id)
                   THEN ${given('head_id')} ELSE {groups}.head_id END,
    head_priority = CASE WHEN ${given('head_priority')} < {groups}.head_priority
                         THEN ${given('head_priority')} ELSE {groups}.head_priority END`,
  );

const ADD_ARRIVED = addGroups(`'idle'`);
const ADD_RETURNED = addGroups(`'idle', 'blocked'`);

const WAKE_DUE = `
  UPDATE {groups} /*! FORCE INDEX (PRIMARY) */
  SET state = CASE WHEN turn <= :now AND state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = :queue AND group_key = :group`;

const BATCH_SIZE = 500;

export type Arrival = Pick<TableRow<'jobs'>, 'id' | 'group_key' | 'priority' | 'runnable'>;

export interface GroupChanges {
  readonly arrivals: readonly Arrival[];
  /** Blocked groups whose time has come. */
  readonly due: readonly string[];
  /** Milliseconds until the next blocked group is due; null: none is. */
  readonly nextDueInMs: number | null;
  /** Groups are ready. Other claims may have locked them. */
  readonly hasReady: boolean;
  /** The group after which the next read begins, so that the jobs of one large group do not hide those of the others. */
  readonly nextGroup: string;
}

/** Reads jobs that have arrived or returned, and groups that are due. Without locks. */
export function* readGroupChanges(queue: string, afterGroup: string): Work<GroupChanges> {
  const values = { queue, afterGroup, limit: BATCH_SIZE };
  const statements = [RUNNABLE_JOBS, RETURNED_JOBS, ARRIVING_JOBS, DUE_GROUPS, NEXT_DUE, HAS_READY];
  const answers = yield* executeAll(statements.map((sql) => ({ sql, values })));
  const [runnable, returned, arriving, due, next, ready] = answers.map(({ rows }) => rows);
  const { turn, at } = next![0] as { turn: number | null; at: number };
  return {
    arrivals: withSafeIds([...runnable!, ...returned!, ...arriving!] as unknown as Arrival[]),
    due: due!.map((row) => row['group_key'] as string),
    nextDueInMs: turn === null ? null : Number(turn) - Number(at),
    hasReady: ready!.length > 0,
    nextGroup: nextGroupAfter(arriving as unknown as Arrival[]),
  };
}

/** The next read starts with the last group, which may have more jobs, or after it if the page had no other one. */
function nextGroupAfter(page: readonly Arrival[]): string {
  if (page.length < BATCH_SIZE) return '';
  const last = page.at(-1)!.group_key;
  return [...page].reverse().find(({ group_key }) => group_key !== last)?.group_key ?? last;
}

/**
 * Lets the jobs join their groups, which take part in the rotation from then on.
 *
 * @param arrivals all returned to their groups, or none of them
 */
export function* joinGroups(queue: string, arrivals: readonly Arrival[], dialect: Pick<Dialect, 'name'>): Work<void> {
  const found = yield* query<{ id: number }>(LOCK, { queue, ids: new Ids(idsOf(arrivals)) });
  const locked = new Set(idsOf(found));
  const joining = [...groupBy(arrivals, groupOf)].flatMap(([group, jobs]) => {
    // No job may join before one that stands in front of it, and that another transaction has locked.
    const firstLocked = jobs.findIndex(({ id }) => !locked.has(Number(id)));
    const free = firstLocked === -1 ? jobs : jobs.slice(0, firstLocked);
    return free.length === 0 ? [] : [{ group, jobs: free }];
  });
  if (joining.length === 0) return;
  const ids = joining.flatMap(({ jobs }) => idsOf(jobs));
  yield* execute(JOIN_GROUP, { ids: new Ids(ids) });
  const hasReturned = arrivals.some(({ runnable }) => runnable === RETURNED);
  const sql = (hasReturned ? ADD_RETURNED : ADD_ARRIVED)[dialect.name];
  const rows = joining
    .sort((a, b) => compareKeys(a.group, b.group))
    .map(({ group, jobs }) => {
      const [first] = [...jobs].sort((a, b) => a.priority - b.priority || a.id - b.id);
      return [queue, group, first!.priority, Number(first!.id) - 1];
    });
  yield* execute(sql, { rows });
}

export function* wakeDue(queue: string, groups: readonly string[]): Work<void> {
  const inOrder = [...groups].sort(compareKeys);
  yield* executeAll(inOrder.map((group) => ({ sql: WAKE_DUE, values: { queue, group } })));
}

function groupOf({ group_key }: Arrival): string {
  return group_key || DEFAULT_GROUP;
}
