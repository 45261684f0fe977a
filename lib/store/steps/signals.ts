import type { Dialect } from '../core/sql-database.js';
import { ascending, idsOf } from '../core/safe-id.js';
import { recordEvents, execute, executeAll, Ids, query, type Work } from '../core/statement.js';
import { jobEventsOf, type EventJob } from '../jobs/job-events.js';
import { RUNNABLE_WHEN_WAITING } from '../people/stages.js';
import type { Signal, WokenJob } from './step-store.js';

const ADD_SIGNAL = (lockDuplicate: string) => `
  INSERT INTO {signals} (hash, name, signal_key, data, sent_at)
  VALUES (:hash, :name, :key, :data, :now)
  ${lockDuplicate}`;

const SET_SIGNAL = `
  UPDATE {signals} /*! FORCE INDEX (PRIMARY) */
  SET data = :data, sent_at = :now
  WHERE hash = :hash`;

// Reads without locks. The next statement locks the jobs and checks them again.
const WAITING_JOBS = `
  SELECT s.job_id AS id
  FROM {steps} s /*! FORCE INDEX ({steps}_signal) */
  WHERE s.signal_hash = :hash AND EXISTS (SELECT 1 FROM {signals} g WHERE g.hash = s.signal_hash)
  ORDER BY s.job_id
  LIMIT 1000`;

// A job that has not returned to its queue yet looks for the signal itself, after its return has committed.
const LOCK_SCHEDULED = `
  SELECT id, queue, name, attempt
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND state = 'scheduled' AND claim_id = 0
  ORDER BY id /*! FOR UPDATE */`;

const MAKE_DUE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET due_at = :now, state = 'waiting', runnable = ${RUNNABLE_WHEN_WAITING}, run_at = NULL
  WHERE :ids AND state = 'scheduled' AND claim_id = 0`;

const MISSED = `
  SELECT DISTINCT g.hash
  FROM {signals} g /*! FORCE INDEX ({signals}_sent) */
  WHERE g.sent_at > :now - 3600000
    AND EXISTS (
      SELECT 1
      FROM {steps} s /*! FORCE INDEX ({steps}_signal) */
      JOIN {jobs} j /*! FORCE INDEX (PRIMARY) */ ON j.id = s.job_id
      WHERE s.signal_hash = g.hash AND j.state = 'scheduled'
    )
  LIMIT 100`;

export function* storeSignal(dialect: Dialect, { hash, name, key, data }: Signal): Work<void> {
  yield* executeAll([
    { sql: ADD_SIGNAL(dialect.lockDuplicate('hash')), values: { hash, name, key, data } },
    { sql: SET_SIGNAL, values: { hash, data } },
  ]);
}

export function* wakeWaiting(hash: string): Work<WokenJob[]> {
  const waiting = yield* query<{ id: number }>(WAITING_JOBS, { hash });
  if (waiting.length === 0) return [];
  const ids = new Ids(ascending(idsOf(waiting)));
  const jobs = yield* query<EventJob>(LOCK_SCHEDULED, { ids });
  if (jobs.length === 0) return [];
  yield* recordEvents(jobEventsOf('promoted', jobs));
  yield* execute(MAKE_DUE, { ids: new Ids(idsOf(jobs)) });
  return jobs.map(({ id, queue }) => ({ id: Number(id), queue }));
}

export function* findMissedSignals(): Work<string[]> {
  return (yield* query<{ hash: string }>(MISSED)).map(({ hash }) => hash);
}
