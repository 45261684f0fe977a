import { groupBy } from '../../../common/lists.js';
import type { Dialect } from '../../core/sql-database.js';
import { idsOf } from '../../../job/identifiers.js';
import { recordEvents, execute, executeAll, Ids, query, type Work } from '../../core/statement.js';
import { jobEventsOf, type EventJob } from '../../core/event-outbox.js';
import { RUNNABLE_WHEN_WAITING } from '../../tables/runnable.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { Signal, WokenJob } from './step-store.js';

const ADD_SIGNAL = (lockDuplicate: string) => `
  INSERT INTO {signals} (hash, name, signal_key, data, sent_at)
  VALUES (:hash, :name, :key, :data, :now)
  ${lockDuplicate}`;

const SET_SIGNAL = `
  UPDATE {signals} {by primary}
  SET data = :data, sent_at = :now, awaited = 0
  WHERE hash = :hash`;

// These statements read waits without locks. LOCK_SCHEDULED locks the jobs and names the wait that ends.
const WAITS_FOR = `
  SELECT s.signal_hash, s.job_id, s.name, s.until_at
  FROM {steps} s {by steps.signal}
  WHERE s.signal_hash = :hash AND (s.job_id > :jobId OR (s.job_id = :jobId AND s.name > :name))
    AND EXISTS (SELECT 1 FROM {signals} g WHERE g.hash = s.signal_hash)
  ORDER BY s.job_id, s.name
  LIMIT :limit`;

const WAITS_OF_JOB = `
  SELECT s.signal_hash, s.job_id, s.name, s.until_at
  FROM {steps} s {by primary}
  WHERE s.job_id = :jobId AND s.signal_hash = :hash
    AND EXISTS (SELECT 1 FROM {signals} g WHERE g.hash = s.signal_hash)`;

// Any number of jobs may wait for a signal.
const QUEUES_OF_WAITS = `
  SELECT MIN(queue) AS first_queue, MAX(queue) AS last_queue
  FROM (
    SELECT j.queue
    FROM {steps} s {by steps.signal} JOIN {jobs} j {by primary} ON j.id = s.job_id
    WHERE s.signal_hash = :hash
    LIMIT 1000
  ) waiting`;

const ALL_WAITS = `
  SELECT s.signal_hash, s.job_id, s.name, s.until_at,
         CASE WHEN EXISTS (SELECT 1 FROM {signals} g WHERE g.hash = s.signal_hash)
               AND EXISTS (
                 SELECT 1
                 FROM {jobs} j {by primary}
                 WHERE j.id = s.job_id AND j.state = 'scheduled' AND j.run_at = s.until_at
               )
              THEN 1 ELSE 0 END AS is_missed
  FROM {steps} s {by steps.signal}
  WHERE s.signal_hash >= :hash
    AND (s.signal_hash > :hash OR s.job_id > :jobId OR (s.job_id = :jobId AND s.name > :name))
  ORDER BY s.signal_hash, s.job_id, s.name
  LIMIT :limit`;

// A job that has not returned to its queue yet looks for the signal itself, after its return has committed. A job that
// another transaction has locked stays for the search for missed signals, so that it delays no other job.
const LOCK_SCHEDULED = `
  SELECT id, queue, name, priority, attempt, run_at
  FROM {jobs} {by primary}
  WHERE :ids AND state = 'scheduled' AND claim_id = 0
  ORDER BY id {lock free}`;

const MAKE_DUE = `
  UPDATE {jobs} {by primary}
  SET due_at = :now, state = 'waiting', runnable = ${RUNNABLE_WHEN_WAITING}, run_at = NULL
  WHERE :ids AND state = 'scheduled' AND claim_id = 0`;

/** A wait for a signal: the position in the index of signals, and the time at which the wait ends without one. */
export interface Wait {
  readonly hash: string;
  readonly jobId: number;
  readonly name: string;
  readonly untilMs: number;
}

export type WaitPosition = Pick<Wait, 'hash' | 'jobId' | 'name'>;

export const BEFORE_ALL_WAITS: WaitPosition = { hash: '', jobId: 0, name: '' };

type WaitRow = Pick<TableRow<'steps'>, 'signal_hash' | 'job_id' | 'name' | 'until_at'>;

export function* storeSignal(dialect: Dialect, { hash, name, key, data }: Signal): Work<void> {
  yield* executeAll([
    { sql: ADD_SIGNAL(dialect.lockDuplicate('hash')), values: { hash, name, key, data } },
    { sql: SET_SIGNAL, values: { hash, data } },
  ]);
}

/** The queue of the jobs that wait for the signal; undefined: none, or several. */
export function* queueOfWaits(hash: string): Work<string | undefined> {
  const [row] = yield* query<Record<'first_queue' | 'last_queue', string | null>>(QUEUES_OF_WAITS, { hash });
  const { first_queue: first = null, last_queue: last = null } = row ?? {};
  return first !== null && first === last ? first : undefined;
}

/** The waits for a signal, after the given one; none if it has not been sent. */
export function* readWaitsFor(hash: string, { jobId, name }: WaitPosition, limit: number): Work<Wait[]> {
  return (yield* query<WaitRow>(WAITS_FOR, { hash, jobId, name, limit })).map(toWait);
}

export function* readWaitsOfJob(hash: string, jobId: number): Work<Wait[]> {
  return (yield* query<WaitRow>(WAITS_OF_JOB, { hash, jobId })).map(toWait);
}

/** Reads a page of the waits for any signal, after the given one. Returns those whose signal has been sent, and the last one. */
export function* readMissedWaits({ hash, jobId, name }: WaitPosition, limit: number) {
  const rows = yield* query<WaitRow & { is_missed: number }>(ALL_WAITS, { hash, jobId, name, limit });
  const missed = rows.filter(({ is_missed }) => Number(is_missed) === 1).map(toWait);
  return { missed, last: rows.length < limit ? undefined : toWait(rows.at(-1)!) };
}

/**
 * Makes the jobs due that still are in one of these waits. While a job is in a wait, its time is the end of that wait: a
 * backoff, or a later wait, has another one.
 */
export function* endWaits(waits: readonly Wait[]): Work<WokenJob[]> {
  const waitsOf = groupBy(waits, ({ jobId }) => jobId);
  const locked = yield* query<EventJob & Pick<TableRow<'jobs'>, 'priority' | 'run_at'>>(LOCK_SCHEDULED, {
    ids: new Ids([...waitsOf.keys()]),
  });
  const jobs = locked.filter(({ id, run_at }) =>
    waitsOf.get(Number(id))!.some(({ untilMs }) => untilMs === Number(run_at)),
  );
  if (jobs.length === 0) return [];
  yield* recordEvents(jobEventsOf('promoted', jobs));
  yield* execute(MAKE_DUE, { ids: new Ids(idsOf(jobs)) });
  return jobs.map(({ id, queue, priority }) => ({ id: Number(id), queue, priority }));
}

function toWait({ signal_hash, job_id, name, until_at }: WaitRow): Wait {
  return { hash: signal_hash!, jobId: Number(job_id), name, untilMs: Number(until_at) };
}
