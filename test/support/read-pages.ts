import type { PageRequest } from '../../lib/job/page-options.js';
import type { FoundJobs } from '../../lib/store/admin/admin-store.js';

/** Reads a list page by page. */
export async function readPages<Job>(
  find: (page: PageRequest) => Promise<FoundJobs<Job>>,
  page: PageRequest,
): Promise<Job[][]> {
  const all: Job[][] = [];
  for (let after = page.after; ;) {
    const { jobs, next } = await find({ ...page, after });
    all.push(jobs);
    if (!next) return all;
    after = next;
  }
}
