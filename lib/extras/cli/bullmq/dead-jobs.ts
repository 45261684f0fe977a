import type { DataSource, EntityManager } from 'typeorm';
import { DEFAULT_PREFIX } from '../../../store/tables/table-names.js';
import { storedError } from '../../../job/stored-error.js';
import type { BullmqJob } from './bullmq-queue.js';

const RETENTION_MS = 30 * 86_400_000;

/** Moves new jobs that have failed elsewhere into the history, in the transaction that stores them. */
export class DeadJobs {
  readonly #jobs: string;
  readonly #history: string;

  constructor(dataSource: DataSource, prefix = DEFAULT_PREFIX) {
    const { driver } = dataSource;
    this.#jobs = driver.escape(`${prefix}jobs`);
    this.#history = driver.escape(`${prefix}history`);
  }

  async bury(manager: EntityManager, dead: readonly { readonly id: number; readonly job: BullmqJob }[]): Promise<void> {
    for (const { id, job } of dead) {
      // created_at is the present by the clock of the database.
      await manager.query(
        `INSERT INTO ${this.#history} (id, queue, name, state, priority, attempt, max_attempts, worker_id,
                                       created_at, due_at, started_at, finished_at, expires_at,
                                       payload, headers, options, result, error)
         SELECT id, queue, name, 'dead', priority, ?, max_attempts, NULL,
                created_at, due_at, NULL, created_at, created_at + ${RETENTION_MS},
                payload, headers, options, NULL, ?
         FROM ${this.#jobs}
         WHERE id = ?`,
        [job.attemptsMade, JSON.stringify(errorOf(job)), id],
      );
      await manager.query(`DELETE FROM ${this.#jobs} WHERE id = ?`, [id]);
    }
  }
}

function errorOf({ failedReason, stacktrace }: BullmqJob) {
  const error = new Error(failedReason || 'The job has failed in BullMQ.');
  const stack = stacktrace?.at(-1);
  if (stack) error.stack = stack;
  else delete error.stack;
  return storedError(error);
}
