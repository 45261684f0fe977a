import type { ClaimedJob } from '../../../job/job.js';
import { query, type Work } from '../../core/statement.js';

const NOW = 'SELECT :now AS at';

/** Marks the jobs that no worker has started within their `expiresIn`. Costs a read if a job of the claim has one. */
export function* markExpired(jobs: ClaimedJob[]): Work<ClaimedJob[]> {
  if (!jobs.some(mayExpire)) return jobs;
  const [row] = yield* query<{ at: number }>(NOW);
  const nowMs = Number(row!.at);
  return jobs.map((job) => (mayExpire(job) && expiresAtMs(job) < nowMs ? { ...job, isExpired: true } : job));
}

/** A job that runs again has started in time. */
function mayExpire({ attempt, overrides }: ClaimedJob): boolean {
  return attempt === 1 && overrides?.expiresInMs !== undefined;
}

function expiresAtMs({ createdAtMs, overrides }: ClaimedJob): number {
  return createdAtMs + overrides!.expiresInMs!;
}
