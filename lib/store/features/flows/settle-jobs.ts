import { PrerequisiteFailedError } from '../../../job/errors.js';
import { jobOverridesOf } from '../../../job/read-columns.js';
import { storedError } from '../../../job/stored-error.js';
import { statement, recordEvents, executeAll, Ids, query, executeInBatches, type Work } from '../../core/statement.js';
import { ascending, idsOf } from '../../../job/identifiers.js';
import { cancelLocked, IDLE_COLUMNS, toEventJob, type IdleRow } from '../../ends/cancel-idle-jobs.js';
import { jobEventsOf } from '../../core/event-outbox.js';
import { BLOCKED, RUNNABLE_WHEN_WAITING, SCHEDULED } from '../../tables/runnable.js';
import type { RetentionOf, SettledJobs, UnblockedJob } from './flow-store.js';

const DEPENDENTS = `
  SELECT job_id AS id, MAX(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS has_failed
  FROM {edges} {by edges.needs}
  WHERE needs IN (:ids) AND job_id > 0
  GROUP BY job_id`;

// Most jobs end in the order of their ids, so an open edge is found soonest from the other end. As a subquery the servers
// would read it from the first one.
const OPEN_EDGE = `
  SELECT needs
  FROM {edges} {by primary}
  WHERE job_id = :id AND state = 'open'
  ORDER BY needs DESC
  LIMIT 1`;

const STANDING = `
         (
           SELECT o.needs
           FROM {edges} o {by primary}
           WHERE o.job_id = j.id AND o.state = 'open'
           LIMIT 1
         ) AS open_edge,
         (
           SELECT f.needs
           FROM {edges} f {by primary}
           WHERE f.job_id = j.id AND f.state = 'failed'
           LIMIT 1
         ) AS failed_edge`;

const READ_STANDINGS = `
  SELECT j.id, ${STANDING}
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids) AND j.state = 'blocked'`;

const READ_PAGE = `
  SELECT j.id, j.group_key, j.priority, ${STANDING}
  FROM {jobs} j {by jobs.queue}
  WHERE j.queue = :queue AND j.runnable = ${BLOCKED} AND j.run_at IS NULL AND j.state = 'blocked'
    AND (j.group_key > :group OR (j.group_key = :group AND j.priority > :priority)
         OR (j.group_key = :group AND j.priority = :priority AND j.id > :id))
  ORDER BY j.group_key, j.priority, j.id
  LIMIT :limit`;

// A job that another transaction has locked delays no other job. The caller returns to it.
const LOCK_BLOCKED = `
  SELECT ${IDLE_COLUMNS}, :now AS at
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND state = 'blocked'
  ORDER BY id {lock free}`;

const UNBLOCK = `
  UPDATE {jobs} {by primary}
  SET state = 'waiting', runnable = ${RUNNABLE_WHEN_WAITING}, due_at = :now
  WHERE :ids AND state = 'blocked'`;

const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET state = 'scheduled', runnable = ${SCHEDULED}, run_at = :now + :delayMs, due_at = NULL
  WHERE id = :id AND state = 'blocked'`;

/** A blocked job, and the edges that decide whether it may run. */
type StandingRow = Readonly<Record<'id', number> & Record<'open_edge' | 'failed_edge', number | null>>;

export type BlockedPosition = Readonly<{ group: string; priority: number; id: number }>;

const BATCH_SIZE = 500;

type LockedRow = IdleRow & { readonly at: number };

/** The jobs that need not wait any longer for these jobs, which have ended. Without locks. */
export function* findSettled(endedIds: readonly number[]): Work<number[]> {
  const dependents = yield* query<{ id: number; has_failed: number }>(DEPENDENTS, { ids: endedIds });
  const failed = idsOf(dependents.filter(({ has_failed }) => Number(has_failed) > 0));
  const others = idsOf(dependents.filter(({ has_failed }) => Number(has_failed) === 0));
  const reads = others.map((id) => statement(OPEN_EDGE, { id }));
  const open = yield* executeInBatches(reads, BATCH_SIZE);
  const free = others.filter((_, index) => open[index]!.rows.length === 0);
  return ascending([...failed, ...free]);
}

/** Reads a page of the blocked jobs of a queue. */
export function* readBlocked(queue: string, { group, priority, id }: BlockedPosition, limit: number) {
  const values = { queue, group, priority, id, limit };
  const rows = yield* query<StandingRow & { group_key: string; priority: number }>(READ_PAGE, values);
  const last = rows.length < limit ? undefined : rows.at(-1)!;
  const next: BlockedPosition | undefined = last && {
    ...{ group: last.group_key, priority: Number(last.priority), id: Number(last.id) },
  };
  return { settled: idsOf(rows.filter(isSettled)), next };
}

/** Locks the jobs, and unblocks or cancels those that need not be blocked any longer. Skips those that it cannot lock. */
export function* settleJobs(ids: readonly number[], retentionMs: RetentionOf): Work<SettledJobs> {
  const [locked, standings] = yield* executeAll([statement(LOCK_BLOCKED, { ids }), statement(READ_STANDINGS, { ids })]);
  const standingOf = new Map(
    (standings!.rows as unknown as readonly StandingRow[]).map((row) => [Number(row.id), row]),
  );
  const rows = (locked!.rows as unknown as readonly LockedRow[]).filter(({ id }) => {
    const standing = standingOf.get(Number(id));
    return standing !== undefined && isSettled(standing);
  });
  const lockedHere = new Set(idsOf(locked!.rows as unknown as readonly LockedRow[]));
  const skipped = [...standingOf].filter(([id, standing]) => !lockedHere.has(id) && isSettled(standing));
  const failedEdgeOf = ({ id }: LockedRow) => standingOf.get(Number(id))!.failed_edge;
  const failed = rows.filter((row) => failedEdgeOf(row) !== null);
  const cancelled = yield* cancelLocked(failed, retentionMs, (row) =>
    storedError(new PrerequisiteFailedError(Number(row.id), row.queue, Number(failedEdgeOf(row)))),
  );
  const unblocked = yield* unblock(rows.filter((row) => failedEdgeOf(row) === null));
  return { unblocked, cancelled, ...(skipped.length > 0 && { locked: skipped.map(([id]) => id) }) };
}

function isSettled({ open_edge, failed_edge }: StandingRow): boolean {
  return open_edge === null || failed_edge !== null;
}

function* unblock(rows: readonly LockedRow[]): Work<UnblockedJob[]> {
  if (rows.length === 0) return [];
  const jobs = rows.map((row) => ({ ...toEventJob(row), priority: row.priority, delayMs: delayOf(row) }));
  const free = jobs.filter(({ delayMs }) => delayMs <= 0);
  yield* recordEvents(jobEventsOf('promoted', free));
  const waiting = idsOf(free);
  const scheduled = jobs.filter(({ delayMs }) => delayMs > 0);
  yield* executeAll([
    ...(waiting.length > 0 ? [statement(UNBLOCK, { ids: new Ids(waiting) })] : []),
    ...scheduled.map(({ id, delayMs }) => statement(SCHEDULE, { id, delayMs })),
  ]);
  return jobs;
}

/** The delay of the options counts from now on. A job that its own children have blocked has had it, and was due since. */
function delayOf({ options, due_at, at }: LockedRow): number {
  const { delayMs, runAtMs } = jobOverridesOf(options);
  if (due_at !== null) return 0;
  return runAtMs === undefined ? (delayMs ?? 0) : runAtMs - Number(at);
}
