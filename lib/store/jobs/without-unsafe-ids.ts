import { UnsafeJobIdError } from '../../job/errors.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { markUnsafeIdsDead } from './unsafe-ids.js';

// Each try moves one batch of such jobs out of the way.
const MAX_TRIES = 10;

/** Repeats the work after jobs whose ids no number can represent were made dead, because the work cannot name them. */
export async function withoutUnsafeIds<T>(
  database: Pick<SqlDatabase, 'transaction'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnsafeJobIdError) || tries === MAX_TRIES) throw error;
      await database.transaction(markUnsafeIdsDead, 1);
    }
  }
}
