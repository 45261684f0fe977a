import { readIds } from '../../job/read-columns.js';
import { query, queryInBatches, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { IN_STAGE } from '../tables/runnable.js';

const SELECT_CLAIMS = `
  SELECT id, job_ids, start_limit
  FROM {claims}
  WHERE :queue IS NULL OR queue = :queue`;

const SELECT_CLAIMED = `
  SELECT id, queue, claim_id, runnable
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id <> 0`;

const ID_BATCH_SIZE = 1_000;

type ClaimRow = Pick<TableRow<'claims'>, 'id' | 'job_ids' | 'start_limit'>;
type JobRow = Pick<TableRow<'jobs'>, 'id' | 'queue' | 'claim_id' | 'runnable'>;

/** A job that a claim has. */
export interface JobOfClaim {
  readonly id: number;
  readonly queue: string;
  /** Whether its worker may have started it; otherwise it is prefetched. Only the row of the claim shows it. */
  readonly isStarted: boolean;
  /** The jobs among which an index has it, because a claim does not change the index. */
  readonly range: 'waiting' | 'staged';
}

/** @param queue null: of all queues */
export function* readClaimedJobs(queue: string | null): Work<JobOfClaim[]> {
  const started = new Map<number, Set<number>>();
  const ids = new Set<number>();
  for (const { id, job_ids, start_limit } of yield* query<ClaimRow>(SELECT_CLAIMS, { queue })) {
    const ofClaim = readIds(job_ids) ?? [];
    started.set(Number(id), new Set(ofClaim.slice(0, start_limit)));
    for (const jobId of ofClaim) ids.add(jobId);
  }
  const claimed = yield* queryInBatches<JobRow>(SELECT_CLAIMED, [...ids], ID_BATCH_SIZE);
  return claimed.map((row) => ({
    id: Number(row.id),
    queue: row.queue,
    // A job of a claim that was written after the claims were read counts as started.
    isStarted: started.get(Number(row.claim_id))?.has(Number(row.id)) ?? true,
    range: Number(row.runnable) === IN_STAGE ? 'staged' : 'waiting',
  }));
}
