import type { EntityManager } from 'typeorm';
import { LeaseLostError, TransactionLostError } from '../../job/errors.js';
import type { Settlement } from '../job-store.js';
import { settleClaimed, ShortCountError } from './settle.js';
import type { SqlDatabase } from './sql-database.js';

/** Completes a job with the last statements of the transaction in which its handler works. */
export function completeWith<T>(
  database: SqlDatabase,
  work: (manager: EntityManager) => Promise<{ value: T; settlement: Settlement }>,
): Promise<T> {
  return database.ofApplication(async (manager, isStillOpen) => {
    const { value, settlement } = await work(manager);
    const { id, queue } = settlement.job;
    // Before the completion: outside of a transaction nothing could undo it.
    if (!(await isStillOpen())) throw new TransactionLostError(id, queue);
    await database
      .within(manager, () => settleClaimed([settlement]))
      .catch((error: unknown) => {
        throw error instanceof ShortCountError ? new LeaseLostError(id, queue) : error;
      });
    return value;
  });
}
