import { readIds } from '../../job/read-columns.js';
import { JOB_STATES, type JobState } from '../../job/job-state.js';
import type { JobCounts } from '../admin-store.js';
import { query, type Work } from './statement.js';

// Index claim alone: at a million jobs their rows would be gigabytes. Only on SQLite does a plain INSERT leave a delayed job
// runnable, which COUNT(run_at) finds.
const BY_INDEX = `
  SELECT runnable, COUNT(*) AS jobs, COUNT(run_at) AS timed
  FROM {jobs} /*! FORCE INDEX ({jobs}_claim) */
  WHERE :queue IS NULL OR queue = :queue
  GROUP BY queue, runnable`;

const CLAIMS = `
  SELECT id, job_ids, started
  FROM {claims}
  WHERE :queue IS NULL OR queue = :queue`;

const CLAIMED = `
  SELECT id, claim_id, runnable
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id <> 0`;

const FINISHED = `
  SELECT state, COUNT(*) AS jobs
  FROM {history}
  GROUP BY state`;

// From the queue's part of index state.
const FINISHED_OF = `
  SELECT state, COUNT(*) AS jobs
  FROM {history}
  WHERE queue = :queue
  GROUP BY state`;

const IDS_AT_A_TIME = 1_000;

interface ClaimRow {
  id: number;
  job_ids: string;
  started: number;
}

/** Each job is counted once. */
export function* countJobs(queue: string | null): Work<JobCounts> {
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  const counts: JobCounts = { ...states, staged: 0, prefetched: 0 };
  for (const row of yield* query<Record<'runnable' | 'jobs' | 'timed', number>>(BY_INDEX, { queue })) {
    const delayed = Number(row.runnable) === 0 ? Number(row.jobs) : Number(row.timed);
    counts.scheduled += delayed;
    counts[placeOf(row)] += Number(row.jobs) - delayed;
  }
  yield* countClaimed(counts, queue);
  const finished = yield* queue === null
    ? query<{ state: JobState; jobs: number }>(FINISHED)
    : query<{ state: JobState; jobs: number }>(FINISHED_OF, { queue });
  for (const { state, jobs } of finished) if (state in states) counts[state] += Number(jobs);
  return counts;
}

/** Takes the claimed jobs from those that the index counts as waiting. Only a claim knows which of its jobs have begun. */
function* countClaimed(counts: JobCounts, queue: string | null): Work<void> {
  const claims = yield* query<ClaimRow>(CLAIMS, { queue });
  const begun = new Map<number, Set<number>>();
  const ids = new Set<number>();
  for (const { id, job_ids, started } of claims) {
    const ofClaim = readIds(job_ids) ?? [];
    begun.set(Number(id), new Set(ofClaim.slice(0, started)));
    for (const jobId of ofClaim) ids.add(jobId);
  }
  const all = [...ids];
  for (let from = 0; from < all.length; from += IDS_AT_A_TIME) {
    const some = { ids: all.slice(from, from + IDS_AT_A_TIME) };
    for (const row of yield* query<Record<'id' | 'claim_id' | 'runnable', number>>(CLAIMED, some)) {
      // A claim that was written after the claims were read counts as begun.
      const isBegun = begun.get(Number(row.claim_id))?.has(Number(row.id)) ?? true;
      counts[isBegun ? 'active' : 'prefetched']++;
      counts[placeOf(row)]--;
    }
  }
  // Read one after the other while work goes on: a job that was claimed in between is subtracted without having been counted.
  counts.waiting = Math.max(0, counts.waiting);
  counts.staged = Math.max(0, counts.staged);
}

function placeOf({ runnable }: { runnable: number }): 'waiting' | 'staged' {
  return Number(runnable) === 2 ? 'staged' : 'waiting';
}
