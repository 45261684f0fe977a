import type { StoredError } from '../../job/stored-error.js';
import { query, type Work } from '../core/statement.js';
import { CLAIMED_COLUMNS, toIdleJob, type ClaimedRow } from '../rows/claimed-row.js';
import type { Completion } from '../rows/completion.js';
import { jobEventsOf, type EventJob } from '../core/event-outbox.js';
import { IS_STAGED, type StagedRow } from '../tables/runnable.js';
import { endJobs } from './end-jobs.js';

/** The columns of a job that is locked before it is cancelled. */
export const IDLE_COLUMNS = `${CLAIMED_COLUMNS}, queue, ${IS_STAGED}`;

export type IdleRow = ClaimedRow & StagedRow & { readonly queue: string };

type RetentionOf = (queue: string) => number | false;

const LOCK_IDLE = `
  SELECT ${IDLE_COLUMNS}
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id {lock}`;

/** Cancels those of the jobs that no claim has. */
export function* cancelIdleJobs(ids: readonly number[], retentionMs: RetentionOf): Work<readonly EventJob[]> {
  if (ids.length === 0) return [];
  return yield* cancelLocked(yield* query<IdleRow>(LOCK_IDLE, { ids }), retentionMs);
}

/** Cancels jobs that no claim has, and that the transaction has locked. */
export function* cancelLocked<Row extends IdleRow>(
  rows: readonly Row[],
  retentionMs: RetentionOf,
  errorOf: (row: Row) => StoredError | undefined = () => undefined,
): Work<EventJob[]> {
  if (rows.length === 0) return [];
  const ends = rows.map((row): Completion => {
    const error = errorOf(row);
    return {
      ...{ job: toIdleJob(row, row.queue), isStaged: Number(row.is_staged) === 1 },
      ...{ claimId: 0, workerId: null, ranMs: null, retentionMs: retentionMs(row.queue) },
      outcome: { kind: 'cancel', ...(error && { error }) },
    };
  });
  const jobs = ends.map(({ job }) => toEventJob(job));
  yield* endJobs(ends, { events: jobEventsOf('cancelled', jobs) });
  return jobs;
}

export function toEventJob({ id, queue, name, attempt }: Required<EventJob>): Required<EventJob> {
  return { id: Number(id), queue, name, attempt: Number(attempt) };
}
