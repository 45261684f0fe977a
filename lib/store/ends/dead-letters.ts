import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import { enterJobs } from './enter-jobs.js';
import { isCompletion, type JobEnd } from './job-end.js';

/** Enqueues the dead letters of jobs in the transaction in which they die, after the jobs and before their history. */
export function* enqueueDeadLetters(ends: readonly JobEnd[]): Work<void> {
  const letters: NewJob[] = [];
  for (const { job, outcome, deadLetter } of ends.filter(isCompletion)) {
    const letter = outcome.kind === 'dead' && deadLetter && deadLetterOf(job, outcome.error, deadLetter);
    if (letter) letters.push(letter);
  }
  if (letters.length > 0) yield* enterJobs(letters);
}
