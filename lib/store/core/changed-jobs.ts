import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { queryRunnerOf, type CallerTransaction } from './caller-transaction.js';
import type { SqlDatabase } from './sql-database.js';
import { relay } from './statement.js';

const NONE: ReadonlySet<number> = new Set();

/**
 * The jobs that verbs have ended or taken from their claims in the open transactions of the application. A rollback to a
 * savepoint may have undone the change, but not the locks of these jobs.
 */
export class ChangedJobs implements EntitySubscriberInterface {
  readonly #ids = new WeakMap<QueryRunner, Set<number>>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  add(transaction: CallerTransaction, ids: readonly number[]): void {
    const runner = queryRunnerOf(transaction);
    if (!runner) return;
    const known = this.#ids.get(runner) ?? new Set();
    for (const id of ids) known.add(id);
    this.#ids.set(runner, known);
  }

  of(transaction: CallerTransaction): ReadonlySet<number> {
    const runner = queryRunnerOf(transaction);
    return (runner && this.#ids.get(runner)) ?? NONE;
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    this.#forgetEnded(queryRunner);
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    this.#forgetEnded(queryRunner);
  }

  // If the runner is still active, only a savepoint has ended.
  #forgetEnded(runner: QueryRunner): void {
    if (!runner.isTransactionActive) this.#ids.delete(runner);
  }

  stop(): void {
    const { subscribers } = this.dataSource;
    const index = subscribers.indexOf(this);
    if (index >= 0) subscribers.splice(index, 1);
  }
}

/** Adds the jobs that the work in a caller's transaction changes. */
export function notingChanges(database: SqlDatabase, changedJobs: Pick<ChangedJobs, 'add'>): SqlDatabase {
  return {
    ...database,
    holdCallerTransaction: (transaction, act) =>
      database.holdCallerTransaction(transaction, (send) =>
        act((work) =>
          send(() =>
            relay(work(), function* (step) {
              if (step.changes)
                changedJobs.add(
                  transaction,
                  step.changes.map(({ job }) => job.id),
                );
              return yield step;
            }),
          ),
        ),
      ),
  };
}
