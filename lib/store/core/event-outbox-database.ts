import type { CommitListener } from './commit-listener.js';
import type { CallerTransaction } from './caller-transaction.js';
import type { ApplicationWork } from './application-transaction.js';
import type { SqlDatabase } from './sql-database.js';
import {
  executeAll,
  lengthOf,
  relay,
  rowChunks,
  Rows,
  type FinalWrites,
  type JobEvent,
  type SqlValue,
  type Statement,
  type StatementResult,
  type Work,
} from './statement.js';

const INSERT_EVENTS = `
  INSERT INTO {events} (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES :rows`;

const EVENT_ROW = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)`;

// Longer events are sent alone: with other statements they could exceed max_allowed_packet.
const MAX_DEFERRED_LENGTH = 100_000;

export interface EventOutbox {
  /** Whether the events of the queue's jobs are stored. */
  readonly emitsEvents: (queue: string) => boolean;
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
    readonly outbox: EventOutbox,
  ) {}

  transaction<T>(work: () => Work<T>, maxLockWaits?: number): Promise<T> {
    return this.#withCommitCallback((onEmitted) =>
      this.database.transaction(() => this.#storeEvents(work(), onEmitted), maxLockWaits),
    );
  }

  decideOnce<T>(work: () => Work<FinalWrites<T>>): Promise<T> {
    return this.#withCommitCallback((onEmitted) =>
      this.database.decideOnce(() => this.#addToFinalWrites(work(), onEmitted)),
    );
  }

  transactOnce<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    return this.#withCommitCallback((onEmitted) =>
      this.database.transactOnce(() => this.#storeEvents(work(), onEmitted), hasWritten),
    );
  }

  inCallerTransaction<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    return this.#withCommitCallback(
      (onEmitted) => this.database.inCallerTransaction(transaction, () => this.#storeEvents(work(), onEmitted)),
      () => this.commits.afterCommit(transaction, this.outbox.onEventsCommitted),
    );
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

  /** @param act calls `onEmitted` when the work emits an event to store, before the commit */
  async #withCommitCallback<T>(
    act: (onEmitted: () => void) => Promise<T>,
    onCommitted = this.outbox.onEventsCommitted,
  ): Promise<T> {
    let hasEvents = false;
    const value = await act(() => (hasEvents = true));
    if (hasEvents) onCommitted();
    return value;
  }

  /** Sends the events with the next statements of the work, so they cost a round trip only if no statement follows. */
  *#storeEvents<T>(work: Work<T>, onEmitted: () => void): Work<T> {
    const [value, deferred] = yield* this.#collectEvents(work, onEmitted);
    yield* executeAll(deferred);
    return value;
  }

  *#addToFinalWrites<T>(work: Work<FinalWrites<T>>, onEmitted: () => void): Work<FinalWrites<T>> {
    const [value, deferred] = yield* this.#collectEvents(work, onEmitted);
    return { ...value, writes: [...value.writes, ...deferred] };
  }

  /** Returns the value of the work and the events that no statement has carried yet: one short statement, or none. */
  *#collectEvents<T>(work: Work<T>, onEmitted: () => void): Work<[T, Statement[]]> {
    const { emitsEvents } = this.outbox;
    let deferred: Statement[] = [];
    const value = yield* relay(work, function* ({ statements, events: eventsOf, isLast = false }) {
      if (!eventsOf) {
        const results = yield { statements: [...statements, ...deferred.splice(0)], isLast };
        return results.slice(0, statements.length);
      }
      const events = eventsOf(emitsEvents);
      if (events.length === 0) return [];
      onEmitted();
      yield* executeAll(deferred);
      deferred = yield* insertOrDefer(events);
      return [];
    });
    return [value, deferred];
  }
}

/** Returns the INSERT if it is short enough to be sent with later statements. Otherwise sends it. */
function* insertOrDefer(events: readonly JobEvent[]): Work<Statement[]> {
  const chunks = rowChunks(events.map(toEventRow));
  const statements = chunks.map((rows) => ({ sql: INSERT_EVENTS, values: { rows: new Rows(EVENT_ROW, rows) } }));
  if (chunks.length === 1 && lengthOf(chunks[0]!.flat()) <= MAX_DEFERRED_LENGTH) return statements;
  for (const statement of statements) yield* executeAll([statement]);
  return [];
}

function toEventRow(emitted: JobEvent): SqlValue[] {
  const { event, queue, jobId, name, attempt, ranMs, delayMs, result, error, owner } = emitted;
  const ran = typeof ranMs === 'number' ? Math.round(ranMs) : null;
  const ended = [delayMs ?? null, result ?? null, error ? JSON.stringify(error) : null, owner || null];
  return [event, queue, jobId, name, attempt, ran, ...ended];
}
