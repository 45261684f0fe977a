import { MalformedJobError } from '../../job/errors.js';
import { storedError } from '../../job/stored-error.js';
import type { Settlement } from '../job-store.js';
import { settled } from './changes.js';
import { idleJob, type ClaimedRow } from './claimed-row.js';
import { keepFinished } from './history.js';
import { note, type Work } from './statement.js';

// So long does the history keep a job that no claim could take, whatever its queue says: long enough to look at it.
const KEPT_MS = 30 * 86_400_000;

/** A job that is locked and about to be deleted, and the column that cannot be understood. */
export interface Buried {
  readonly row: ClaimedRow & { readonly queue: string };
  readonly column: string;
  /** `expected …, got …`. */
  readonly problem: string;
}

/** Writes the history of jobs that no claim would ever take: they are dead, each with an error that names its column. */
export function* bury(buried: readonly Buried[]): Work<void> {
  const settlements = buried.map(({ row, column, problem }): Settlement => {
    const job = idleJob(row, row.queue);
    const error = storedError(new MalformedJobError(job.id, job.queue, column, problem));
    return { job, claimId: 0, workerId: null, outcome: { kind: 'dead', error }, ranMs: null, keepMs: KEPT_MS };
  });
  yield* note(settled(settlements));
  yield* keepFinished(settlements);
}
