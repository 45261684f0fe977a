import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import type { Completion } from './completion.js';
import { insertChunks, chunkJobs } from './enqueue.js';
import type { Work } from '../core/statement.js';

/** Enqueues the dead letters of jobs in the transaction in which they die, after the jobs and before their history. */
export function* enqueueDeadLetters(completions: readonly Completion[]): Work<void> {
  const letters: NewJob[] = [];
  for (const { job, outcome, deadLetter } of completions) {
    const letter = outcome.kind === 'dead' && deadLetter && deadLetterOf(job, outcome.error, deadLetter);
    if (letter) letters.push(letter);
  }
  if (letters.length > 0) yield* insertChunks(chunkJobs(letters));
}
