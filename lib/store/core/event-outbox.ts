import { lengthOf, rowChunks } from './row-chunks.js';
import {
  relay,
  Rows,
  executeAll,
  type JobEvent,
  type FinalWrites,
  type SqlValue,
  type Statement,
  type Work,
} from './statement.js';

const INSERT_EVENTS = `
  INSERT INTO {events} (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES :rows`;

const EVENT_ROW = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)`;

/** Whether the events of the queue's jobs are stored. */
export type EmitsEvents = (queue: string) => boolean;

// Longer events are sent alone: with other statements they could exceed max_allowed_packet.
const MAX_DEFERRED_LENGTH = 100_000;

/**
 * Wraps work so that it also stores the events that it emits. They are sent with its next statements, so they cost a
 * round trip only if no statement follows.
 *
 * @param onEmitted called when the work emits an event to store, before the commit
 */
export function* withOutbox<T>(work: Work<T>, emitsEvents: EmitsEvents, onEmitted: () => void): Work<T> {
  const [value, deferred] = yield* collectEvents(work, emitsEvents, onEmitted);
  yield* executeAll(deferred);
  return value;
}

/** Like `withOutbox`, for work that returns its last writes instead of sending them. */
export function* withOutboxInFinalWrites<T>(
  work: Work<FinalWrites<T>>,
  emitsEvents: EmitsEvents,
  onEmitted: () => void,
): Work<FinalWrites<T>> {
  const [value, deferred] = yield* collectEvents(work, emitsEvents, onEmitted);
  return { ...value, writes: [...value.writes, ...deferred] };
}

/** Returns the value of the work and the events that no statement has carried yet: one short statement, or none. */
function* collectEvents<T>(work: Work<T>, emitsEvents: EmitsEvents, onEmitted: () => void): Work<[T, Statement[]]> {
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
