import { groupBy } from '../../common/lists.js';
import { readNames, readSlots } from '../../job/read-columns.js';
import { query, type Work } from '../core/statement.js';
import { readJobsOfWorkers } from '../reads/claimed-jobs.js';
import type { TableRow } from '../tables/table-schemas.js';
import type { WorkerRecord } from './admin-store.js';

const WORKERS = `
  SELECT id, host, pid, queues, slots, excluded, started_at, seen_at
  FROM {workers}
  ORDER BY started_at, id`;

/** Reads without locks. */
export function* readWorkers(): Work<WorkerRecord[]> {
  const rows = yield* query<TableRow<'workers'>>(WORKERS);
  if (rows.length === 0) return [];
  const jobs = groupBy(yield* readJobsOfWorkers(), ({ workerId, queue }) => `${workerId} ${queue}`);
  return rows.map(({ started_at, seen_at, queues, excluded, ...row }) => ({
    ...row,
    queues: [...readSlots(queues)].map(([queue, slots]) => {
      const claimed = jobs.get(`${row.id} ${queue}`) ?? [];
      const running = claimed.filter(({ isStarted }) => isStarted).length;
      return { queue, slots, running, prefetched: claimed.length - running };
    }),
    excluded: readNames(excluded),
    startedAt: new Date(Number(started_at)),
    seenAt: new Date(Number(seen_at)),
  }));
}
