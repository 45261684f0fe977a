import type { ClaimedJob } from '../../job/job.js';
import type { JobEventName } from '../../job/queue-event.js';
import type { CommitListener } from './caller-transaction.js';
import type { SqlDatabase } from './sql-database.js';
import {
  executeAll,
  valuesLengthOf,
  relay,
  rowChunks,
  type FinalWrites,
  type JobEvent,
  type JobEventSource,
  type SqlValue,
  type Statement,
  type Work,
} from './statement.js';

export type EventJob = Pick<ClaimedJob, 'id' | 'queue' | 'name'> & Partial<Pick<ClaimedJob, 'attempt'>>;

/** @param owner the owner that now holds the jobs */
export function jobEventsOf(event: JobEventName, jobs: readonly EventJob[], owner?: string): JobEventSource {
  return (isRecorded) =>
    jobs
      .filter(({ queue }) => isRecorded(queue))
      .map(({ id, queue, name, attempt = 0 }) => ({
        event,
        queue,
        jobId: Number(id),
        name,
        attempt,
        owner: owner ?? null,
      }));
}

const INSERT_EVENTS = `
  INSERT INTO {events} (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)`;

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
 * Work reports its changes with `recordEvents`. A queue without stored events costs nothing.
 */
export function withEventOutbox(
  database: SqlDatabase,
  commits: Pick<CommitListener, 'afterCommit'>,
  { emitsEvents, onEventsCommitted }: EventOutbox,
): SqlDatabase {
  /** @param act calls `onEmitted` when the work emits an event to store, before the commit */
  const withCommitCallback = async <T>(
    act: (onEmitted: () => void) => Promise<T>,
    onCommitted = onEventsCommitted,
  ): Promise<T> => {
    let hasEvents = false;
    const value = await act(() => (hasEvents = true));
    if (hasEvents) onCommitted();
    return value;
  };

  /** Returns the value of the work and the events that no statement has carried yet: one short statement, or none. */
  function* collectEvents<T>(work: Work<T>, onEmitted: () => void): Work<[T, Statement[]]> {
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

  /** Sends the events with the next statements of the work, so they cost a round trip only if no statement follows. */
  function* storeEvents<T>(work: Work<T>, onEmitted: () => void): Work<T> {
    const [value, deferred] = yield* collectEvents(work, onEmitted);
    yield* executeAll(deferred);
    return value;
  }

  function* addToFinalWrites<T>(work: Work<FinalWrites<T>>, onEmitted: () => void): Work<FinalWrites<T>> {
    const [value, deferred] = yield* collectEvents(work, onEmitted);
    return { ...value, writes: [...value.writes, ...deferred] };
  }

  return {
    transaction: (work, maxLockWaits) =>
      withCommitCallback((onEmitted) => database.transaction(() => storeEvents(work(), onEmitted), maxLockWaits)),
    decideOnce: (work) =>
      withCommitCallback((onEmitted) => database.decideOnce(() => addToFinalWrites(work(), onEmitted))),
    transactOnce: (work, hasWritten) =>
      withCommitCallback((onEmitted) => database.transactOnce(() => storeEvents(work(), onEmitted), hasWritten)),
    holdCallerTransaction: (transaction, act) =>
      database.holdCallerTransaction(transaction, (send) =>
        act((work) =>
          withCommitCallback(
            (onEmitted) => send(() => storeEvents(work(), onEmitted)),
            () => commits.afterCommit(transaction, onEventsCommitted),
          ),
        ),
      ),
    runIdempotent: (work) => database.runIdempotent(work),
    writeOnce: (writes) => database.writeOnce(writes),
    readLatest: (work, transaction) => database.readLatest(work, transaction),
    inApplicationTransaction: (work) => database.inApplicationTransaction(work),
    close: () => database.close(),
  };
}

/** Returns the INSERT if it is short enough to be sent with later statements. Otherwise sends it. */
function* insertOrDefer(events: readonly JobEvent[]): Work<Statement[]> {
  for (const rows of rowChunks(eventRows(events))) {
    const insert = { sql: INSERT_EVENTS, values: { rows } };
    if (rows.length === events.length && valuesLengthOf(rows.flat()) <= MAX_DEFERRED_LENGTH) return [insert];
    yield* executeAll([insert]);
  }
  return [];
}

function* eventRows(events: readonly JobEvent[]): Generator<SqlValue[]> {
  for (const event of events) yield toEventRow(event);
}

function toEventRow(emitted: JobEvent): SqlValue[] {
  const { event, queue, jobId, name, attempt, ranMs, delayMs, result, error, owner } = emitted;
  const ran = typeof ranMs === 'number' ? Math.round(ranMs) : null;
  const ended = [delayMs ?? null, result ?? null, error ? JSON.stringify(error) : null, owner || null];
  return [event, queue, jobId, name, attempt, ran, ...ended];
}
