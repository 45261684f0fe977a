import { groupBy } from '../../common/lists.js';
import { PROBLEM_LIMITS } from '../../job/problems/queue-problem.js';
import { readNames, readSlots } from '../../job/read-columns.js';
import { query, type Work } from '../core/statement.js';
import { readJobsOfWorkers } from '../reads/claimed-jobs.js';
import type { TableRow } from '../tables/table-schemas.js';
import type { WorkerRecord } from './admin-store.js';

const WORKERS = `
  SELECT id, host, pid, queues, slots, excluded, started_at, seen_at,
         CASE WHEN seen_at < :now - ${PROBLEM_LIMITS.silentMs} THEN 1 ELSE 0 END AS is_silent
  FROM {workers}
  ORDER BY started_at, id`;

/** Reads without locks. */
export function* readWorkers(): Work<WorkerRecord[]> {
  const rows = yield* query<TableRow<'workers'> & { readonly is_silent: number }>(WORKERS);
  if (rows.length === 0) return [];
  const jobs = groupBy(yield* readJobsOfWorkers(), ({ workerId, queue }) => `${workerId} ${queue}`);
  return rows.map(({ started_at, seen_at, is_silent, queues, excluded, ...row }) => ({
    ...row,
    queues: [...readSlots(queues)].map(([queue, slots]) => {
      const claimed = jobs.get(`${row.id} ${queue}`) ?? [];
      const running = claimed.filter(({ isStarted }) => isStarted).length;
      return { queue, slots, running, prefetched: claimed.length - running };
    }),
    excluded: readNames(excluded),
    startedAt: new Date(Number(started_at)),
    seenAt: new Date(Number(seen_at)),
    isSilent: Number(is_silent) === 1,
  }));
}
