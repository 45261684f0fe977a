import { groupBy } from '../../common/lists.js';
import { PROBLEM_LIMITS } from '../../job/problems/queue-problem.js';
import type {
  GroupsAtRest,
  LateSchedules,
  MinuteFacts,
  SuspectFacts,
  SuspectQueues,
} from '../../job/problems/problem-facts.js';
import {
  executeAll,
  READ_TIME,
  statement,
  type Statement,
  type StatementResult,
  type Work,
} from '../core/statement.js';
import { METRICS_COLUMNS, toMetricsRow, type StoredMetrics } from '../features/metrics/counted-tables.js';
import { METRICS_STEPS } from '../features/metrics/metrics-store.js';
import { selectLapsedClaims, toLapsedClaims } from '../features/stats/lapsed-claims.js';
import { readService } from '../features/queues/read-service.js';
import type { TableRow } from '../tables/table-schemas.js';
import { selectLastStops, stopsIn } from './read-pauses.js';

const { process, minute, hour } = METRICS_STEPS;

// The minutes of processes are added up after ten minutes, so these rows are all that is younger.
const FAILING = `
  SELECT queue
  FROM (
    SELECT queue, failed
    FROM {metrics} {by metrics.fold}
    WHERE step_ms = ${process} AND starts_at > :now - ${PROBLEM_LIMITS.deadMinutes * minute}
    ORDER BY starts_at DESC
    LIMIT 20000
  ) AS latest
  GROUP BY queue
  HAVING SUM(failed) > 0
  ORDER BY SUM(failed) DESC, queue
  LIMIT 50`;

// A worker that stops deletes its row. One that was silent for an hour was replaced, or its queues have no worker.
const SILENT_WORKERS = `
  SELECT id, host, pid, seen_at
  FROM {workers}
  WHERE seen_at < :now - ${PROBLEM_LIMITS.silentMs} AND seen_at > :now - ${hour}
  ORDER BY seen_at, id
  LIMIT 20`;

// Only schedules with a next tick are in the range: neither paused ones, nor those that have ended.
const LATE_SCHEDULES = `
  SELECT queue, COUNT(*) AS late, SUM(CASE WHEN source = 'api' THEN 1 ELSE 0 END) AS from_api, MIN(name) AS first_name,
         MIN(next_at) AS due_at
  FROM (
    SELECT queue, source, name, next_at
    FROM {schedules} {by schedules.next}
    WHERE next_at < :now - ${PROBLEM_LIMITS.lateMs}
    ORDER BY next_at
    LIMIT 1000
  ) AS late_schedules
  GROUP BY queue
  ORDER BY due_at, queue
  LIMIT 20`;

const minutesOf = (step: number) => `
  SELECT ${METRICS_COLUMNS}
  FROM {metrics} {by primary}
  WHERE queue IN (:queues) AND step_ms = ${step} AND starts_at > :now - ${hour}`;

const MINUTES = `${minutesOf(process)}
  UNION ALL${minutesOf(minute)}`;

const GROUPS_AT_REST = `
  SELECT queue, state, COUNT(*) AS at_rest, MIN(group_key) AS first_key
  FROM (
    SELECT queue, state, group_key
    FROM {groups} {by groups.turn}
    WHERE queue IN (:queues) AND state IN ('blocked', 'paused')
    LIMIT 20000
  ) AS found
  GROUP BY queue, state`;

type GroupsRow = Pick<TableRow<'groups'>, 'queue' | 'state'> & { readonly at_rest: number; readonly first_key: string };
type WorkerRow = Pick<TableRow<'workers'>, 'id' | 'host' | 'pid' | 'seen_at'>;

/**
 * Reads without locks: five statements in one step; for suspects up to four more in a second one; and for unserved queues
 * three and one per queue in a third one.
 */
export function* readSuspectFacts({ unserved, paused, disabled, behind }: SuspectQueues): Work<SuspectFacts> {
  const [now, failing, workers, lapsed, late] = yield* executeAll([
    statement(READ_TIME),
    statement(FAILING),
    statement(SILENT_WORKERS),
    selectLapsedClaims(),
    statement(LATE_SCHEDULES),
  ]);
  // Another program can write values of any type into SQLite.
  const failed = failing!.rows.flatMap(({ queue }) => (typeof queue === 'string' ? [queue] : []));
  const queues = [...new Set([...failed, ...behind])];
  const stopped = [...paused, ...disabled];
  const reads: Readonly<Record<string, readonly Statement[]>> = {
    minutes: queues.length > 0 ? [statement(MINUTES, { queues })] : [],
    groups: behind.length > 0 ? [statement(GROUPS_AT_REST, { queues: behind })] : [],
    pauses: stopped.length > 0 ? selectLastStops(stopped) : [],
  };
  const names = Object.entries(reads).flatMap(([name, statements]) => statements.map(() => name));
  const results = yield* executeAll(Object.values(reads).flat());
  const resultsOf = (name: string) => results.filter((_, index) => names[index] === name);
  const pauses = resultsOf('pauses');
  const service = unserved.length > 0 ? yield* readService(unserved) : { unserved: [] };
  const isUnserved = new Set(service.unserved);
  return {
    nowMs: Number(now!.rows[0]!['at']),
    consumed: new Set(unserved.filter((queue) => !isUnserved.has(queue))),
    pauses: new Map([...stopsIn(pauses, 'paused', paused), ...stopsIn(pauses, 'disabled', disabled)]),
    groups: groupsIn(resultsOf('groups')),
    minutes: minutesIn(resultsOf('minutes')),
    lapsedClaims: toLapsedClaims(lapsed!),
    lateSchedules: late!.rows.map(toLateSchedules),
    silentWorkers: (workers!.rows as unknown as WorkerRow[]).map(({ id, host, pid, seen_at }) => ({
      ...{ id, host, pid: Number(pid), seenAtMs: Number(seen_at) },
    })),
  };
}

function toLateSchedules(row: StatementResult['rows'][number]): LateSchedules {
  const { queue, late, from_api, first_name, due_at } = row;
  return {
    ...{ queue: String(queue), count: Number(late), fromApi: Number(from_api) },
    ...{ firstName: String(first_name), dueAtMs: Number(due_at) },
  };
}

function minutesIn(results: readonly StatementResult[]): Map<string, MinuteFacts[]> {
  const found = (results.flatMap(({ rows }) => rows) as unknown as StoredMetrics[]).map(toMetricsRow);
  return groupBy(found, ({ queue }) => queue);
}

function groupsIn(results: readonly StatementResult[]): Map<string, GroupsAtRest> {
  const rows = results.flatMap((result) => result.rows as unknown as GroupsRow[]);
  const byQueue = groupBy(rows, ({ queue }) => queue);
  const alikeIn = (states: readonly GroupsRow[], state: string) => {
    const row = states.find((one) => one.state === state);
    return { count: Number(row?.at_rest ?? 0), first: row?.first_key ?? null };
  };
  return new Map(
    Array.from(byQueue, ([queue, states]) => [
      queue,
      { blocked: alikeIn(states, 'blocked'), paused: alikeIn(states, 'paused') },
    ]),
  );
}
