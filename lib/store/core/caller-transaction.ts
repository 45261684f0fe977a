import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import { drive, type StatementResult, type Statement, type Work } from './statement.js';

/** The caller's own open transaction. The library neither retries nor commits it. */
export type CallerTransaction = EntityManager | QueryRunner;

const WAY_OUT = 'Pass the manager that dataSource.transaction(async (manager) => …) gives you, or leave `manager` out.';

/**
 * @throws InvalidOptionsError for a manager of another DataSource, which commits apart from this database. Also for one
 * without an open transaction: the job would exist even if the caller's work fails
 */
export function callerQueryRunner(dataSource: DataSource, transaction: CallerTransaction): QueryRunner {
  const managersDataSource = dataSourceOf(transaction);
  if (!managersDataSource)
    throw invalidManagerError('expected an EntityManager or QueryRunner of TypeORM, got another value');
  if (managersDataSource !== dataSource) {
    throw invalidManagerError(
      'expected a manager of the DataSource that holds the queue, got one of another DataSource',
    );
  }
  requireOpenTransaction(transaction);
  return queryRunnerOf(transaction)!;
}

/** Throws InvalidOptionsError if a manager of TypeORM has no open transaction. Accepts test doubles. */
export function requireOpenTransaction(transaction: CallerTransaction): void {
  if (!dataSourceOf(transaction)) return;
  const runner = queryRunnerOf(transaction);
  const expected = 'expected the manager of an open transaction, got';
  if (!runner) throw invalidManagerError(`${expected} one that is in no transaction, as dataSource.manager is`);
  if (runner.isReleased)
    throw invalidManagerError(`${expected} one whose transaction has ended; await enqueue() before it ends`);
  if (!runner.isTransactionActive) {
    throw invalidManagerError(
      `${expected} one whose QueryRunner has no open transaction: call startTransaction() first`,
    );
  }
}

/** The query runner of the manager, open or not; undefined if it has none. */
export function queryRunnerOf(transaction: CallerTransaction): QueryRunner | undefined {
  return 'startTransaction' in transaction ? transaction : transaction.queryRunner;
}

/** TypeORM's count of nested transactions on the connection. All but the first are savepoints. */
export function transactionDepth(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

function dataSourceOf(transaction: CallerTransaction): DataSource | undefined {
  const given = transaction as Partial<EntityManager> | null;
  // In TypeORM 0.3 the DataSource is the property `connection`.
  return given?.dataSource ?? given?.connection;
}

function invalidManagerError(problem: string): InvalidOptionsError {
  return new InvalidOptionsError('Invalid manager', [`${problem}. ${WAY_OUT}`]);
}

/**
 * @param send sends a statement on the caller's session
 * @param beforeRead called before each statement that reads rows
 */
export function runOnSession<T>(
  send: (statement: Statement) => Promise<StatementResult>,
  work: () => Work<T>,
  beforeRead?: () => Promise<void>,
): Promise<T> {
  return drive(work(), async ({ statements }) => {
    const results: StatementResult[] = [];
    for (const statement of statements) {
      if (beforeRead && /^\s*SELECT\b/.test(statement.sql)) await beforeRead();
      results.push(await send(statement));
    }
    return results;
  });
}
