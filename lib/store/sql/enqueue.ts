import type { NewJob } from '../../job/job.js';
import { Rows, type Answer, type SqlValue, type Work } from './statement.js';

const ENQUEUE = `
  INSERT INTO {jobs} (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options)
  VALUES :rows`;

// run_at: the time asked for, or now plus the delay, or NULL (now plus NULL) for a job that runs at once.
const NEW_JOB = `(?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?)`;

// One statement may hold so many jobs, and so many characters: far below any server's max_allowed_packet.
const CHUNK_JOBS = 1_000;
const CHUNK_LENGTH = 500_000;

/** The jobs in as many statements as they need. */
export function jobChunks(jobs: readonly NewJob[]): NewJob[][] {
  const chunks: NewJob[][] = [];
  let length = 0;
  for (const job of jobs) {
    const more = job.payload.length + (job.headers?.length ?? 0) + 200;
    const last = chunks.at(-1);
    if (last && last.length < CHUNK_JOBS && length + more <= CHUNK_LENGTH) {
      last.push(job);
      length += more;
    } else {
      chunks.push([job]);
      length = more;
    }
  }
  return chunks;
}

/** One statement; its ids follow from the first, in a way each database has its own word on. */
export function* insertJobs(jobs: readonly NewJob[]): Work<Answer> {
  return yield { sql: ENQUEUE, values: { rows: new Rows(NEW_JOB, jobs.map(jobRow)) } };
}

function jobRow(job: NewJob): SqlValue[] {
  const later = job.runAtMs !== null || job.delayMs !== null;
  return [
    ...[job.queue, job.name, job.runAtMs, job.delayMs, later ? 'scheduled' : 'waiting', later ? 0 : 1],
    ...[job.priority, job.maxAttempts ?? 0, job.payload, job.headers, job.overrides],
  ];
}
