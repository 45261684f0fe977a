import type { PageRequest } from '../../lib/job/page-options.js';
import type { Found } from '../../lib/store/admin-store.js';

/** A list, page after page. */
export async function pages<Job>(
  find: (page: PageRequest) => Promise<Found<Job>>,
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
