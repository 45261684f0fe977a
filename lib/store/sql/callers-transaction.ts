import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import type { CallerTransaction } from '../job-store.js';
import { sqliteIds } from './inserted-ids.js';
import { drive, type Answer, type Statement, type Work } from './statement.js';
import type { BoundStatement } from './template.js';

const WAY_OUT = 'Pass the manager that dataSource.transaction(async (manager) => …) gives you, or leave `manager` out.';

/**
 * The query runner of the caller's open transaction. Refuses a manager of another DataSource, whose commit says nothing
 * of this database, and one without an open transaction: the job would exist whatever becomes of the caller's work.
 */
export function callersRunner(dataSource: DataSource, transaction: CallerTransaction): QueryRunner {
  const owner = ownerOf(transaction);
  if (!owner) throw invalid('expected an EntityManager or QueryRunner of TypeORM, got something else');
  if (owner !== dataSource) {
    throw invalid('expected a manager of the DataSource that holds the queue, got one of another DataSource');
  }
  requireOpen(transaction);
  return runnerOf(transaction)!;
}

/** Refuses a manager or query runner of TypeORM that is in no open transaction; accepts a stand-in for one. */
export function requireOpen(transaction: CallerTransaction): void {
  if (!ownerOf(transaction)) return;
  const runner = runnerOf(transaction);
  const expected = 'expected the manager of an open transaction, got';
  if (!runner) throw invalid(`${expected} one that is in no transaction, as dataSource.manager is`);
  if (runner.isReleased) throw invalid(`${expected} one whose transaction has ended; await enqueue() before it ends`);
  if (!runner.isTransactionActive) {
    throw invalid(`${expected} one whose QueryRunner has no open transaction: call startTransaction() first`);
  }
}

/** The query runner of the manager, in whatever state; undefined if it has none. */
export function runnerOf(transaction: CallerTransaction): QueryRunner | undefined {
  return 'startTransaction' in transaction ? transaction : transaction.queryRunner;
}

function ownerOf(transaction: CallerTransaction): DataSource | undefined {
  const given = transaction as Partial<EntityManager> | null;
  // TypeORM 0.3 knows it as `connection`.
  return given?.dataSource ?? given?.connection;
}

function invalid(problem: string): InvalidOptionsError {
  return new InvalidOptionsError('Invalid manager', [`${problem}. ${WAY_OUT}`]);
}

type Bind = (statement: Statement) => BoundStatement;

/** Sends the work's statements through the caller's query runner. */
export function onRunner<T>(runner: QueryRunner, bind: Bind, work: () => Work<T>): Promise<T> {
  return drive(work(), async ({ statements }) => {
    const answers: Answer[] = [];
    for (const statement of statements) answers.push(await sendOn(runner, bind(statement)));
    return answers;
  });
}

async function sendOn(runner: QueryRunner, { text, values }: BoundStatement): Promise<Answer> {
  const result = await runner.query(text, [...values], true);
  const raw = result.raw as { insertId?: number } | number | bigint | undefined;
  const changed = result.affected ?? 0;
  // SQLite's driver has no more to say than a number.
  const ids = typeof raw === 'object' ? { insertId: Number(raw?.insertId ?? 0) } : sqliteIds(Number(raw ?? 0), changed);
  return { rows: result.records as Record<string, unknown>[], changed, ...ids };
}
