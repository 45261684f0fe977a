import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { JobRecord } from '../../job/job.js';
import type { JobState } from '../../job/job-state.js';
import { MAX_LISTED } from './queue-overview.js';
import { Refusal } from '../dashboard/error-status.js';

/** Jobs of a state from one offset to another, both included: the next ones first, or the newest ones. */
export async function listJobs(
  admin: Pick<QueueAdmin, 'find'>,
  queue: string,
  state: JobState,
  first: number,
  last: number,
): Promise<JobRecord[]> {
  if (first >= MAX_LISTED) {
    throw new Refusal(`bull-board lists the first ${MAX_LISTED} jobs of a state. Search others with QueueAdmin.find.`);
  }
  const end = Math.min(last + 1, MAX_LISTED);
  const order = state === 'waiting' || state === 'scheduled' || state === 'blocked' ? 'oldest' : 'newest';
  const jobs: JobRecord[] = [];
  // A page may have fewer jobs than its limit, although there are more.
  for (let after: string | undefined; ;) {
    const page = await admin.find({ queue, state }, { after, limit: end - jobs.length, order });
    jobs.push(...page.jobs);
    if (page.next === undefined || jobs.length >= end) return jobs.slice(first);
    after = page.next;
  }
}
