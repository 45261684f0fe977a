import type { JobContext } from '../../lib/worker/run/job-context.js';

/** The table that the jobs write to, in the order of their writes. */
export const CREATE_RUN_LOG = 'CREATE TABLE run_log (id INT AUTO_INCREMENT PRIMARY KEY, entry INT NOT NULL)';

export interface LoggedJob {
  /** Runs five steps, each of which writes its number. Every second one does so in its transaction. */
  steps?: boolean;
  /** Writes this number in the transaction that completes the job. */
  flow?: number;
  /** Fans out into this many jobs before that. */
  children?: number;
}

type Runner = { query(sql: string): Promise<unknown> };

/** Runs a job that writes to the log. `outside` is a connection without a transaction. */
export async function runLoggedJob(job: JobContext<LoggedJob>, outside: Runner): Promise<void> {
  const { steps, flow, children } = job.payload;
  if (steps) await runSteps(job, outside);
  if (children) {
    const payloads = Array.from({ length: children }, (_, n): LoggedJob => ({ flow: 100 + n }));
    await job.fanOut('q', payloads);
  }
  if (flow !== undefined) await job.transaction((manager) => write(manager, flow));
}

async function runSteps(job: JobContext, outside: Runner): Promise<void> {
  for (let n = 1; n <= 5; n++) {
    if (n % 2) await job.step(`plain-${n}`, async () => void (await write(outside, n)));
    else await job.step(`transaction-${n}`, { transaction: true }, async (manager) => void (await write(manager, n)));
  }
}

function write(runner: Runner, entry: number): Promise<unknown> {
  return runner.query(`INSERT INTO run_log (entry) VALUES (${entry})`);
}
