import { readIds } from '../../job/read-columns.js';
import { query, queryInBatches, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { IN_STAGE } from '../tables/runnable.js';

const SELECT_CLAIMS = `
  SELECT id, worker_id, job_ids, start_limit
  FROM {claims}
  WHERE :queue IS NULL OR queue = :queue`;

const SELECT_CLAIMS_OF_WORKERS = `
  SELECT id, worker_id, job_ids, start_limit
  FROM {claims}
  WHERE owner IS NULL`;

const SELECT_CLAIMED = `
  SELECT id, queue, claim_id, runnable
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id <> 0`;

const ID_BATCH_SIZE = 1_000;

type ClaimRow = Pick<TableRow<'claims'>, 'id' | 'worker_id' | 'job_ids' | 'start_limit'>;
type JobRow = Pick<TableRow<'jobs'>, 'id' | 'queue' | 'claim_id' | 'runnable'>;

/** A job that a claim has. */
export interface JobOfClaim {
  readonly id: number;
  readonly queue: string;
  /** Null: the row of its claim was written after the claims were read. */
  readonly workerId: string | null;
  /** Whether its worker may have started it; otherwise it is prefetched. Only the row of the claim shows it. */
  readonly isStarted: boolean;
  /** The jobs among which an index has it, because a claim does not change the index. */
  readonly range: 'waiting' | 'staged';
}

/** @param queue null: of all queues */
export function* readClaimedJobs(queue: string | null): Work<JobOfClaim[]> {
  return yield* jobsOf(yield* query<ClaimRow>(SELECT_CLAIMS, { queue }));
}

/** Without the jobs of people and of other claim holders, which may be many more. */
export function* readJobsOfWorkers(): Work<JobOfClaim[]> {
  return yield* jobsOf(yield* query<ClaimRow>(SELECT_CLAIMS_OF_WORKERS));
}

function* jobsOf(rows: readonly ClaimRow[]): Work<JobOfClaim[]> {
  const claims = new Map<number, { workerId: string; started: Set<number> }>();
  const ids = new Set<number>();
  for (const { id, worker_id, job_ids, start_limit } of rows) {
    const ofClaim = readIds(job_ids) ?? [];
    claims.set(Number(id), { workerId: worker_id, started: new Set(ofClaim.slice(0, start_limit)) });
    for (const jobId of ofClaim) ids.add(jobId);
  }
  const claimed = yield* queryInBatches<JobRow>(SELECT_CLAIMED, [...ids], ID_BATCH_SIZE);
  return claimed.map((row) => {
    const [id, claim] = [Number(row.id), claims.get(Number(row.claim_id))];
    return {
      ...{ id, queue: row.queue, workerId: claim?.workerId ?? null },
      // A job of a claim that was written after the claims were read counts as started.
      isStarted: claim?.started.has(id) ?? true,
      range: Number(row.runnable) === IN_STAGE ? 'staged' : 'waiting',
    };
  });
}
