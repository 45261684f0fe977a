import { JOB_STATES, type JobState } from '../../job/job-state.js';
import type { JobCounts } from './admin-store.js';
import { readClaimedJobs } from '../reads/claimed-jobs.js';
import { BLOCKED, IN_STAGE, SCHEDULED } from '../tables/runnable.js';
import { query, type Work } from '../core/statement.js';

// Reads only index queue, because the rows of a million jobs are gigabytes. On SQLite a plain INSERT by another program
// leaves a delayed job runnable; COUNT(run_at) finds it.
const COUNT_LIVE = `
  SELECT runnable, COUNT(*) AS jobs, COUNT(run_at) AS timed
  FROM {jobs} {by jobs.queue}
  WHERE :queue IS NULL OR queue = :queue
  GROUP BY queue, runnable`;

const COUNT_FINISHED = `
  SELECT state, COUNT(*) AS jobs
  FROM {history}
  GROUP BY state`;

// Reads the range of the queue in index state.
const COUNT_FINISHED_OF_QUEUE = `
  SELECT state, COUNT(*) AS jobs
  FROM {history}
  WHERE queue = :queue
  GROUP BY state`;

export function* countJobs(queue: string | null): Work<JobCounts> {
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  const counts: JobCounts = { ...states, staged: 0, prefetched: 0 };
  for (const row of yield* query<Record<'runnable' | 'jobs' | 'timed', number>>(COUNT_LIVE, { queue })) {
    if (Number(row.runnable) === BLOCKED) {
      counts.blocked += Number(row.jobs);
      continue;
    }
    const delayed = Number(row.runnable) === SCHEDULED ? Number(row.jobs) : Number(row.timed);
    counts.scheduled += delayed;
    counts[waitingStateOf(row)] += Number(row.jobs) - delayed;
  }
  yield* countClaimed(counts, queue);
  const countFinished = queue === null ? COUNT_FINISHED : COUNT_FINISHED_OF_QUEUE;
  const finished = yield* query<{ state: JobState; jobs: number }>(countFinished, { queue });
  for (const { state, jobs } of finished) if (state in states) counts[state] += Number(jobs);
  return counts;
}

/** Subtracts claimed jobs, which the index counts as waiting. */
function* countClaimed(counts: JobCounts, queue: string | null): Work<void> {
  for (const { isStarted, range } of yield* readClaimedJobs(queue)) {
    counts[isStarted ? 'active' : 'prefetched']++;
    counts[range]--;
  }
  // The reads are not one snapshot: a job that is claimed between them is subtracted without having been counted.
  counts.waiting = Math.max(0, counts.waiting);
  counts.staged = Math.max(0, counts.staged);
}

function waitingStateOf({ runnable }: { runnable: number }): 'waiting' | 'staged' {
  return Number(runnable) === IN_STAGE ? 'staged' : 'waiting';
}
