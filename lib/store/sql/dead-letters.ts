import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import type { Settlement } from '../job-store.js';
import { insertAll, jobChunks } from './enqueue.js';
import type { Work } from './statement.js';

/** Puts in the dead letters of jobs that die, in the transaction in which they do. Between the jobs and their history. */
export function* sendDeadLetters(settlements: readonly Settlement[]): Work<void> {
  const letters: NewJob[] = [];
  for (const { job, outcome, deadLetter } of settlements) {
    const letter = outcome.kind === 'dead' && deadLetter && deadLetterOf(job, outcome.error, deadLetter);
    if (letter) letters.push(letter);
  }
  if (letters.length > 0) yield* insertAll(jobChunks(letters));
}
