import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { queryRunnerOf, transactionDepth, type CallerTransaction } from './caller-transaction.js';

interface PendingAct {
  readonly act: () => void;
  /** The nesting depth of the transaction to which the act belongs: 1 for the outermost. */
  depth: number;
}

/** Runs callbacks after the application's transactions commit, by TypeORM's events. */
export class CommitListener implements EntitySubscriberInterface {
  readonly #pending = new WeakMap<QueryRunner, PendingAct[]>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  /** Calls `act` after the commit, never after a rollback; at once if no transaction is open. */
  afterCommit(transaction: CallerTransaction, act: () => void): void {
    const runner = queryRunnerOf(transaction);
    if (!runner?.isTransactionActive) return act();
    const pending = this.#pending.get(runner);
    const added: PendingAct = { act, depth: transactionDepth(runner) };
    if (pending) pending.push(added);
    else this.#pending.set(runner, [added]);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    const pending = this.#pending.get(queryRunner) ?? [];
    // If the runner is still active, only a savepoint was released. Its acts then belong to the transaction around it.
    if (queryRunner.isTransactionActive) {
      const depth = transactionDepth(queryRunner);
      for (const each of pending) each.depth = Math.min(each.depth, depth);
      return;
    }
    this.#pending.delete(queryRunner);
    pending.forEach(({ act }) => act());
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    const depth = queryRunner.isTransactionActive ? transactionDepth(queryRunner) : 0;
    const pending = (this.#pending.get(queryRunner) ?? []).filter((each) => each.depth <= depth);
    this.#pending.set(queryRunner, pending);
  }

  stop(): void {
    const { subscribers } = this.dataSource;
    const index = subscribers.indexOf(this);
    if (index >= 0) subscribers.splice(index, 1);
  }
}
