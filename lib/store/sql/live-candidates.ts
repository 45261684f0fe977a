import type { PageOrder } from '../../job/page-options.js';
import {
  among,
  byId,
  inOrderOf,
  inRanges,
  merged,
  MOST,
  startOf,
  together,
  wordsOf,
  type Candidates,
  type ReadCandidates,
  type QueueNames,
  type Range,
} from './candidates.js';
import { readIds } from '../../job/read-columns.js';
import { query, type SqlValue, type Work } from './statement.js';

const INDEX = '{jobs} /*! FORCE INDEX ({jobs}_claim) */';

const CLAIMED_IDS = `
  SELECT job_ids
  FROM {claims}
  WHERE :queue IS NULL OR queue = :queue`;

const SCHEDULED_IDS = `
  SELECT id
  FROM ${INDEX}
  WHERE queue = :queue AND runnable = 0 AND id <= :most
  LIMIT :limit`;

// Only on SQLite does a plain INSERT leave a delayed job runnable.
const PLAIN_SCHEDULED_IDS = `
  SELECT id
  FROM ${INDEX}
  WHERE queue = :queue AND runnable = 1 AND run_at > 0 AND id <= :most /*! AND FALSE */
  LIMIT :limit`;

const QUEUES_AT_A_TIME = 16;
// A list with more ranges than this is read along the key of the table.
const MAX_RANGES = 64;
// More scheduled jobs of one queue are not sorted by their ids.
const MAX_SORTED = 5_000;

/** Jobs that workers and consumers have, by id: the claims are few. */
export function* claimed(queue: string | null, order: PageOrder): Work<ReadCandidates> {
  const claims = yield* query<{ job_ids: string }>(CLAIMED_IDS, { queue });
  return among(
    claims.flatMap(({ job_ids }) => readIds(job_ids) ?? []),
    order,
  );
}

/** Scheduled jobs by the time at which they are due, then by priority and id, as index claim has them. */
export function* scheduled(queue: string | undefined, order: PageOrder, dialect: QueueNames): Work<ReadCandidates> {
  const queues = queue === undefined ? yield* dialect.queueNames('jobs') : [queue];
  const { beyond, way } = wordsOf(order);
  // Written out as ranges: a row constructor would not narrow the scan.
  const beyondPlace = `(run_at ${beyond} :runAt OR (run_at = :runAt AND priority ${beyond} :priority)
        OR (run_at = :runAt AND priority = :priority AND id ${beyond} :id))`;
  const ranges = [`runnable = 0 AND ${beyondPlace}`, `runnable = 1 AND run_at > 0 AND ${beyondPlace} /*! AND FALSE */`];
  const placesOf = (count: number) =>
    Array.from({ length: count }, (_, place) => place).flatMap((place) =>
      ranges.map(
        (range, index) => `
    SELECT run_at, priority, id
    FROM (
      SELECT run_at, priority, id
      FROM ${INDEX}
      WHERE queue = :queue${place} AND ${range} AND id <= :most AND run_at <= :most
      ORDER BY run_at ${way}, priority ${way}, id ${way}
      LIMIT :limit
    ) AS place_${place}_${index}`,
      ),
    );
  return function* (after, limit) {
    const [runAt, priority, id] = after ?? [startOf(order), 0, 0];
    const lists: Candidates[] = [];
    for (let first = 0; first < queues.length; first += QUEUES_AT_A_TIME) {
      const names = queues.slice(first, first + QUEUES_AT_A_TIME);
      const named = Object.fromEntries(names.map((each, place) => [`queue${place}`, each]));
      const values = { ...named, most: MOST, runAt: runAt!, priority: priority!, id: id!, limit };
      const sql = placesOf(names.length).join(' UNION ALL ');
      const rows = yield* query<Record<'run_at' | 'priority' | 'id', number>>(sql, values);
      const found = rows.map((row) => {
        return { id: Number(row.id), position: [Number(row.run_at), Number(row.priority), Number(row.id)] };
      });
      // Each range has been read up to the limit, so the first ones of all are among these.
      const some = inOrderOf(found, order).slice(0, limit);
      lists.push({ some, isEnd: found.length < limit });
    }
    return merged(lists, limit, order);
  };
}

/** Waiting jobs by id, and active ones among them: a claim changes no column of the index. */
export function* waiting(queue: string | undefined, order: PageOrder, names: QueueNames): Work<ReadCandidates> {
  const ranges = yield* rangesOf(queue === undefined ? yield* names.queueNames('jobs') : [queue]);
  return ranges ? inRanges(ranges, order) : byId('jobs', order);
}

/** All jobs of a queue by id. */
export function* liveOf(queue: string, order: PageOrder): Work<ReadCandidates> {
  const limit = MAX_SORTED + 1;
  const later = [
    ...(yield* query<{ id: number }>(SCHEDULED_IDS, { queue, limit, most: MOST })),
    ...(yield* query<{ id: number }>(PLAIN_SCHEDULED_IDS, { queue, limit, most: MOST })),
  ].map(({ id }) => Number(id));
  const ranges = later.length > MAX_SORTED ? undefined : yield* rangesOf([queue]);
  return ranges ? together([among(later, order), inRanges(ranges, order)], order) : byId('jobs', order);
}

/** The ranges of index claim in which ids are in order, one for each priority; undefined if there are too many. */
function* rangesOf(queues: readonly string[]): Work<Range[] | undefined> {
  if (queues.length > QUEUES_AT_A_TIME) return undefined;
  const ranges: Range[] = [];
  let open = queues.flatMap((queue) => [1, 2].map((runnable) => ({ queue, runnable, last: -32_769 })));
  while (open.length > 0) {
    const values: Record<string, SqlValue> = {};
    const next = open.map((place, index) => {
      Object.assign(values, { [`queue${index}`]: place.queue, [`runnable${index}`]: place.runnable });
      values[`last${index}`] = place.last;
      return `(
      SELECT priority
      FROM ${INDEX}
      WHERE queue = :queue${index} AND runnable = :runnable${index} AND run_at IS NULL AND priority > :last${index}
      ORDER BY priority
      LIMIT 1) AS place_${index}`;
    });
    const [row] = yield* query<Record<string, number | null>>(`SELECT ${next.join(', ')}`, values);
    open = open.flatMap(({ queue, runnable }, index) => {
      const last = row![`place_${index}`];
      return last === null || last === undefined ? [] : [{ queue, runnable, last }];
    });
    for (const { queue, runnable, last } of open) {
      ranges.push({ from: INDEX, values: { queue, runnable, priority: last }, also: 'run_at IS NULL' });
    }
    if (ranges.length > MAX_RANGES) return undefined;
  }
  return ranges;
}
