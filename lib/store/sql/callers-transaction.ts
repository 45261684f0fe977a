import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import type { CallerTransaction } from '../job-store.js';
import { sqliteIds } from './inserted-ids.js';
import { drive, type Answer, type Statement, type Work } from './statement.js';
import type { BoundStatement } from './template.js';

const WAY_OUT = `Pass the manager that dataSource.transaction() hands you, or leave \`manager\` out.`;

/**
 * The query runner of the caller's transaction. Undefined where the manager has none: then there is no transaction to
 * join. A manager of another DataSource is refused, since its commit says nothing of this database.
 */
export function callersRunner(dataSource: DataSource, transaction: CallerTransaction): QueryRunner | undefined {
  const given = transaction as Partial<EntityManager & QueryRunner> | null;
  // TypeORM 0.3 knows it as `connection`.
  const owner = given?.dataSource ?? given?.connection;
  if (!given || !owner) {
    throw new InvalidOptionsError('Invalid manager', [
      `expected an EntityManager or QueryRunner of TypeORM, got something else. ${WAY_OUT}`,
    ]);
  }
  if (owner !== dataSource) {
    throw new InvalidOptionsError('Invalid manager', [
      `expected a manager of the DataSource that holds the queue, got one of another DataSource. ${WAY_OUT}`,
    ]);
  }
  const runner = 'startTransaction' in given ? (given as QueryRunner) : given.queryRunner;
  return runner?.isTransactionActive ? runner : undefined;
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
