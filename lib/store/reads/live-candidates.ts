import type { PageOrder } from '../../job/page-options.js';
import {
  candidatesAmong,
  candidatesById,
  sortByPosition,
  candidatesInRanges,
  isAfter,
  mergePages,
  MAX_POSITION_VALUE,
  startValueOf,
  orderKeywordsOf,
  type CandidatePage,
  type ReadCandidates,
  type QueueNames,
  type IndexRange,
} from './candidates.js';
import { readIds } from '../../job/read-columns.js';
import { ARRIVING, BLOCKED, IN_GROUP, IN_QUEUE, IN_STAGE, RETURNED, SCHEDULED } from '../tables/runnable.js';
import { nextRanges, type FirstOfRange } from './next-ranges.js';
import { idsOf } from '../../job/identifiers.js';
import { query, type SqlValue, type Work } from '../core/statement.js';

const INDEX = '{jobs} {by jobs.queue}';

const CLAIMED_IDS = `
  SELECT job_ids
  FROM {claims}
  WHERE (:queue IS NULL OR queue = :queue) AND (:owner IS NULL OR owner = :owner)
    AND (:worker IS NULL OR worker_id = :worker)`;

const SCHEDULED_IDS = `
  SELECT id
  FROM ${INDEX}
  WHERE queue = :queue AND runnable = ${SCHEDULED} AND id <= :most
  LIMIT :limit`;

// On SQLite a plain INSERT by another program leaves a delayed job runnable. The other databases skip this query.
const PLAIN_SCHEDULED_IDS = `
  SELECT id
  FROM ${INDEX}
  WHERE queue = :queue AND runnable = ${IN_QUEUE} AND run_at > 0 AND id <= :most {only sqlite}
  LIMIT :limit`;

// Jobs that wait in groups or return to them, and jobs of groups that other programs or stages have. One range of the index
// per subquery: with bad statistics, servers read the whole index for several ranges.
const RANGES_WITHOUT_GROUPS = [IN_QUEUE, IN_STAGE, BLOCKED];
const RANGES_WITH_GROUPS = [IN_QUEUE, IN_STAGE, IN_GROUP, ARRIVING, RETURNED, BLOCKED];
const withGroup = (queueIndex: number, runnable: number) => `EXISTS (
      SELECT 1
      FROM ${INDEX}
      WHERE queue = :queue${queueIndex} AND runnable = ${runnable} AND run_at IS NULL AND group_key > ''
    )`;

const QUEUE_BATCH_SIZE = 16;
// A list with more ranges, or with more scheduled jobs of one queue, is read in the order of the primary key.
const MAX_RANGES = 64;
const MAX_SORTED = 5_000;

/** The scheduled jobs of a queue, or those that a plain INSERT into SQLite has left runnable. */
type ScheduledRange = Readonly<{ queue: string; isPlain: boolean }>;

/** The conditions on claims. */
type ClaimFilter = Readonly<Partial<Record<'queue' | 'owner' | 'worker', string | null | undefined>>>;

/** Reads all claims, because they are few. */
export function* idsInClaims({ queue = null, owner = null, worker = null }: ClaimFilter): Work<number[]> {
  const claims = yield* query<{ job_ids: string }>(CLAIMED_IDS, { queue, owner, worker });
  return claims.flatMap(({ job_ids }) => readIds(job_ids) ?? []);
}

export function* selectClaimed(filter: ClaimFilter, order: PageOrder): Work<ReadCandidates> {
  return candidatesAmong(yield* idsInClaims(filter), order);
}

/** Scheduled jobs by due time, group, priority and id, which is the order of index queue. */
export function* selectScheduled(
  queue: string | undefined,
  order: PageOrder,
  dialect: QueueNames,
): Work<ReadCandidates> {
  const queues = queue === undefined ? yield* dialect.queueNames('jobs') : [queue];
  const { beyond, way } = orderKeywordsOf(order);
  // Spelled out as ranges, because a row constructor does not narrow the scan.
  const beyondCursor = `(run_at ${beyond} :runAt OR (run_at = :runAt AND group_key ${beyond} :group)
        OR (run_at = :runAt AND group_key = :group AND priority ${beyond} :priority)
        OR (run_at = :runAt AND group_key = :group AND priority = :priority AND id ${beyond} :id))`;
  const ranges = [
    `runnable = ${SCHEDULED} AND ${beyondCursor}`,
    `runnable = ${IN_QUEUE} AND run_at > 0 AND ${beyondCursor} {only sqlite}`,
  ];
  const selectsOf = (count: number) =>
    Array.from({ length: count }, (_, queueIndex) => queueIndex).flatMap((queueIndex) =>
      ranges.map(
        (range, rangeIndex) => `
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM ${INDEX}
      WHERE queue = :queue${queueIndex} AND ${range} AND id <= :most AND run_at <= :most
      ORDER BY run_at ${way}, group_key ${way}, priority ${way}, id ${way}
      LIMIT :limit
    ) AS range_${queueIndex}_${rangeIndex}`,
      ),
    );
  return function* (after, limit) {
    const [runAt, group, priority, id] = after ?? [startValueOf(order), '', 0, 0];
    const cursor = { runAt: runAt!, group: group!, priority: priority!, id: id! };
    const bounds = { runAt: runAt!, most: MAX_POSITION_VALUE };
    const firstOf = (range: ScheduledRange) => firstDueOf(range, order);
    const all = queues.flatMap((name) => [false, true].map((isPlain): ScheduledRange => ({ queue: name, isPlain })));
    for (let most = limit; ; most *= 4) {
      const { chosen, rest } = yield* nextRanges(all, most, order, bounds, firstOf);
      const page = yield* readQueues([...new Set(chosen.map((range) => range.queue))]);
      if (rest === undefined) return page;
      // Jobs of the other queues are due from then on.
      const before = page.candidates.filter(({ position }) => isAfter([rest], [position[0]!], order));
      if (before.length > 0) return { candidates: before, isEnd: false };
    }
    function* readQueues(names: readonly string[]): Work<CandidatePage> {
      const lists: CandidatePage[] = [];
      for (let first = 0; first < names.length; first += QUEUE_BATCH_SIZE) {
        const batch = names.slice(first, first + QUEUE_BATCH_SIZE);
        const queueValues = Object.fromEntries(batch.map((name, index) => [`queue${index}`, name]));
        const values = { ...queueValues, ...cursor, most: MAX_POSITION_VALUE, limit };
        const sql = selectsOf(batch.length).join(' UNION ALL ');
        const rows = yield* query<Record<'run_at' | 'priority' | 'id', number> & { group_key: string }>(sql, values);
        const found = rows.map((row) => {
          const position = [Number(row.run_at), row.group_key, Number(row.priority), Number(row.id)];
          return { id: Number(row.id), position };
        });
        // Each range is read up to the limit, so the first `limit` jobs of all ranges are among these.
        const firstFound = sortByPosition(found, order).slice(0, limit);
        lists.push({ candidates: firstFound, isEnd: found.length < limit });
      }
      return mergePages(lists, limit, order);
    }
  };
}

/** When the first job beyond the cursor is due, or one before the cursor that is due at the same time. */
function firstDueOf({ queue, isPlain }: ScheduledRange, order: PageOrder): FirstOfRange {
  const [beyond, way] = order === 'oldest' ? ['>=', 'ASC'] : ['<=', 'DESC'];
  const range = isPlain ? `runnable = ${IN_QUEUE} AND run_at > 0 {only sqlite}` : `runnable = ${SCHEDULED}`;
  return {
    sql: `SELECT run_at FROM ${INDEX} WHERE queue = ranges.queue AND ${range} AND run_at ${beyond} :runAt AND run_at <= :most
  ORDER BY queue ${way}, runnable ${way}, run_at ${way} LIMIT 1`,
    values: { queue },
  };
}

/**
 * Waiting and blocked jobs by id, of one group if the queue is given, too. Includes active jobs, because a claim changes no
 * column of the index.
 */
export function* selectWaiting(
  { queue, group }: Readonly<Partial<Record<'queue' | 'group', string>>>,
  order: PageOrder,
  names: QueueNames,
): Work<ReadCandidates> {
  const ranges =
    queue === undefined ? yield* rangesByPriority(yield* names.queueNames('jobs')) : yield* rangesOf(queue, group);
  return ranges ? candidatesInRanges(ranges, order) : candidatesById('jobs', order);
}

export function* selectLive(queue: string, group: string | undefined, order: PageOrder): Work<ReadCandidates> {
  const limit = MAX_SORTED + 1;
  const scheduled = idsOf([
    ...(yield* query<{ id: number }>(SCHEDULED_IDS, { queue, limit, most: MAX_POSITION_VALUE })),
    ...(yield* query<{ id: number }>(PLAIN_SCHEDULED_IDS, { queue, limit, most: MAX_POSITION_VALUE })),
  ]);
  const ranges = scheduled.length > MAX_SORTED ? undefined : yield* rangesOf(queue, group);
  if (!ranges) return candidatesById('jobs', order);
  const readScheduled = candidatesAmong(scheduled, order);
  const readWaiting = candidatesInRanges(ranges, order);
  return function* (after, limit) {
    return mergePages([yield* readScheduled(after, limit), yield* readWaiting(after, limit)], limit, order);
  };
}

function rangesOf(queue: string, group: string | undefined): Work<IndexRange[] | undefined> {
  return group === undefined ? rangesByPriority([queue]) : prioritiesIn([queue], RANGES_WITH_GROUPS, group);
}

/** Undefined if there are too many, or if the queues have groups. */
function* rangesByPriority(queues: readonly string[]): Work<IndexRange[] | undefined> {
  if (queues.length > QUEUE_BATCH_SIZE) return undefined;
  if (yield* haveGroups(queues)) return undefined;
  return yield* prioritiesIn(queues, RANGES_WITHOUT_GROUPS, '');
}

/** The ranges of index queue in which ids are in order, one for each priority; undefined if there are too many. */
function* prioritiesIn(
  queues: readonly string[],
  runnables: readonly number[],
  group: string,
): Work<IndexRange[] | undefined> {
  const ranges: IndexRange[] = [];
  let unread = queues.flatMap((queue) => runnables.map((runnable) => ({ queue, runnable, last: -32_769 })));
  while (unread.length > 0) {
    const values: Record<string, SqlValue> = { group };
    const next = unread.map((range, index) => {
      Object.assign(values, { [`queue${index}`]: range.queue, [`runnable${index}`]: range.runnable });
      values[`last${index}`] = range.last;
      return `(
      SELECT priority
      FROM ${INDEX}
      WHERE queue = :queue${index} AND runnable = :runnable${index} AND run_at IS NULL AND group_key = :group
        AND priority > :last${index}
      ORDER BY priority
      LIMIT 1) AS priority_${index}`;
    });
    const [row] = yield* query<Record<string, number | null>>(`SELECT ${next.join(', ')}`, values);
    unread = unread.flatMap(({ queue, runnable }, index) => {
      const last = row![`priority_${index}`];
      return last === null || last === undefined ? [] : [{ queue, runnable, last }];
    });
    for (const { queue, runnable, last } of unread) {
      ranges.push({
        from: INDEX,
        values: { queue, runnable, group_key: group, priority: last },
        condition: 'run_at IS NULL',
      });
    }
    if (ranges.length > MAX_RANGES) return undefined;
  }
  return ranges;
}

function* haveGroups(queues: readonly string[]): Work<boolean> {
  if (queues.length === 0) return false;
  const ranges = queues.flatMap((_, index) => RANGES_WITH_GROUPS.map((runnable) => withGroup(index, runnable)));
  const values = Object.fromEntries(queues.map((queue, index) => [`queue${index}`, queue]));
  const [row] = yield* query<{ found: number }>(`SELECT ${ranges.join(' OR ')} AS found`, values);
  return Number(row!.found) > 0;
}
