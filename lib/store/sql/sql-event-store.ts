import type { ChangeName } from '../../job/queue-event.js';
import { readError } from '../../job/read-columns.js';
import type * as port from '../event-store.js';
import { parseOr } from './claimed-row.js';
import type { SqlDatabase } from './sql-database.js';
import { change, Ids, query, type Work } from './statement.js';

const LAST = `
  SELECT MAX(id) AS id
  FROM {events}
  WHERE id <= ${Number.MAX_SAFE_INTEGER}`;

const COLUMNS = 'id, event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at';

const AFTER = `
  SELECT ${COLUMNS}
  FROM {events}
  WHERE id > :id AND id <= ${Number.MAX_SAFE_INTEGER}
  ORDER BY id
  LIMIT :limit`;

const AMONG = `
  SELECT ${COLUMNS}
  FROM {events}
  WHERE id IN (:ids)
  ORDER BY id`;

// A transaction that took long may have left a younger id in front of older ones: those wait for it. Passes over rows that
// another transaction has locked, however many. The locks end with the statement.
const OLDEST = `
  SELECT id, CASE WHEN recorded_at <= :now - :keptMs THEN 1 ELSE 0 END AS is_expired
  FROM {events} /*! FORCE INDEX (PRIMARY) */
  WHERE id > 0
  ORDER BY id
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

const FORGET = `
  DELETE /*! {events} */ FROM {events} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND recorded_at <= :now - :keptMs`;

/** How long a process that cannot reach the database can hear afterwards what it missed. */
export const EVENTS_KEPT_MS = 600_000;

interface EventRow {
  id: number;
  event: string;
  queue: string;
  job_id: number;
  name: string;
  attempt: number;
  ran_ms: number | null;
  delay_ms: number | null;
  result: string | null;
  error: string | null;
  owner: string | null;
  recorded_at: number;
}

export class SqlEventStore implements port.EventStore {
  constructor(private readonly database: SqlDatabase) {}

  async last(): Promise<number | undefined> {
    const [row] = await this.database.repeatable(() => query<{ id: number | null }>(LAST));
    return row!.id === null ? undefined : Number(row!.id);
  }

  async after(id: number, limit: number): Promise<port.RecordedEvent[]> {
    return (await this.database.repeatable(() => query<EventRow>(AFTER, { id, limit }))).map(recordedEvent);
  }

  async among(ids: readonly number[]): Promise<port.RecordedEvent[]> {
    if (ids.length === 0) return [];
    return (await this.database.repeatable(() => query<EventRow>(AMONG, { ids }))).map(recordedEvent);
  }

  pruneEvents(limit: number): Promise<number> {
    return this.database.repeatable(() => pruneEvents(limit));
  }
}

function* pruneEvents(limit: number): Work<number> {
  const oldest = yield* query<{ id: number; is_expired: number }>(OLDEST, { limit, keptMs: EVENTS_KEPT_MS });
  const expired = oldest.filter((row) => Number(row.is_expired) === 1);
  if (expired.length === 0) return 0;
  return yield* change(FORGET, { ids: new Ids(expired.map(({ id }) => Number(id))), keptMs: EVENTS_KEPT_MS });
}

function recordedEvent({ event, queue, name, attempt, result, error, owner, ...row }: EventRow): port.RecordedEvent {
  return {
    ...{ id: Number(row.id), event: event as ChangeName, queue, jobId: Number(row.job_id), name, attempt, owner },
    ranMs: row.ran_ms === null ? null : Number(row.ran_ms),
    delayMs: row.delay_ms === null ? null : Number(row.delay_ms),
    result: parseOr<unknown>(result) ?? undefined,
    error: readError(error),
    atMs: Number(row.recorded_at),
  };
}
