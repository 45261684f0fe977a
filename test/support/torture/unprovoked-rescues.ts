import type { JournalEntry } from '../journal.js';

/**
 * Returns jobs that were rescued from healthy workers before the first fault. The fence keeps such a rescue harmless,
 * so no other check finds it.
 *
 * @param entries the entries of all processes, in the order of time
 * @param jobs the jobs whose leases cannot have expired before the first fault
 */
export function findUnprovokedRescues(entries: readonly JournalEntry[], jobs: ReadonlySet<number>): string[] {
  const beforeFaults = entries.slice(
    0,
    entries.findIndex(({ kind }) => kind === 'broken'),
  );
  return beforeFaults
    .filter(({ kind, job }) => kind === 'rescued' && jobs.has(job))
    .map(
      ({ by, job, attempt }) =>
        `${by} took job ${job} from its worker in attempt ${attempt}, though nothing was broken`,
    );
}
