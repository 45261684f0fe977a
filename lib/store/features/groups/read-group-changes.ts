import { pageSize } from '../../../common/lists.js';
import { withSafeIds } from '../../../job/identifiers.js';
import { executeAll, statement, type Statement, type Work } from '../../core/statement.js';
import { ARRIVING, IN_QUEUE, RETURNED } from '../../tables/runnable.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { GroupPosition } from './group-row.js';
import { IS_AHEAD_OF_CLOCK } from './turn.js';

// Reads without locks. On SQLite, and in a queue that had no groups before, jobs of groups are runnable.
const arrivals = (runnable: number, afterGroup: string) => `
  SELECT id, group_key, priority, runnable
  FROM {jobs} {by jobs.queue}
  WHERE queue = :queue AND runnable = ${runnable} AND run_at IS NULL ${afterGroup} AND state = 'waiting'
  ORDER BY group_key, priority, id
  LIMIT :limit`;

const ranges = (afterGroup = '') => ({
  runnable: arrivals(IN_QUEUE, afterGroup),
  returned: arrivals(RETURNED, afterGroup),
  arriving: arrivals(ARRIVING, afterGroup),
});

const FROM_FIRST_GROUP = ranges();
const AFTER_GROUP = ranges('AND group_key > :afterGroup');

const DUE_GROUPS = `
  SELECT group_key, turn
  FROM {groups} {by groups.turn}
  WHERE queue = :queue AND state = 'blocked' AND turn <= :now AND turn >= :turn AND (turn > :turn OR group_key > :group)
  ORDER BY queue, state, turn, group_key
  LIMIT :limit`;

// The clock of the database was set back: no claim sets such a turn.
const AHEAD_OF_CLOCK = `
  SELECT group_key
  FROM {groups} {by groups.turn}
  WHERE queue = :queue AND state IN ('blocked', 'ready') AND ${IS_AHEAD_OF_CLOCK}
  LIMIT :limit`;

const NEXT_DUE = `
  SELECT MIN(turn) AS turn, :now AS at
  FROM {groups} {by groups.turn}
  WHERE queue = :queue AND state = 'blocked' AND turn > :now`;

const HAS_READY = `
  SELECT 1 AS one
  FROM {groups} {by groups.turn}
  WHERE queue = :queue AND state = 'ready'
  LIMIT 1`;

const PAGE_SIZE = 500;

export type Arrival = Pick<TableRow<'jobs'>, 'id' | 'group_key' | 'priority' | 'runnable'>;

/**
 * The group after which the next read of each range begins, so that the jobs of one group, or jobs that are locked, do not
 * hide others.
 */
export interface RefreshCursors {
  readonly runnable?: string | undefined;
  readonly returned?: string | undefined;
  readonly arriving?: string | undefined;
  readonly due?: GroupPosition | undefined;
}

export const FROM_START: RefreshCursors = {};

export interface GroupChanges {
  /** Jobs that were in their groups before. */
  readonly returned: readonly Arrival[];
  readonly arrived: readonly Arrival[];
  /** Blocked groups whose time has come, and groups with a time from before the clock was set back. */
  readonly due: readonly string[];
  /** Milliseconds until the next blocked group is due; null: none is. */
  readonly nextDueInMs: number | null;
  /** Groups are ready. Other claims may have locked them. */
  readonly hasReady: boolean;
  /** The jobs and groups after these. FROM_START if there are none. */
  readonly next: RefreshCursors;
}

/** Reads jobs that have arrived or returned, and groups that are due. Without locks. */
export function* readGroupChanges(queue: string, cursors: RefreshCursors): Work<GroupChanges> {
  const limit = pageSize(PAGE_SIZE);
  const read = (range: keyof typeof FROM_FIRST_GROUP): Statement => {
    const afterGroup = cursors[range];
    return afterGroup === undefined
      ? statement(FROM_FIRST_GROUP[range], { queue, limit })
      : statement(AFTER_GROUP[range], { queue, limit, afterGroup });
  };
  const answers = yield* executeAll([
    read('runnable'),
    read('returned'),
    read('arriving'),
    statement(DUE_GROUPS, { queue, limit, ...(cursors.due ?? FIRST_TURN) }),
    statement(NEXT_DUE, { queue }),
    statement(HAS_READY, { queue }),
    statement(AHEAD_OF_CLOCK, { queue, limit }),
  ]);
  const [runnable, returned, arriving] = answers.map(({ rows }) => withSafeIds(rows as unknown as Arrival[]));
  const due = answers[3]!.rows as unknown as readonly { group_key: string; turn: number }[];
  const ahead = answers[6]!.rows as unknown as readonly { group_key: string }[];
  const { turn, at } = answers[4]!.rows[0] as unknown as { turn: number | null; at: number };
  const lastDue = due.length < limit ? undefined : due.at(-1)!;
  const next = {
    runnable: nextGroupAfter(runnable!, limit),
    returned: nextGroupAfter(returned!, limit),
    arriving: nextGroupAfter(arriving!, limit),
    due: lastDue && { turn: Number(lastDue.turn), group: lastDue.group_key },
  };
  return {
    returned: returned!,
    arrived: [...runnable!, ...arriving!],
    due: [...due, ...ahead].map(({ group_key }) => group_key),
    nextDueInMs: turn === null ? null : Number(turn) - Number(at),
    hasReady: answers[5]!.rows.length > 0,
    next: Object.values(next).some((cursor) => cursor !== undefined) ? next : FROM_START,
  };
}

const FIRST_TURN: GroupPosition = { turn: 0, group: '' };

/** The next read starts with the last group, which may have more jobs, or after it if the page had no other one. */
function nextGroupAfter(page: readonly Arrival[], limit: number): string | undefined {
  if (page.length < limit) return undefined;
  const last = page.at(-1)!.group_key;
  return [...page].reverse().find(({ group_key }) => group_key !== last)?.group_key ?? last;
}
