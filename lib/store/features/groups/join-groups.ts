import { DEFAULT_GROUP } from '../../../job/groups/group-key.js';
import { groupBy } from '../../../common/lists.js';
import { idsOf } from '../../../job/identifiers.js';
import { execute, executeAll, Ids, insertInChunks, query, statement, type Work } from '../../core/statement.js';
import { compareKeys, lockedGroupsOf, lockFreeGroups } from '../../ends/wake-groups.js';
import type { Arrival } from './read-group-changes.js';
import { IS_AHEAD_OF_CLOCK } from './turn.js';
import { ARRIVING, IN_GROUP, IN_QUEUE, RETURNED } from '../../tables/runnable.js';

const LOCK_JOBS = `
  SELECT id, group_key, priority, runnable
  FROM {jobs} {by primary}
  WHERE :ids AND queue = :queue AND state = 'waiting' AND runnable IN (${IN_QUEUE}, ${ARRIVING}, ${RETURNED}) AND run_at IS NULL
  ORDER BY id {lock free}`;

// MySQL and MariaDB ignore spaces at the end when they compare names, and JavaScript does not. No row of a group has any,
// but a plain INSERT may write some.
const JOIN_GROUP = `
  UPDATE {jobs} {by primary}
  SET runnable = ${IN_GROUP},
      group_key = CASE WHEN RTRIM(group_key) = '' THEN '${DEFAULT_GROUP}' ELSE RTRIM(group_key) END
  WHERE :ids`;

// Each column is set before those that it depends on, because the server assigns from left to right. A new group has no
// active jobs, because the pruner keeps the rows of groups that have some.
const addGroups = (woken: string) => `
  INSERT INTO {groups} (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES :rows(?, ?, 'ready', :now, ?, ?, '[]')
  {on duplicate queue, group_key}
    turn = CASE WHEN {groups}.state IN (${woken}) THEN {given turn} ELSE {groups}.turn END,
    state = CASE WHEN {groups}.state IN (${woken}) THEN 'ready' ELSE {groups}.state END,
    head_id = CASE WHEN {given head_priority} < {groups}.head_priority
                     OR ({given head_priority} = {groups}.head_priority AND {given head_id} < {groups}.head_id)
                   THEN {given head_id} ELSE {groups}.head_id END,
    head_priority = CASE WHEN {given head_priority} < {groups}.head_priority
                         THEN {given head_priority} ELSE {groups}.head_priority END`;

const ADD_ARRIVED = addGroups(`'idle'`);
const ADD_RETURNED = addGroups(`'idle', 'blocked'`);

const LOCK_DUE = `
  SELECT group_key, state
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key IN (:groups)
    AND ((state = 'blocked' AND turn <= :now) OR (state IN ('blocked', 'ready') AND ${IS_AHEAD_OF_CLOCK}))
  ORDER BY group_key {lock free}`;

const WAKE_DUE = `
  UPDATE {groups} {by primary}
  SET state = 'ready', turn = CASE WHEN ${IS_AHEAD_OF_CLOCK} THEN :now ELSE turn END
  WHERE queue = :queue AND group_key = :group`;

/**
 * Lets the jobs join their groups, which take part in the rotation from then on. Leaves those out that another transaction
 * has locked, or that have changed since they were read. Returns the number of jobs that have joined.
 *
 * @param arrivals all returned to their groups, or none of them
 */
export function* joinGroups(queue: string, arrivals: readonly Arrival[]): Work<number> {
  const byGroup = groupBy(arrivals, groupOf);
  const groups = [...byGroup.keys()].sort(compareKeys);
  const answers = yield* executeAll([
    ...lockFreeGroups(queue, groups),
    statement(LOCK_JOBS, { queue, ids: new Ids(idsOf(arrivals)) }),
  ]);
  const locked = answers[2]!;
  const isLocked = lockedGroupsOf(answers);
  const rows = new Map((locked.rows as unknown as Arrival[]).map((row) => [Number(row.id), row]));
  const joining = groups.flatMap((group) => {
    const jobs = isLocked.has(group) ? [] : unchangedOf(byGroup.get(group)!, rows);
    return jobs.length === 0 ? [] : [{ group, jobs }];
  });
  if (joining.length === 0) return 0;
  const ids = joining.flatMap(({ jobs }) => idsOf(jobs));
  yield* execute(JOIN_GROUP, { ids: new Ids(ids) });
  const hasReturned = arrivals.some(({ runnable }) => runnable === RETURNED);
  const heads = joining.map(({ group, jobs }) => {
    const [first] = [...jobs].sort((a, b) => a.priority - b.priority || a.id - b.id);
    return [queue, group, first!.priority, Number(first!.id) - 1];
  });
  yield* insertInChunks(hasReturned ? ADD_RETURNED : ADD_ARRIVED, heads);
  return ids.length;
}

/** Wakes those of the groups that no other transaction has locked, and returns their number. */
export function* wakeDue(queue: string, groups: readonly string[]): Work<number> {
  const due = yield* query<{ group_key: string }>(LOCK_DUE, { queue, groups: [...groups].sort(compareKeys) });
  yield* executeAll(due.map(({ group_key: group }) => statement(WAKE_DUE, { queue, group })));
  return due.length;
}

/** The first jobs up to one that is locked or has changed: none may join before a job that stands in front of it. */
function unchangedOf(jobs: readonly Arrival[], locked: ReadonlyMap<number, Arrival>): readonly Arrival[] {
  const isSame = (job: Arrival) => {
    const row = locked.get(Number(job.id));
    return row?.group_key === job.group_key && row.priority === job.priority && row.runnable === job.runnable;
  };
  const end = jobs.findIndex((job) => !isSame(job));
  return end === -1 ? jobs : jobs.slice(0, end);
}

function groupOf({ group_key }: Arrival): string {
  // SQLite stores a value of any type in any column. A job whose group is no text joins none.
  return typeof group_key === 'string' ? group_key.replace(/ +$/, '') || DEFAULT_GROUP : group_key;
}
