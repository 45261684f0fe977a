import { StoreUnavailableError } from '../../job/errors.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';
import { completeAll, completeSurvivors, FenceError } from './complete-jobs.js';
import { JobsLockedError, type CompletionBatch, type CompletionResult } from './completion.js';
import { findLocked } from './surviving-completions.js';

// Of a second each. The next batches of the process wait behind this one, so it soon checks which jobs are locked.
const MAX_LOCK_WAITS = 3;

type CompletionDatabase = Pick<SqlDatabase, 'transaction' | 'runIdempotent'>;

export interface CompletedBatch<T> {
  readonly result: CompletionResult;
  readonly next: T;
}

/** Completes a batch in one transaction with the work that follows. Rejects with JobsLockedError if jobs are locked. */
export async function completeBatch<T>(
  database: CompletionDatabase,
  batch: CompletionBatch,
  next: () => Work<T>,
): Promise<CompletedBatch<T>> {
  if (batch.wereLocked) await rejectLocked(database, batch);
  try {
    return await transact(database, batch, next);
  } catch (error) {
    if (error instanceof StoreUnavailableError && error.locked) await rejectLocked(database, batch);
    throw error;
  }
}

async function rejectLocked(database: CompletionDatabase, { completions }: CompletionBatch): Promise<void> {
  const locked = await database.runIdempotent(() => findLocked(completions));
  if (locked.size > 0) throw new JobsLockedError(locked);
}

async function transact<T>(
  database: CompletionDatabase,
  batch: CompletionBatch,
  next: () => Work<T>,
): Promise<CompletedBatch<T>> {
  const completeBy = (complete: (batch: CompletionBatch) => Work<CompletionResult>) =>
    database.transaction(function* () {
      return { result: yield* complete(batch), next: yield* next() };
    }, MAX_LOCK_WAITS);
  try {
    return await completeBy(completeAll);
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    return completeBy(completeSurvivors);
  }
}
