import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { randomId } from '../../job/random-id.js';
import { transactionDepth } from './caller-transaction.js';

/** Work in a transaction of the application's DataSource. It calls `isStillOpen` before its last statements. */
export type ApplicationWork<T> = (manager: EntityManager, isStillOpen: () => Promise<boolean>) => Promise<T>;

/**
 * Runs work in a transaction of the application. A COMMIT, a ROLLBACK, DDL or a deadlock can end the transaction early.
 * The savepoint set at the start is then gone, even if another transaction has started since.
 *
 * @param hasTransaction whether the connection is in a transaction; undefined if only the server knows
 */
export function inApplicationTransaction<T>(
  dataSource: DataSource,
  work: ApplicationWork<T>,
  hasTransaction?: () => boolean,
): Promise<T> {
  return dataSource.transaction(async (manager) => {
    const runner = manager.queryRunner!;
    const depth = transactionDepth(runner);
    const savepoint = newSavepoint();

    const isStillOpen = async (): Promise<boolean> => {
      if (!runner.isTransactionActive) return false;
      // On SQLite all transactions of the application share one connection and one stack of savepoints. If they overlap,
      // another transaction may have released this savepoint. On a server, the work has left a nested transaction open.
      if (transactionDepth(runner) !== depth) return hasTransaction?.() ?? false;
      return releaseSavepoint(runner, savepoint);
    };

    await runner.query(`SAVEPOINT ${savepoint}`);
    return work(manager, async () => {
      if (await isStillOpen()) return true;
      // Ends a transaction that the work has started after its own one ended. Otherwise the next user of the connection
      // would run inside it. TypeORM then rolls back, which SQLite rejects outside a transaction, so an empty one is
      // started.
      if (hasTransaction?.() ?? true) await runner.query('ROLLBACK');
      if (runner.isTransactionActive && transactionDepth(runner) === 1) await runner.query('BEGIN');
      return false;
    });
  });
}

function newSavepoint(): string {
  return `sql_queue_${randomId()}`;
}

/** False if the transaction of the savepoint has ended. */
async function releaseSavepoint(runner: QueryRunner, savepoint: string): Promise<boolean> {
  try {
    await runner.query(`RELEASE SAVEPOINT ${savepoint}`);
    return true;
  } catch (error) {
    if (!isNoSuchSavepoint(error)) throw error;
    return false;
  }
}

function isNoSuchSavepoint(error: unknown): boolean {
  const { errno, message } = (error ?? {}) as { errno?: number; message?: string };
  return errno === 1305 || /no such savepoint/i.test(message ?? '');
}
