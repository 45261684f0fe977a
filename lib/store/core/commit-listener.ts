import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { queryRunnerOf, type CallerTransaction } from './caller-transaction.js';

/** Runs callbacks after the application's transactions commit, by TypeORM's events. */
export class CommitListener implements EntitySubscriberInterface {
  readonly #pending = new WeakMap<QueryRunner, (() => void)[]>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  /** Calls `act` after the commit, never after a rollback; at once if no transaction is open. */
  afterCommit(transaction: CallerTransaction, act: () => void): void {
    const runner = queryRunnerOf(transaction);
    if (!runner?.isTransactionActive) return act();
    const pending = this.#pending.get(runner);
    if (pending) pending.push(act);
    else this.#pending.set(runner, [act]);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    // If the runner is still active, only a savepoint was released.
    if (queryRunner.isTransactionActive) return;
    const pending = this.#pending.get(queryRunner) ?? [];
    this.#pending.delete(queryRunner);
    pending.forEach((act) => act());
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) this.#pending.delete(queryRunner);
  }

  stop(): void {
    const { subscribers } = this.dataSource;
    const index = subscribers.indexOf(this);
    if (index >= 0) subscribers.splice(index, 1);
  }
}
