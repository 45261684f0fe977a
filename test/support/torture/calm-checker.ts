import type { Entry } from '../journal.js';

/**
 * Names jobs that were taken from workers that nothing had happened to: before the first thing was broken. The fence keeps
 * that harmless, so nothing else would tell of it.
 *
 * @param entries what all processes wrote, in the order of time
 * @param jobs those whose leases are so long that none can have lapsed by then, however busy the machine is
 */
export function calmViolations(entries: readonly Entry[], jobs: ReadonlySet<number>): string[] {
  const calm = entries.slice(
    0,
    entries.findIndex(({ kind }) => kind === 'broken'),
  );
  return calm
    .filter(({ kind, job }) => kind === 'rescued' && jobs.has(job))
    .map(
      ({ by, job, attempt }) =>
        `${by} took job ${job} from its worker in attempt ${attempt}, though nothing was broken`,
    );
}
