import { cursorOf, resolvePage, type PagedList, type PageOptions, type PageRequest } from '../job/page-options.js';
import type { AssignedJobPage, AssignedJobRecord } from '../store/features/people/consumer-store.js';

/** Reads one job more than the page has: if it exists, there is a next page. */
export async function readPage(
  list: PagedList,
  page: PageOptions,
  read: (request: PageRequest) => Promise<AssignedJobRecord[]>,
): Promise<AssignedJobPage> {
  const request = resolvePage('Cannot list', page, list);
  const found = await read({ ...request, limit: request.limit + 1 });
  const jobs = found.slice(0, request.limit);
  if (found.length <= request.limit) return { jobs };
  const { id, priority } = jobs.at(-1)!;
  const position = list === 'assigned' ? [id] : [priority, id];
  return { jobs, next: cursorOf(position, list, request.order) };
}
