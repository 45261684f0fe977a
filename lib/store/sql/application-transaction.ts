import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { randomId } from '../../job/random-id.js';

/** Work in a transaction of the application's DataSource. Before it writes its last statements it asks `isStillOpen`. */
export type ApplicationWork<T> = (manager: EntityManager, isStillOpen: () => Promise<boolean>) => Promise<T>;

/**
 * Does work in a transaction of the application that may end under its hands: by a COMMIT, a ROLLBACK, DDL, a deadlock. A
 * savepoint set at the beginning is gone then, even if another transaction has begun since.
 *
 * @param hasTransaction whether the connection is in a transaction; undefined if only the server knows
 */
export function applicationTransaction<T>(
  dataSource: DataSource,
  work: ApplicationWork<T>,
  hasTransaction?: () => boolean,
): Promise<T> {
  return dataSource.transaction(async (manager) => {
    const runner = manager.queryRunner!;
    const depth = depthOf(runner);
    const savepoint = `sql_queue_${randomId()}`;
    await runner.query(`SAVEPOINT ${savepoint}`);
    return work(manager, async () => {
      const isOpen = await isStillOpen(runner, savepoint, depth, hasTransaction);
      if (!isOpen) await endTheRest(runner, hasTransaction);
      return isOpen;
    });
  });
}

async function isStillOpen(
  runner: QueryRunner,
  savepoint: string,
  depth: number,
  hasTransaction: (() => boolean) | undefined,
): Promise<boolean> {
  if (!runner.isTransactionActive) return false;
  // On SQLite all transactions of the application share one connection, and one stack of savepoints: if they overlap, the
  // savepoint may have been released with another one. On a server a transaction within this one has been left open.
  if (depthOf(runner) !== depth) return hasTransaction?.() ?? false;
  try {
    await runner.query(`RELEASE SAVEPOINT ${savepoint}`);
    return true;
  } catch (error) {
    if (!isNoSuchSavepoint(error)) throw error;
    return false;
  }
}

/**
 * Ends what the work has begun in place of its transaction: the next borrower of the connection would be in it. TypeORM then
 * rolls back what it takes to be open, which SQLite refuses outside of a transaction.
 */
async function endTheRest(runner: QueryRunner, hasTransaction: (() => boolean) | undefined): Promise<void> {
  if (hasTransaction?.() ?? true) await runner.query('ROLLBACK');
  if (runner.isTransactionActive && depthOf(runner) === 1) await runner.query('BEGIN');
}

/** How many transactions TypeORM takes to be open on the connection: all but the first are savepoints. */
function depthOf(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

function isNoSuchSavepoint(error: unknown): boolean {
  const { errno, message } = (error ?? {}) as { errno?: number; message?: string };
  return errno === 1305 || /no such savepoint/i.test(message ?? '');
}
