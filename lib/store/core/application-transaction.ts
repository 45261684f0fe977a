import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { randomId } from '../../job/random-id.js';

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
    const depth = depthOf(runner);
    const savepoint = `sql_queue_${randomId()}`;

    const isStillOpen = async (): Promise<boolean> => {
      if (!runner.isTransactionActive) return false;
      // On SQLite all transactions of the application share one connection and one stack of savepoints. If they overlap,
      // another transaction may have released this savepoint. On a server, the work has left a nested transaction open.
      if (depthOf(runner) !== depth) return hasTransaction?.() ?? false;
      try {
        await runner.query(`RELEASE SAVEPOINT ${savepoint}`);
        return true;
      } catch (error) {
        if (!isNoSuchSavepoint(error)) throw error;
        return false;
      }
    };

    await runner.query(`SAVEPOINT ${savepoint}`);
    return work(manager, async () => {
      if (await isStillOpen()) return true;
      // Ends a transaction that the work has started after its own one ended. Otherwise the next user of the connection
      // would run inside it. TypeORM then rolls back, which SQLite rejects outside a transaction, so an empty one is
      // started.
      if (hasTransaction?.() ?? true) await runner.query('ROLLBACK');
      if (runner.isTransactionActive && depthOf(runner) === 1) await runner.query('BEGIN');
      return false;
    });
  });
}

/** TypeORM's count of nested transactions on the connection. All but the first are savepoints. */
function depthOf(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

function isNoSuchSavepoint(error: unknown): boolean {
  const { errno, message } = (error ?? {}) as { errno?: number; message?: string };
  return errno === 1305 || /no such savepoint/i.test(message ?? '');
}
