import { isEnabledAt } from '../../job/settings/enabled.js';
import type { ScanCursors } from './scan-cursors.js';
import type { QueueState, WorkSummary, UpcomingTimes } from './job-store.js';
import { ARRIVING, IN_GROUP, IN_QUEUE, RETURNED, SCHEDULED } from '../tables/runnable.js';
import { IS_AHEAD_OF_CLOCK as IS_TURN_AHEAD_OF_CLOCK } from '../features/groups/turn.js';
import { IS_AHEAD_OF_CLOCK } from '../rows/lease.js';
import { restUntil } from '../features/limits/rest.js';
import { settingsOf } from '../features/queues/settings-row.js';
import { query, type Work } from '../core/statement.js';

// The next due time of all registered queues. Each is read from the start of a range of index queue. The order names all
// columns up to run_at: because the queue is that of another row, MySQL would else sort all scheduled jobs of each queue.
const earliestDue = (ofQueue: string, behind = 'IS NOT NULL') => `
  (
    SELECT MIN(due)
    FROM (
      SELECT (
        SELECT s.run_at
        FROM {jobs} s {by jobs.queue}
        WHERE s.queue = k.queue AND ${ofQueue} AND s.run_at ${behind}
        ORDER BY s.queue, s.runnable, s.run_at
        LIMIT 1
      ) AS due
      FROM {queues} k
    ) AS times
  )`;

// The tick of the first schedule that this process runs, in the order of the index.
const nextTick = (after = '') => `
  (
    SELECT next_at
    FROM {schedules} {by schedules.next}
    WHERE next_at IS NOT NULL ${after} AND (source = 'api' OR name IN (:schedules))
    ORDER BY next_at
    LIMIT 1
  )`;

// A subquery reads a range of index queue only if it compares all columns before by equality, because its queue is that of
// the outer row. On SQLite a plain INSERT leaves a job of a group runnable.
const hasJobs = (jobs: string, condition: string) => `
         EXISTS (
           SELECT 1
           FROM {jobs} ${jobs} {by jobs.queue}
           WHERE ${jobs}.queue = q.queue AND ${jobs}.run_at IS NULL AND ${jobs}.state = 'waiting' AND ${condition}
         )`;

// Reads from the end of the queue: active jobs, and the deleted entries of finished ones, stand at its head. Without the queue
// in the order, MySQL would sort all jobs; with run_at, MariaDB would.
const HAS_WAITING_JOB = `
         (
           SELECT 1
           FROM {jobs} j {by jobs.queue}
           WHERE j.queue = q.queue AND j.runnable = ${IN_QUEUE} AND j.run_at IS NULL AND j.group_key = '' AND j.state = 'waiting'
           ORDER BY j.queue DESC, j.priority DESC, j.id DESC
           LIMIT 1
         ) IS NOT NULL`;

// One statement for all queues of a process. It reads one waiting job of each queue, and all claims, which are
// few. A claim from before the server clock was set back counts as expired, so that a worker checks it. Only on SQLite
// can a plain INSERT leave a delayed job runnable, so the servers skip that part.
const WORK_SUMMARY = `
  SELECT q.queue, q.paused, q.settings,
         q.queue IN (:unread) OR ${HAS_WAITING_JOB} AS waiting,
         ${hasJobs('a', `a.runnable = ${ARRIVING}`)} OR ${hasJobs('b', `b.runnable = ${RETURNED}`)}
           OR ${hasJobs('c', `c.runnable = ${IN_QUEUE} AND c.group_key > '' {only sqlite}`)} AS arriving,
         EXISTS (SELECT 1 FROM {groups} g WHERE g.queue = q.queue) AS has_groups,
         EXISTS (
           SELECT 1
           FROM {groups} r {by groups.turn}
           WHERE r.queue = q.queue AND r.state = 'ready'
         ) AS has_ready_groups,
         (
           SELECT CASE WHEN d.${IS_TURN_AHEAD_OF_CLOCK} THEN 0 ELSE d.turn END
           FROM {groups} d {by groups.turn}
           WHERE d.queue = q.queue AND d.state = 'blocked'
           ORDER BY d.queue, d.state, d.turn
           LIMIT 1
         ) AS next_due_group,
         (
           SELECT ${restUntil('l.')}
           FROM {limits} l {by primary}
           WHERE l.queue = q.queue AND (l.declared IS NOT NULL OR l.overrides IS NOT NULL OR ${restUntil('l.')} > :now)
         ) AS rest_until,
         ${earliestDue(`s.runnable = ${SCHEDULED}`)} AS due_at,
         ${earliestDue(`s.runnable = ${IN_QUEUE} {only sqlite}`)} AS plain_due_at,
         (SELECT MIN(CASE WHEN ${IS_AHEAD_OF_CLOCK} THEN 0 ELSE lease_until END) FROM {claims}) AS lapse_at,
         ${nextTick()} AS tick_at, :now AS at,
         (SELECT MAX(expires_at) FROM {waits}) AS awaited
  FROM {queues} q
  WHERE q.queue IN (:queues)`;

const UPCOMING = `
  SELECT ${earliestDue(`s.runnable = ${SCHEDULED}`, '> :now')} AS due_at,
         ${earliestDue(`s.runnable = ${IN_QUEUE} {only sqlite}`, '> :now')} AS plain_due_at,
         (SELECT MIN(lease_until) FROM {claims} WHERE lease_until > :now) AS lapse_at,
         ${nextTick('AND next_at > :now')} AS tick_at, :now AS at`;

// Without an order, MySQL fills a buffer with ids before it reads the first row (multi-range read).
const COUNT_WAITING = `
  SELECT COUNT(*) AS jobs
  FROM (
    SELECT 1
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND runnable IN (${IN_QUEUE}, ${IN_GROUP}, ${ARRIVING}, ${RETURNED}) AND state = 'waiting' AND run_at IS NULL
    ORDER BY runnable, run_at, group_key, priority, id
    LIMIT :most
  ) AS some`;

type TimeColumn = 'due_at' | 'plain_due_at' | 'lapse_at' | 'tick_at';

/** Times by the clock of the database, and its present time `at`. */
type NextTimes = Record<TimeColumn, number | null> & { readonly at: number };

/** `rest_until` is null if the queue has no limits. */
type WorkSummaryRow = NextTimes &
  Record<'paused' | 'waiting' | 'arriving' | 'has_groups' | 'has_ready_groups', number> &
  Record<'rest_until' | 'next_due_group' | 'awaited', number | null> & {
    readonly queue: string;
    readonly settings: string | null;
  };

// No schedule and no queue has this name: a list must not be empty.
const NO_NAME = '';

export function* summarizeWork(
  scanCursors: Pick<ScanCursors, 'slowQueues' | 'findWork'>,
  queues: readonly string[],
  schedules: readonly string[] = [],
  assumedWaiting: readonly string[] = [],
): Work<WorkSummary> {
  if (queues.length === 0)
    return { queues: new Map(), dueInMs: null, leaseExpiryInMs: null, tickInMs: null, awaited: null, atMs: null };
  const assumed = new Set(assumedWaiting);
  const slowQueues = scanCursors.slowQueues(queues.filter((queue) => !assumed.has(queue)));
  const unread = [NO_NAME, ...assumedWaiting, ...slowQueues];
  const rows = yield* query<WorkSummaryRow>(WORK_SUMMARY, { queues, schedules: [NO_NAME, ...schedules], unread });
  for (const row of rows)
    if (slowQueues.includes(row.queue)) row.waiting = Number(yield* scanCursors.findWork(row.queue));
  const awaited = rows[0]?.awaited ?? null;
  return {
    queues: new Map(rows.map((row) => [row.queue, toQueueState(row)])),
    ...toUpcomingTimes(rows[0]),
    awaited: awaited === null ? null : Number(awaited),
    atMs: rows[0] ? Number(rows[0].at) : null,
  };
}

function toQueueState(row: WorkSummaryRow): QueueState {
  const { waiting, paused, rest_until, arriving, has_groups, has_ready_groups, next_due_group, at } = row;
  const settings = settingsOf(row);
  const isGroupDue = next_due_group !== null && Number(next_due_group) <= Number(at);
  return {
    waiting: waiting > 0 || arriving > 0 || has_ready_groups > 0 || isGroupDue,
    hasGroups: arriving > 0 || has_groups > 0,
    paused: paused > 0,
    isLimited: rest_until !== null,
    isResting: rest_until !== null && Number(rest_until) > Number(at),
    concurrency: settings.concurrency ?? null,
    isEnabled: isEnabledAt(settings.enabled, Number(at)),
  };
}

export function* readUpcomingTimes(schedules: readonly string[] = []): Work<UpcomingTimes> {
  return toUpcomingTimes((yield* query<NextTimes>(UPCOMING, { schedules: [NO_NAME, ...schedules] }))[0]);
}

export function* countWaiting(queue: string, limit: number): Work<number> {
  const [row] = yield* query<{ jobs: number | string }>(COUNT_WAITING, { queue, most: limit });
  return Number(row!.jobs);
}

function toUpcomingTimes(row: NextTimes | undefined): UpcomingTimes {
  return {
    dueInMs: untilFirst(row, 'due_at', 'plain_due_at'),
    leaseExpiryInMs: untilFirst(row, 'lapse_at'),
    tickInMs: untilFirst(row, 'tick_at'),
  };
}

// Not in SQL, where the difference could overflow.
function untilFirst(row: NextTimes | undefined, ...columns: TimeColumn[]): number | null {
  const times = columns.flatMap((column) => row?.[column] ?? []).map(Number);
  return times.length === 0 ? null : Math.max(0, Math.min(...times) - Number(row!.at));
}
