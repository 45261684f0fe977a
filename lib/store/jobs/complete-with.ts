import type { EntityManager } from 'typeorm';
import { LeaseLostError, TransactionLostError } from '../../job/errors.js';
import type { Completion } from './completion.js';
import { completeClaimed, FenceError } from './complete-jobs.js';
import type { SqlDatabase } from '../core/sql-database.js';

/** Completes a job with the last statements of the transaction in which its handler works. */
export function completeWith<T>(
  database: SqlDatabase,
  work: (manager: EntityManager) => Promise<{ value: T; completion: Completion }>,
): Promise<T> {
  return database.inApplicationTransaction(async (manager, isStillOpen) => {
    const { value, completion } = await work(manager);
    const { id, queue } = completion.job;
    // Checked before the completion, which could not be undone outside of a transaction.
    if (!(await isStillOpen())) throw new TransactionLostError(id, queue);
    await database
      .inCallerTransaction(manager, () => completeClaimed([completion]))
      .catch((error: unknown) => {
        throw error instanceof FenceError ? new LeaseLostError(id, queue) : error;
      });
    return value;
  });
}
