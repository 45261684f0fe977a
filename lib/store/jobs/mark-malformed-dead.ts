import { MalformedJobError } from '../../job/errors.js';
import { storedError } from '../../job/stored-error.js';
import type { Completion } from './completion.js';
import { completionEvents } from './job-events.js';
import { toIdleJob, type ClaimedRow } from './claimed-row.js';
import { writeHistory } from './history.js';
import { emit, type Work } from '../core/statement.js';

// Overrides the retention of the queue, so that there is time to examine the job.
const MALFORMED_RETENTION_MS = 30 * 86_400_000;

/** A locked job that is about to be deleted, and its malformed column. */
export interface MalformedRow {
  readonly row: ClaimedRow & { readonly queue: string };
  readonly column: string;
  /** `expected …, got …`. */
  readonly problem: string;
}

/** Writes the history of jobs that no claim can take. Each is dead with an error that names its column. */
export function* markMalformedDead(malformed: readonly MalformedRow[]): Work<void> {
  const completions = malformed.map(({ row, column, problem }): Completion => {
    const job = toIdleJob(row, row.queue);
    const error = storedError(new MalformedJobError(job.id, job.queue, column, problem));
    return {
      job,
      claimId: 0,
      workerId: null,
      outcome: { kind: 'dead', error },
      ranMs: null,
      retentionMs: MALFORMED_RETENTION_MS,
    };
  });
  yield* emit(completionEvents(completions));
  yield* writeHistory(completions);
}
