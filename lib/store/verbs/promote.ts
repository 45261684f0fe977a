import { pageSize } from '../../common/lists.js';
import type { PromotedJob } from './job-store.js';
import { jobEventsOf } from '../core/event-outbox.js';
import type { ReturnedJob } from '../rows/claim.js';
import type { Dialect } from '../core/sql-database.js';
import { idsOf } from '../../job/identifiers.js';
import { execute, Ids, recordEvents, query, type Work } from '../core/statement.js';
import { IN_QUEUE, RUNNABLE_WHEN_WAITING, SCHEDULED } from '../tables/runnable.js';
import type { TableRow } from '../tables/table-schemas.js';

// Reads each queue by index queue, because an index on run_at would cost every enqueue. A plain INSERT of another
// program may leave a delayed job runnable, hence both values. Reads the state because MySQL may read a whole index that
// contains all columns of a query: for example if it counted the rows while most of them were deleted, and not purged.
const dueOf = (queue: number, runnable: number, afterCursor: string) => `
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM {jobs} {by jobs.queue}
      WHERE queue = :queue${queue} AND runnable = ${runnable} AND run_at <= :now ${afterCursor}
      ORDER BY run_at, group_key, priority, id
      LIMIT :limit
    ) AS due_${queue}_${runnable}`;

const dueOfAll = (queues: number, afterCursor: string) => `
  SELECT id, run_at, group_key, priority
  FROM (${Array.from({ length: queues }, (_, queue) => `${dueOf(queue, SCHEDULED, afterCursor)} UNION ALL ${dueOf(queue, IN_QUEUE, afterCursor)}`).join(' UNION ALL ')}
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT :limit`;

// Written as ranges, because a row constructor would not narrow the scan.
const AFTER_CURSOR = `
        AND (run_at > :runAt OR (run_at = :runAt AND group_key > :group)
             OR (run_at = :runAt AND group_key = :group AND priority > :priority)
             OR (run_at = :runAt AND group_key = :group AND priority = :priority AND id > :id))`;

const QUEUE_BATCH_SIZE = 50;

// The order names all columns up to run_at, because the queue is that of another row. For the same reason MySQL and MariaDB
// would read all waiting jobs to find a delayed one among them, which only SQLite leaves there.
const isDue = (range: string) => `
    (
      SELECT j.run_at
      FROM {jobs} j {by jobs.queue}
      WHERE j.queue = names.queue AND ${range}
      ORDER BY j.queue, j.runnable, j.run_at
      LIMIT 1
    ) <= :now`;

const DUE_QUEUES = `
  SELECT queue
  FROM (SELECT DISTINCT queue FROM {jobs} {by jobs.queue}) AS names
  WHERE ${isDue(`j.runnable = ${SCHEDULED} AND j.run_at IS NOT NULL`)}
     OR ${isDue(`j.runnable = ${IN_QUEUE} AND j.run_at IS NOT NULL {only sqlite}`)}`;

// Checks run_at again, because another promoter may have been faster, or the job may be scheduled anew. A job that
// another transaction has locked stays for the next promotion, so that it delays no other job.
const LOCK_DUE = `
  SELECT id, queue, name, attempt, priority
  FROM {jobs} {by primary}
  WHERE :ids AND run_at <= :now AND claim_id = 0
  ORDER BY id {lock free}`;

// due_at comes first, because MySQL assigns from left to right and would read the new run_at. The row keeps its length.
const PROMOTE = `
  UPDATE {jobs} {by primary}
  SET due_at = run_at, state = 'waiting', runnable = ${RUNNABLE_WHEN_WAITING}, run_at = NULL
  WHERE :ids AND run_at <= :now AND claim_id = 0`;

type LockedJob = PromotedJob & ReturnedJob;
type DueRow = Pick<TableRow<'jobs'>, 'id' | 'run_at' | 'group_key' | 'priority'>;

/** Reads due jobs without locks, and then locks them in id order, in which every transaction locks jobs. */
export function* promote(limit: number, dialect: Pick<Dialect, 'queueNames'>): Work<LockedJob[]> {
  const size = pageSize(QUEUE_BATCH_SIZE);
  const all = yield* dialect.queueNames('jobs');
  // A server parses one correlated subquery for all queues in a fraction of the time of one for each.
  const names = all.length <= size ? all : (yield* query<{ queue: string }>(DUE_QUEUES)).map(({ queue }) => queue);
  const locked: LockedJob[] = [];
  for (let from = 0; from < names.length && locked.length < limit; from += size) {
    locked.push(...(yield* lockDue(names.slice(from, from + size), limit)));
  }
  if (locked.length === 0) return [];
  const jobs = locked.slice(0, limit).map((job) => ({ ...job, id: Number(job.id) }));
  yield* recordEvents(jobEventsOf('promoted', jobs));
  yield* execute(PROMOTE, { ids: new Ids(idsOf(jobs)) });
  return jobs;
}

/** Locks `limit` or more due jobs, if there are that many. Pages past due jobs that other transactions have locked. */
function* lockDue(names: readonly string[], limit: number): Work<LockedJob[]> {
  const queues = Object.fromEntries(names.map((queue, index) => [`queue${index}`, queue]));
  const locked: LockedJob[] = [];
  let cursor: Record<string, number | string> | undefined;
  do {
    const sql = dueOfAll(names.length, cursor ? AFTER_CURSOR : '');
    const due = yield* query<DueRow>(sql, { ...queues, ...cursor, limit });
    if (due.length > 0) locked.push(...(yield* query<LockedJob>(LOCK_DUE, { ids: new Ids(idsOf(due)) })));
    const last = due.length < limit ? undefined : due.at(-1)!;
    cursor = last && {
      ...{ id: Number(last.id), runAt: Number(last.run_at), priority: Number(last.priority) },
      group: last.group_key,
    };
  } while (cursor && locked.length < limit);
  return locked;
}
