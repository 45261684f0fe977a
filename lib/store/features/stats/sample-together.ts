import { groupBy, pageSize } from '../../../common/lists.js';
import { readDate } from '../../../job/read-columns.js';
import { nextRanges } from '../../reads/next-ranges.js';
import { executeInBatches, query, queryInBatches, statement, type Work } from '../../core/statement.js';
import { ARRIVING, BLOCKED, IN_GROUP, IN_QUEUE, RETURNED } from '../../tables/runnable.js';

/** A count ends here, so that it takes milliseconds in a queue of any length. */
export const COUNT_LIMIT = 10_000;

/** The age of the oldest job considers the first job of each of the most urgent priorities. */
export const MAX_PRIORITIES = 10;

export const GROUPED = [IN_GROUP, ARRIVING, RETURNED] as const;

/** The jobs of a queue. The counts include claimed jobs, because a claim does not change the index. */
export interface QueueSampleRow extends Record<`grouped_${(typeof GROUPED)[number]}`, number> {
  waiting: number;
  scheduled: number;
  plain_scheduled: number;
  staged: number;
  blocked: number;
  dead: number;
  due_at: number | null;
  plain_due_at: number | null;
  grouped_since: number | null;
}

/** The samples of queues, and for each queue the time since which its first job waits. */
export interface Samples {
  readonly rows: Map<string, QueueSampleRow>;
  readonly oldest: Map<string, number>;
  /** Queues that need a sample of their own, because they are long. */
  readonly others: readonly string[];
}

const PAGE_SIZE = 20_000;
const MAX_EXCLUDED_IDS = 5_000;
const BATCH_SIZE = 500;

const PAGE = `
  SELECT queue, runnable, is_timed, is_grouped, priority, COUNT(*) AS jobs, MIN(run_at) AS due_at,
         MIN(CASE WHEN id IN (:claimed) THEN NULL ELSE id END) AS first_id
  FROM (
    SELECT queue, runnable, priority, id, run_at,
           CASE WHEN run_at IS NULL THEN 0 ELSE 1 END AS is_timed,
           CASE WHEN group_key = '' THEN 0 ELSE 1 END AS is_grouped
    FROM {jobs} {by jobs.queue}
    WHERE queue > :last
    ORDER BY queue
    LIMIT :limit
  ) AS entries
  GROUP BY queue, runnable, is_timed, is_grouped, priority`;

const SINCE = `
  SELECT id, COALESCE(due_at, created_at) AS since
  FROM {jobs} {by primary}
  WHERE id IN (:ids)`;

const FIRST_DEAD = `
  SELECT id
  FROM {history} {by history.state}
  WHERE queue = ranges.queue AND state = 'dead'
  ORDER BY queue, state, id
  LIMIT 1`;

const DEAD = `
  SELECT COUNT(*) AS dead
  FROM (
    SELECT 1
    FROM {history} {by history.state}
    WHERE queue = :queue AND state = 'dead'
    LIMIT ${COUNT_LIMIT}
  ) AS counted`;

type EntryRow = Readonly<
  Record<'runnable' | 'is_timed' | 'is_grouped' | 'priority' | 'jobs', number> &
    Record<'due_at' | 'first_id', number | null> & { queue: string }
>;

/** Reads index queue page by page, with all jobs of many short queues in one statement. */
export function* sampleTogether(names: readonly string[], claimed: ReadonlySet<number>): Work<Samples> {
  const { byQueue, others } = yield* readEntries(claimed);
  const short = names.filter((queue) => !others.has(queue));
  const dead = yield* countDead(short);
  const firsts = new Map([...byQueue].map(([queue, entries]) => [queue, firstIds(entries)]));
  const ids = [...firsts.values()].flatMap(({ plain, grouped }) => [...plain, ...grouped]);
  const times = yield* queryInBatches<{ id: number; since: number }>(SINCE, ids, BATCH_SIZE);
  const since = new Map(times.map((row) => [Number(row.id), readDate(row.since)]));
  const sinceFirst = (of: readonly number[]) => of.flatMap((id) => since.get(id) ?? []);
  const rows = new Map<string, QueueSampleRow>();
  const oldest = new Map<string, number>();
  for (const queue of short) {
    const { plain = [], grouped = [] } = firsts.get(queue) ?? {};
    const waits = sinceFirst(plain);
    if (waits.length > 0) oldest.set(queue, Math.min(...waits));
    const [groupedSince = null] = sinceFirst(grouped);
    rows.set(queue, { ...countsOf(byQueue.get(queue) ?? []), dead: dead.get(queue) ?? 0, grouped_since: groupedSince });
  }
  return { rows, oldest, others: [...others] };
}

/** The entries of short queues. A queue that does not fit into its page is long. */
function* readEntries(claimed: ReadonlySet<number>): Work<{ byQueue: Map<string, EntryRow[]>; others: Set<string> }> {
  const byQueue = new Map<string, EntryRow[]>();
  const others = new Set<string>();
  const limit = pageSize(PAGE_SIZE);
  const excluded = [0, ...[...claimed].slice(0, MAX_EXCLUDED_IDS)];
  for (let last: string | undefined = ''; last !== undefined;) {
    const entries: readonly EntryRow[] = yield* query<EntryRow>(PAGE, { last, limit, claimed: excluded });
    const isFull = entries.reduce((sum, { jobs }) => sum + Number(jobs), 0) >= limit;
    // Another program can write values of any type into SQLite. They come last.
    const page = groupBy(
      entries.filter(({ queue }) => typeof queue === 'string'),
      ({ queue }) => queue,
    );
    last = isFull ? [...page.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(-1) : undefined;
    for (const [queue, ofQueue] of page) {
      const isUnclear = ofQueue.some(({ first_id }) => first_id !== null && claimed.has(Number(first_id)));
      if (queue === last || isUnclear) others.add(queue);
      else byQueue.set(queue, ofQueue);
    }
  }
  return { byQueue, others };
}

/** The first job of each of the most urgent priorities, and the first one of all groups. */
function firstIds(entries: readonly EntryRow[]): { plain: number[]; grouped: number[] } {
  const found = entries.flatMap(({ first_id, ...entry }) =>
    first_id === null ? [] : [{ ...entry, id: Number(first_id) }],
  );
  const plain = found
    .filter((one) => Number(one.runnable) === IN_QUEUE && Number(one.is_timed) === 0 && Number(one.is_grouped) === 0)
    .sort((a, b) => a.priority - b.priority)
    .slice(0, MAX_PRIORITIES)
    .map(({ id }) => id);
  const inGroups = found.filter((one) => (GROUPED as readonly number[]).includes(Number(one.runnable)));
  return { plain, grouped: inGroups.length === 0 ? [] : [Math.min(...inGroups.map(({ id }) => id))] };
}

function countsOf(entries: readonly EntryRow[]): Omit<QueueSampleRow, 'dead' | 'grouped_since'> {
  const of = (runnable: number, isTimed?: number) =>
    entries.filter(
      (one) => Number(one.runnable) === runnable && (isTimed ?? Number(one.is_timed)) === Number(one.is_timed),
    );
  const count = (found: readonly EntryRow[]) =>
    Math.min(
      COUNT_LIMIT,
      found.reduce((sum, { jobs }) => sum + Number(jobs), 0),
    );
  const due = (found: readonly EntryRow[]) => {
    const times = found.flatMap(({ due_at }) => (due_at === null ? [] : [Number(due_at)]));
    return times.length === 0 ? null : Math.min(...times);
  };
  return {
    waiting: count(of(1, 0)),
    ...{ grouped_3: count(of(IN_GROUP)), grouped_4: count(of(ARRIVING)), grouped_5: count(of(RETURNED)) },
    ...{ scheduled: count(of(0)), plain_scheduled: count(of(1, 1)), due_at: due(of(0)), plain_due_at: due(of(1, 1)) },
    ...{ staged: count(of(2)), blocked: count(of(BLOCKED)) },
  };
}

/** Counts only in queues with a dead job, which one statement finds for many queues. */
function* countDead(queues: readonly string[]): Work<Map<string, number>> {
  const { chosen } = yield* nextRanges(queues, queues.length, 'oldest', {}, (queue) => ({
    sql: FIRST_DEAD,
    values: { queue },
  }));
  const results = yield* executeInBatches(chosen.map((queue) => statement(DEAD, { queue })));
  return new Map(chosen.map((queue, index) => [queue, Number(results[index]!.rows[0]!['dead'])]));
}
