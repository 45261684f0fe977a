import { pageSize } from '../../../common/lists.js';
import type { PagePosition, PageRequest } from '../../../job/page-options.js';
import { signalHash } from '../../../job/signal.js';
import { query, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { WaitFilter, WaitRecord } from './step-store.js';

// A page examines at most this number of waits. It may then be short, and `next` continues after them.
const MAX_EXAMINED = 2_000;
const BATCH_SIZE = 500;

// The steps of a finished job outlive it, and have no job in the table of unfinished ones. A wait whose signal has been sent
// ends when a worker runs its job.
const SELECT = `
  SELECT s.signal_hash, s.job_id, s.name, s.signal_key, s.until_at, j.queue, j.name AS job_name,
         CASE WHEN EXISTS (SELECT 1 FROM {signals} g WHERE g.hash = s.signal_hash) THEN 1 ELSE 0 END AS is_sent
  FROM {steps} s {by steps.signal} LEFT JOIN {jobs} j {by primary} ON j.id = s.job_id`;

const ALL_WAITS = `${SELECT}
  WHERE s.signal_hash >= :hash
    AND (s.signal_hash > :hash OR s.job_id > :jobId OR (s.job_id = :jobId AND s.name > :name))
  ORDER BY s.signal_hash, s.job_id, s.name
  LIMIT :limit`;

const WAITS_FOR = `${SELECT}
  WHERE s.signal_hash = :hash AND (s.job_id > :jobId OR (s.job_id = :jobId AND s.name > :name))
  ORDER BY s.job_id, s.name
  LIMIT :limit`;

const BEFORE_ALL = ['', 0, ''] as const;

type WaitRow = Pick<TableRow<'steps'>, 'signal_hash' | 'job_id' | 'name' | 'until_at'> & {
  readonly signal_key: string | null;
  readonly queue: string | null;
  readonly job_name: string | null;
  readonly is_sent: number;
};

/** The waits of unfinished jobs in the order of their signals, whose hash is known if the filter has a name and a key. */
export function* listWaits(
  { after, limit }: PageRequest,
  filter: WaitFilter,
): Work<{ waits: WaitRecord[]; next?: PagePosition }> {
  const waits: WaitRecord[] = [];
  const size = pageSize(BATCH_SIZE);
  const only = filter.name !== undefined && filter.key !== undefined ? signalHash(filter.name, filter.key) : undefined;
  let last: PagePosition = after ?? BEFORE_ALL;
  for (let examined = 0; examined < MAX_EXAMINED; examined += size) {
    const [hash, jobId, name] = last as typeof BEFORE_ALL;
    const values = { hash: only ?? hash, jobId, name, limit: size };
    const rows = yield* query<WaitRow>(only === undefined ? ALL_WAITS : WAITS_FOR, values);
    for (const row of rows) {
      const wait = toRecord(row);
      const isMatch = wait !== undefined && matches(wait, filter);
      if (isMatch && waits.length === limit) return { waits, next: last };
      if (isMatch) waits.push(wait);
      last = [row.signal_hash!, Number(row.job_id), row.name];
    }
    if (rows.length < size) return { waits };
  }
  return { waits, next: last };
}

function matches({ name, key, queue }: WaitRecord, filter: WaitFilter): boolean {
  return (
    (filter.name === undefined || name === filter.name) &&
    (filter.key === undefined || key === filter.key) &&
    (filter.queue === undefined || queue === filter.queue)
  );
}

function toRecord({ job_id, name, signal_key, until_at, queue, job_name, is_sent }: WaitRow): WaitRecord | undefined {
  if (queue === null || job_name === null || Number(is_sent) === 1) return undefined;
  return { jobId: Number(job_id), queue, jobName: job_name, name, key: signal_key, until: new Date(Number(until_at)) };
}
