import { readClaimedJobs, type JobOfClaim } from '../../reads/claimed-jobs.js';
import { readQueues } from '../queues/read-queues.js';
import { LIVE_WORKERS } from '../queues/read-service.js';
import { groupBy, pageSize } from '../../../common/lists.js';
import { readDate, readSlots } from '../../../job/read-columns.js';
import type { Dialect } from '../../core/sql-database.js';
import { query, readTime, executeInBatches, statement, type Work } from '../../core/statement.js';
import { BLOCKED, IN_QUEUE, IN_STAGE, SCHEDULED } from '../../tables/runnable.js';
import {
  COUNT_LIMIT,
  GROUPED,
  MAX_PRIORITIES,
  sampleTogether,
  type QueueSampleRow,
  type Samples,
} from './sample-together.js';
import type { JobCount, StatsSample } from './stats-store.js';

const upTo = (table: 'jobs' | 'history', index: string, condition: string) => `
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM {${table}} {by ${table}.${index}}
      WHERE queue = :queue AND ${condition}
      LIMIT ${COUNT_LIMIT}
    ) AS counted
  )`;

const nextDue = (condition: string) => `
  (
    SELECT run_at
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND ${condition}
    ORDER BY run_at
    LIMIT 1
  )`;

const selectIds = (runnable: number) => `
               SELECT id
               FROM (
                 SELECT id
                 FROM {jobs} {by jobs.queue}
                 WHERE queue = :queue AND runnable = ${runnable}
                 LIMIT ${COUNT_LIMIT}
               ) AS ids_${runnable}`;

// Each subquery reads one range of an index: with bad statistics, servers read the whole index for several ranges. On
// SQLite a plain INSERT leaves a delayed job runnable.
const QUEUE_SAMPLE = `
  SELECT ${upTo('jobs', 'queue', `runnable = ${IN_QUEUE} AND run_at IS NULL`)} AS waiting,
         ${GROUPED.map((runnable) => `${upTo('jobs', 'queue', `runnable = ${runnable}`)} AS grouped_${runnable}`).join(',')},
         ${upTo('jobs', 'queue', `runnable = ${SCHEDULED}`)} AS scheduled,
         ${upTo('jobs', 'queue', `runnable = ${IN_QUEUE} AND run_at IS NOT NULL {only sqlite}`)} AS plain_scheduled,
         ${upTo('jobs', 'queue', `runnable = ${IN_STAGE}`)} AS staged,
         ${upTo('jobs', 'queue', `runnable = ${BLOCKED}`)} AS blocked,
         ${upTo('history', 'state', `state = 'dead'`)} AS dead,
         ${nextDue(`runnable = ${SCHEDULED}`)} AS due_at,
         ${nextDue(`runnable = ${IN_QUEUE} AND run_at IS NOT NULL {only sqlite}`)} AS plain_due_at,
         (
           SELECT COALESCE(due_at, created_at)
           FROM {jobs} {by primary}
           WHERE id = (
             SELECT MIN(id)
             FROM (${GROUPED.map(selectIds).join(' UNION ALL ')}) AS of_groups
             WHERE id NOT IN (:claimed)
           )
         ) AS grouped_since`;

// The first job of the next priority that no claim has.
const FIRST_OF_NEXT_PRIORITY = `
  SELECT priority, COALESCE(due_at, created_at) AS since
  FROM {jobs} {by jobs.queue}
  WHERE queue = :queue AND runnable = ${IN_QUEUE} AND run_at IS NULL AND group_key = '' AND priority > :after AND claim_id = 0
  ORDER BY priority, id
  LIMIT 1`;

const BEFORE_FIRST_PRIORITY = -32_769;
// With more queues, a statement per queue costs more than reading the entries of all short queues.
const MAX_SINGLE_QUEUES = 50;
const MAX_EXCLUDED_IDS = 1_000;
const QUEUES_PER_STEP = 20;

/** Reads the statistics of all queues of `readQueues`. */
export function* sampleQueues(dialect: Dialect): Work<Omit<StatsSample, 'tookMs'>> {
  const queues = yield* readQueues(dialect);
  const names = queues.map(({ queue }) => queue);
  const claimed = groupBy(yield* readClaimedJobs(null), ({ queue }) => queue);
  const workers = yield* countWorkers();
  const { rows, oldest } = yield* samplesOf(names, claimed);
  const at = yield* readTime();
  return {
    sampledAtMs: at,
    queues: queues.map(({ queue, paused, settings }) => {
      const row = rows.get(queue)!;
      const since = [oldest.get(queue), readDate(row.grouped_since)].flatMap((time) => time ?? []);
      return {
        queue,
        paused,
        settings,
        ...countsOf(row, claimed.get(queue) ?? []),
        oldestWaitingMs: since.length === 0 ? null : Math.max(0, at - Math.min(...since)),
        nextDueInMs: nextDueInMs(row, at),
        workers: workers.get(queue) ?? 0,
      };
    }),
  };
}

function* samplesOf(
  names: readonly string[],
  claimed: ReadonlyMap<string, readonly JobOfClaim[]>,
): Work<Pick<Samples, 'rows' | 'oldest'>> {
  const claimedIds = new Set([...claimed.values()].flatMap((jobs) => jobs.map(({ id }) => id)));
  const { rows, oldest, others }: Samples =
    names.length <= pageSize(MAX_SINGLE_QUEUES)
      ? { rows: new Map(), oldest: new Map(), others: names }
      : yield* sampleTogether(names, claimedIds);
  // A queue may be younger than the list of names.
  const known = new Set(names);
  const single = others.filter((queue) => known.has(queue));
  const sampled = yield* sampleEach(single, claimed);
  single.forEach((queue, index) => rows.set(queue, sampled[index]!));
  for (const [queue, since] of yield* oldestWaiting(single)) oldest.set(queue, since);
  return { rows, oldest };
}

function countsOf(row: QueueSampleRow, claimed: readonly JobOfClaim[]) {
  const inRange = (range: JobOfClaim['range']) => claimed.filter((job) => job.range === range).length;
  const active = claimed.filter(({ isStarted }) => isStarted).length;
  return {
    // The ranges of the index contain claimed jobs, too.
    waiting: jobCount([row.waiting, ...GROUPED.map((runnable) => row[`grouped_${runnable}`])], inRange('waiting')),
    scheduled: jobCount([row.scheduled, row.plain_scheduled]),
    blocked: jobCount([row.blocked]),
    staged: jobCount([row.staged], inRange('staged')),
    dead: jobCount([row.dead]),
    active,
    prefetched: claimed.length - active,
  };
}

function jobCount(counted: readonly number[], claimed = 0): JobCount {
  const counts = counted.map(Number);
  const sum = counts.reduce((total, count) => total + count, 0);
  // The reads are not one snapshot: a job that was claimed between them is subtracted without having been counted.
  return { value: Math.max(0, sum - claimed), atLeast: counts.some((count) => count >= COUNT_LIMIT) };
}

function nextDueInMs({ due_at, plain_due_at }: QueueSampleRow, at: number): number | null {
  const times = [due_at, plain_due_at].map(readDate).filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(0, Math.min(...times) - at);
}

function* countWorkers(): Work<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { queues } of yield* query<{ queues: string }>(LIVE_WORKERS))
    for (const queue of readSlots(queues).keys()) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return counts;
}

function* sampleEach(
  queues: readonly string[],
  claimed: ReadonlyMap<string, readonly JobOfClaim[]>,
): Work<QueueSampleRow[]> {
  const reads = queues.map((queue) => {
    const ids = (claimed.get(queue) ?? []).slice(0, MAX_EXCLUDED_IDS).map(({ id }) => id);
    return statement(QUEUE_SAMPLE, { queue, claimed: [0, ...ids] });
  });
  const results = yield* executeInBatches(reads, QUEUES_PER_STEP);
  return results.map(({ rows }) => rows[0] as unknown as QueueSampleRow);
}

/** For each queue the time since which the first job of one of its first priorities waits. */
function* oldestWaiting(queues: readonly string[]): Work<Map<string, number>> {
  const oldest = new Map<string, number>();
  let after = new Map(queues.map((queue) => [queue, BEFORE_FIRST_PRIORITY]));
  for (let round = 0; round < MAX_PRIORITIES && after.size > 0; round++) {
    const asked = [...after.keys()];
    const reads = Array.from(after, ([queue, priority]) =>
      statement(FIRST_OF_NEXT_PRIORITY, { queue, after: priority }),
    );
    const results = yield* executeInBatches(reads, QUEUES_PER_STEP);
    const next = new Map<string, number>();
    results.forEach(({ rows }, index) => {
      const [first] = rows;
      if (!first) return;
      const queue = asked[index]!;
      const since = readDate(first.since);
      if (since !== null) oldest.set(queue, Math.min(since, oldest.get(queue) ?? since));
      next.set(queue, Number(first.priority));
    });
    after = next;
  }
  return oldest;
}
