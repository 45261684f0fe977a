import { groupBy } from '../../../lib/common/lists.js';
import type { FinishedJob } from '../history-checker.js';
import type { JournalEntry } from '../journal.js';
import { CHILD_MARK, CHILDREN } from './torture-job.js';

/** A job that has waited for another one. */
export interface Edge {
  readonly job: number;
  readonly needs: number;
  readonly state: string;
}

/** Jobs of flows that ran before those that they needed or although those had failed, and jobs without their children. */
export function findFlowViolations(
  entries: readonly JournalEntry[],
  jobs: readonly (FinishedJob & { readonly token: string })[],
  edges: readonly Edge[],
): string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const begins = groupBy(
    entries.filter(({ kind }) => kind === 'begin'),
    ({ job }) => job,
  );
  const ends = groupBy(
    entries.filter(({ kind }) => kind === 'end'),
    ({ job }) => job,
  );
  const found: string[] = [];
  for (const { job, needs, state } of edges) {
    const dependent = byId.get(job);
    // The first run of a job that fans out ends before its children begin.
    const after = dependent?.kind === 'fans-out' ? ends.get(job)?.at(-1) : begins.get(job)?.[0];
    const last = lastAttempt(begins.get(needs) ?? []);
    if (state === 'open') found.push(`job ${job} still waits for job ${needs}`);
    if (state === 'failed' && dependent?.state !== 'cancelled')
      found.push(`job ${job} is ${dependent?.state}, although job ${needs} has failed`);
    // The first failure cancels a job, whatever the other ones do.
    if (after && last && after.at < last.at && dependent?.state !== 'cancelled')
      found.push(`job ${job} did not wait for job ${needs}`);
  }
  const children = groupBy(
    jobs.filter(({ token }) => token.includes(CHILD_MARK)),
    ({ token }) => token.split(CHILD_MARK)[0]!,
  );
  for (const { id, token, kind, state } of jobs) {
    if (kind !== 'fans-out' || token.includes(CHILD_MARK)) continue;
    const count = children.get(token)?.length ?? 0;
    if (count !== CHILDREN && (count > 0 || state === 'completed'))
      found.push(`job ${id} is ${state} with ${count} children`);
  }
  return found;
}

/** The first entry of the last attempt. */
function lastAttempt(begins: readonly JournalEntry[]): JournalEntry | undefined {
  const attempt = Math.max(...begins.map((entry) => entry.attempt));
  return begins.find((entry) => entry.attempt === attempt);
}
