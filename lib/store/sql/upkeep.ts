import type { PromotedJob } from '../job-store.js';
import { nameable, safeId } from './claimed-row.js';
import { changesOf } from './changes.js';
import type { Dialect } from './dialect.js';
import { RUNNABLE_AGAIN } from './stages.js';
import { change, Ids, note, query, type Work } from './statement.js';

// Jobs that run at once pay for no index of times: so each queue is asked for its own, by the order of index claim. A plain
// INSERT may have left a delayed job runnable.
const dueOf = (queue: number, runnable: number, behind: string) => `
    SELECT id, run_at, priority
    FROM (
      SELECT id, run_at, priority
      FROM {jobs} /*! FORCE INDEX ({jobs}_claim) */
      WHERE queue = :queue${queue} AND runnable = ${runnable} AND run_at <= :now ${behind}
      ORDER BY run_at, priority, id
      LIMIT :limit
    ) AS due_${queue}_${runnable}`;

const dueOfAll = (queues: number, behind: string) => `
  SELECT id, run_at, priority
  FROM (${Array.from({ length: queues }, (_, queue) => `${dueOf(queue, 0, behind)} UNION ALL ${dueOf(queue, 1, behind)}`).join(' UNION ALL ')}
  ) AS due
  ORDER BY run_at, priority, id
  LIMIT :limit`;

// Written out as ranges: a row constructor would not narrow the scan.
const BEHIND_CURSOR = `
        AND (run_at > :runAt OR (run_at = :runAt AND priority > :priority)
             OR (run_at = :runAt AND priority = :priority AND id > :id))`;

// So many queues are asked at a time.
const QUEUES_AT_A_TIME = 50;

// run_at is asked again: another promoter may have been faster, and the job may be scheduled anew by now. A job that another
// transaction has locked is left for the next time, so that it does not keep all others waiting.
const LOCK_DUE = `
  SELECT id, queue, name, attempt
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND run_at <= :now AND claim_id = 0
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

// due_at first: MySQL assigns from left to right, and would see run_at as it is set here. The row keeps its length.
const PROMOTE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET due_at = run_at, state = 'waiting', runnable = ${RUNNABLE_AGAIN}, run_at = NULL
  WHERE :ids AND run_at <= :now AND claim_id = 0`;

// Passes over rows that another transaction has locked, however many, so that they keep no others. The locks end with the
// statement.
const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

interface DueJob {
  readonly id: number;
  readonly run_at: number;
  readonly priority: number;
}

/**
 * Makes due jobs waiting, at most `limit`. They are read without locks, then locked in the order of ids, in which every
 * transaction locks jobs.
 */
export function* promote(limit: number, dialect: Pick<Dialect, 'queueNames'>): Work<PromotedJob[]> {
  const names = yield* dialect.queueNames('jobs');
  const locked: PromotedJob[] = [];
  for (let from = 0; from < names.length && locked.length < limit; from += QUEUES_AT_A_TIME) {
    locked.push(...(yield* lockDue(names.slice(from, from + QUEUES_AT_A_TIME), limit)));
  }
  if (locked.length === 0) return [];
  const jobs = locked.slice(0, limit).map((job) => ({ ...job, id: Number(job.id) }));
  yield* note(changesOf('promoted', jobs));
  yield* change(PROMOTE, { ids: idsOf(jobs) });
  return jobs;
}

/** Locks `limit` due jobs or more, if there are as many. Pages on behind due jobs that other transactions have locked. */
function* lockDue(names: readonly string[], limit: number): Work<PromotedJob[]> {
  const queues = Object.fromEntries(names.map((queue, index) => [`queue${index}`, queue]));
  const locked: PromotedJob[] = [];
  let cursor: Record<string, number> | undefined;
  do {
    const sql = dueOfAll(names.length, cursor ? BEHIND_CURSOR : '');
    const due = yield* query<DueJob>(sql, { ...queues, ...cursor, limit });
    if (due.length > 0) locked.push(...(yield* query<PromotedJob>(LOCK_DUE, { ids: idsOf(due) })));
    cursor = due.length < limit ? undefined : cursorOf(due.at(-1)!);
  } while (cursor && locked.length < limit);
  return locked;
}

function cursorOf({ id, run_at, priority }: DueJob): Record<string, number> {
  return { id: Number(id), runAt: Number(run_at), priority: Number(priority) };
}

export function* prune(limit: number): Work<number> {
  const expired = nameable(yield* query<{ id: number }>(EXPIRED, { limit }));
  if (expired.length === 0) return 0;
  return yield* change(FORGET, { ids: idsOf(expired) });
}

function idsOf(rows: readonly { id: number }[]): Ids {
  return new Ids(rows.map(({ id }) => safeId(id)));
}
