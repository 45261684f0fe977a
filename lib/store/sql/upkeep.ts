import type { PromotedJob } from '../job-store.js';
import { changesOf } from './changes.js';
import type { Dialect } from './dialect.js';
import { RUNNABLE_AGAIN } from './stages.js';
import { change, Ids, note, query, type Work } from './statement.js';

// Jobs that run at once pay for no index of times: so each queue is asked for its own, by the order of index claim. A plain
// INSERT may have left a delayed job runnable.
const dueOf = (queue: number, runnable: number) => `
    SELECT id, run_at
    FROM (
      SELECT id, run_at
      FROM {jobs} /*! FORCE INDEX ({jobs}_claim) */
      WHERE queue = :queue${queue} AND runnable = ${runnable} AND run_at <= :now
      ORDER BY run_at
      LIMIT :limit
    ) AS due_${queue}_${runnable}`;

const dueOfAll = (queues: number) => `
  SELECT id
  FROM (${Array.from({ length: queues }, (_, queue) => `${dueOf(queue, 0)} UNION ALL ${dueOf(queue, 1)}`).join(' UNION ALL ')}
  ) AS due
  ORDER BY run_at
  LIMIT :limit`;

// So many queues are asked at a time.
const QUEUES_AT_A_TIME = 50;

// run_at is asked again: another promoter may have been faster, and the job may be scheduled anew by now. What somebody has
// locked is left for the next time, so that it does not keep all others waiting.
const LOCK_DUE = `
  SELECT id, queue, name, attempt
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND run_at <= :now AND claim_id = 0
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const PROMOTE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', runnable = ${RUNNABLE_AGAIN}, run_at = NULL
  WHERE :ids AND run_at <= :now AND claim_id = 0`;

const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

const FORGET = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

/** Read without locks, then locked in the order of ids, in which everyone locks jobs. */
export function* promote(limit: number, dialect: Pick<Dialect, 'queueNames'>): Work<PromotedJob[]> {
  const names = yield* dialect.queueNames('jobs');
  const due: { id: number }[] = [];
  for (let from = 0; from < names.length && due.length < limit; from += QUEUES_AT_A_TIME) {
    const some = names.slice(from, from + QUEUES_AT_A_TIME);
    const queues = Object.fromEntries(some.map((queue, index) => [`queue${index}`, queue]));
    due.push(...(yield* query<{ id: number }>(dueOfAll(some.length), { ...queues, limit: limit - due.length })));
  }
  if (due.length === 0) return [];
  const locked = yield* query<PromotedJob>(LOCK_DUE, { ids: idsOf(due) });
  if (locked.length === 0) return [];
  const jobs = locked.map((job) => ({ ...job, id: Number(job.id) }));
  yield* note(changesOf('promoted', jobs));
  yield* change(PROMOTE, { ids: idsOf(jobs) });
  return jobs;
}

export function* prune(limit: number): Work<number> {
  const expired = yield* query<{ id: number }>(EXPIRED, { limit });
  if (expired.length === 0) return 0;
  return yield* change(FORGET, { ids: idsOf(expired) });
}

function idsOf(rows: readonly { id: number }[]): Ids {
  return new Ids(rows.map(({ id }) => Number(id)));
}
