import type { CommitListener } from './commit-listener.js';
import type { CallerTransaction } from './caller-transaction.js';
import type { ApplicationWork } from './application-transaction.js';
import { withOutbox, withOutboxInFinalWrites, type EmitsEvents } from './event-outbox.js';
import type { SqlDatabase } from './sql-database.js';
import type { StatementResult, FinalWrites, Statement, Work } from './statement.js';

export interface EventOutbox {
  readonly emitsEvents: EmitsEvents;
  /** Not called if the outcome of the commit is unknown. */
  readonly onEventsCommitted: () => void;
}

/**
 * Stores the events of a transaction in the same transaction, so that an event exists if and only if its change does.
 * Work reports its changes with `emit`. A queue without stored events costs nothing.
 */
export class EventOutboxDatabase implements SqlDatabase {
  constructor(
    private readonly database: SqlDatabase,
    private readonly commits: Pick<CommitListener, 'afterCommit'>,
    private readonly outbox: EventOutbox,
  ) {}

  emitsEvents(queue: string): boolean {
    return this.outbox.emitsEvents(queue);
  }

  transaction<T>(work: () => Work<T>, maxLockWaits?: number): Promise<T> {
    return this.#withCommitCallback((onEmitted) => {
      return this.database.transaction(() => withOutbox(work(), this.outbox.emitsEvents, onEmitted), maxLockWaits);
    });
  }

  decideOnce<T>(work: () => Work<FinalWrites<T>>): Promise<T> {
    return this.#withCommitCallback((onEmitted) => {
      return this.database.decideOnce(() => withOutboxInFinalWrites(work(), this.outbox.emitsEvents, onEmitted));
    });
  }

  transactOnce<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    return this.#withCommitCallback((onEmitted) => {
      return this.database.transactOnce(() => withOutbox(work(), this.outbox.emitsEvents, onEmitted), hasWritten);
    });
  }

  inCallerTransaction<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    const act = (onEmitted: () => void) =>
      this.database.inCallerTransaction(transaction, () => withOutbox(work(), this.outbox.emitsEvents, onEmitted));
    return this.#withCommitCallback(act, () => this.commits.afterCommit(transaction, this.outbox.onEventsCommitted));
  }

  runIdempotent<T>(work: () => Work<T>): Promise<T> {
    return this.database.runIdempotent(work);
  }

  writeOnce(writes: readonly Statement[]): Promise<readonly StatementResult[]> {
    return this.database.writeOnce(writes);
  }

  requireOpenTransaction(transaction: CallerTransaction): void {
    this.database.requireOpenTransaction(transaction);
  }

  readLatest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    return this.database.readLatest(work, transaction);
  }

  inApplicationTransaction<T>(work: ApplicationWork<T>): Promise<T> {
    return this.database.inApplicationTransaction(work);
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async #withCommitCallback<T>(
    act: (onEmitted: () => void) => Promise<T>,
    onCommitted = this.outbox.onEventsCommitted,
  ): Promise<T> {
    let hasEvents = false;
    const value = await act(() => (hasEvents = true));
    if (hasEvents) onCommitted();
    return value;
  }
}
