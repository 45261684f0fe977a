import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { CallerTransaction } from './job-store.js';
import { runnerOf } from './sql/callers-transaction.js';

/** Knows when the application's transactions have committed, from TypeORM's own events. */
export class CommitListener implements EntitySubscriberInterface {
  readonly #pending = new WeakMap<QueryRunner, (() => void)[]>();

  constructor(private readonly dataSource: DataSource) {
    this.#subscribers().push(this);
  }

  after(transaction: CallerTransaction, act: () => void): void {
    const runner = runnerOf(transaction);
    if (!runner?.isTransactionActive) return act();
    const pending = this.#pending.get(runner);
    if (pending) pending.push(act);
    else this.#pending.set(runner, [act]);
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    // Still active: only a savepoint was released.
    if (queryRunner.isTransactionActive) return;
    const pending = this.#pending.get(queryRunner) ?? [];
    this.#pending.delete(queryRunner);
    pending.forEach((act) => act());
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) this.#pending.delete(queryRunner);
  }

  stop(): void {
    const subscribers = this.#subscribers();
    const place = subscribers.indexOf(this);
    if (place >= 0) subscribers.splice(place, 1);
  }

  #subscribers(): EntitySubscriberInterface[] {
    return this.dataSource.subscribers;
  }
}
