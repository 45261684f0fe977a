import { readError } from '../../../job/read-columns.js';
import type { EventStore, RecordedEvent } from './event-store.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { deleteFrom, execute, Ids, query, type Values, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';

const LAST_IDS = `
  SELECT id
  FROM {events}
  WHERE id > 0 AND id <= ${Number.MAX_SAFE_INTEGER}
  ORDER BY id DESC
  LIMIT :limit`;

const COLUMNS = 'id, event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at';

const AFTER = `
  SELECT ${COLUMNS}
  FROM {events}
  WHERE id > :id AND id <= ${Number.MAX_SAFE_INTEGER}
  ORDER BY id
  LIMIT :limit`;

const BY_IDS = `
  SELECT ${COLUMNS}
  FROM {events}
  WHERE id IN (:ids)
  ORDER BY id`;

// Examines the events with the smallest ids. A long transaction may have left a recent event among them, which stays
// until it expires. Skips any number of locked rows. The locks end with the statement.
const OLDEST_EVENTS = `
  SELECT id, CASE WHEN recorded_at <= :now - :keptMs THEN 1 ELSE 0 END AS is_expired
  FROM {events} {by primary}
  WHERE id > 0
  ORDER BY id
  LIMIT :limit {lock free}`;

const DELETE_EXPIRED = deleteFrom('events', ':ids AND recorded_at <= :now - :keptMs');

/** A process that reconnects to the database within this time misses no event. */
export const EVENT_RETENTION_MS = 600_000;

export function sqlEventStore({ database }: StoreParts): EventStore {
  const read = async (sql: string, values: Values) =>
    (await database.runIdempotent(() => query<TableRow<'events'>>(sql, values))).map(toRecordedEvent);
  return {
    async lastIds(limit) {
      const rows = await database.runIdempotent(() => query<{ id: number }>(LAST_IDS, { limit }));
      return rows.map(({ id }) => Number(id)).reverse();
    },

    readAfter: (id, limit) => read(AFTER, { id, limit }),
    readByIds: async (ids) => (ids.length === 0 ? [] : read(BY_IDS, { ids })),
    pruneEvents: (limit) => database.runIdempotent(() => pruneEvents(limit)),
  };
}

function* pruneEvents(limit: number): Work<number> {
  const keptMs = EVENT_RETENTION_MS;
  const oldest = yield* query<{ id: number; is_expired: number }>(OLDEST_EVENTS, { limit, keptMs });
  const expired = oldest.filter((row) => Number(row.is_expired) === 1);
  if (expired.length === 0) return 0;
  return yield* execute(DELETE_EXPIRED, { ids: new Ids(expired.map(({ id }) => Number(id))), keptMs });
}

function toRecordedEvent({ event, queue, name, attempt, owner, ...row }: TableRow<'events'>): RecordedEvent {
  const error = readError(row.error);
  return {
    id: Number(row.id),
    event: {
      event,
      queue,
      jobId: Number(row.job_id),
      name,
      attempt,
      owner,
      ranMs: row.ran_ms === null ? null : Number(row.ran_ms),
      at: new Date(Number(row.recorded_at)),
      ...(event === 'completed' ? { result: parseJsonOrNull<unknown>(row.result) ?? undefined } : {}),
      ...(error === null ? {} : { error }),
      ...(row.delay_ms === null ? {} : { delayMs: Number(row.delay_ms) }),
    },
  };
}
