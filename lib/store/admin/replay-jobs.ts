import { withoutOriginHeaders } from '../../job/dead-letter.js';
import type { JobOverrides } from '../../job/job-overrides.js';
import type { Replay } from './admin-store.js';
import { reopenEdges, type ReopenedEdges } from '../features/flows/reopen-edges.js';
import { BLOCKED, IN_QUEUE, RETURNED, RUNNABLE_WHEN_WAITING, SCHEDULED } from '../tables/runnable.js';
import { checkSoon } from '../ends/check-soon.js';
import { deleteEarlierRuns, findEarlierRuns, withFlow, withoutExpiry, withRestart } from '../ends/earlier-runs.js';
import { jobEventsOf, type EventJob } from '../core/event-outbox.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { ascending, idsOf } from '../../job/identifiers.js';
import {
  deleteFrom,
  execute,
  executeAll,
  recordEvents,
  query,
  insertInChunks,
  type SqlValue,
  type Work,
} from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';

const LOCK_SCHEDULED = `
  SELECT id, queue, name, attempt
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0 AND run_at IS NOT NULL
  ORDER BY id {lock}`;

const MAKE_DUE = `
  UPDATE {jobs} {by primary}
  SET due_at = :now, state = 'waiting', runnable = ${RUNNABLE_WHEN_WAITING}, run_at = NULL
  WHERE id IN (:ids) AND claim_id = 0`;

const LOCK_FINISHED = `
  SELECT id, queue, name, state, priority, max_attempts, created_at, payload, headers, options, error
  FROM {history} {by primary}
  WHERE id IN (:ids) AND (state <> 'completed' OR :completed = 1)
  ORDER BY id {lock}`;

const DELETE_FINISHED = deleteFrom('history', 'id = :id');

// One of run_at and due_at is NULL: the job is scheduled for run_at, or has waited since due_at.
const REENQUEUE = `
  INSERT INTO {jobs} (id, queue, name, run_at, state, runnable, priority, attempt, max_attempts,
                      created_at, payload, headers, options, error, due_at, group_key)
  VALUES :rows(?, ?, ?, :now + ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, :now + ?, ?)`;

type FinishedRow = Pick<
  TableRow<'history'>,
  | 'id'
  | 'queue'
  | 'name'
  | 'state'
  | 'priority'
  | 'max_attempts'
  | 'created_at'
  | 'payload'
  | 'headers'
  | 'options'
  | 'error'
>;

/** Called for each finished job that would return to its own queue. If it returns false, the job stays finished. */
export type MayReenqueue = (id: number, overrides: JobOverrides | null) => boolean;

/** Starts dead and cancelled jobs anew, with their ids and all their attempts, and makes scheduled jobs due. */
export function* retryJobs(ids: readonly number[], mayReenqueue: MayReenqueue): Work<number[]> {
  const due = yield* makeDue(ids, 'retried');
  const replay = { to: undefined, firstMs: 0, intervalMs: 0, completed: false };
  return [...due, ...(yield* replayJobs(ids, replay, mayReenqueue))];
}

/** Makes scheduled jobs due. Returns their ids. */
export function* makeDue(ids: readonly number[], event: 'promoted' | 'retried'): Work<number[]> {
  if (ids.length === 0) return [];
  const jobs = yield* query<EventJob>(LOCK_SCHEDULED, { ids: ascending(ids) });
  const due = idsOf(jobs);
  yield* recordEvents(jobEventsOf(event, jobs));
  if (due.length > 0) yield* execute(MAKE_DUE, { ids: due });
  return due;
}

export function* replayJobs(ids: readonly number[], replay: Replay, mayReenqueue: MayReenqueue): Work<number[]> {
  if (ids.length === 0) return [];
  const given = { ids: ascending(ids), completed: replay.completed ? 1 : 0 };
  const found = yield* query<FinishedRow>(LOCK_FINISHED, given);
  const rows = found.filter(
    (row) => !staysInQueue(row, replay) || mayReenqueue(Number(row.id), parseJsonOrNull(row.options)),
  );
  if (rows.length === 0) return [];
  const finished = idsOf(rows);
  const retried = rows.map(({ id, queue, name }) => ({ id, queue: replay.to ?? queue, name }));
  yield* recordEvents(jobEventsOf('retried', retried));
  yield* executeAll(finished.map((id) => ({ sql: DELETE_FINISHED, values: { id } })));
  const anew = yield* startAnew(rows.filter((row) => startsAnew(row, replay)));
  const goingOn = yield* findEarlierRuns(idsOf(rows.filter((row) => !startsAnew(row, replay))));
  const { blocked, flows } = yield* reopenFlows(rows);
  const reenqueued = rows.map((row) => {
    const id = Number(row.id);
    // A run that lost the answer of its fan-out has ended without the flow in its options.
    return { ...row, options: withFlow(anew.has(id) ? withRestart(row.options) : row.options, flows.get(id)) };
  });
  yield* checkSoon(reenqueued, goingOn);
  const toRow = (row: FinishedRow, n: number) =>
    toReenqueuedRow({ ...row, options: withoutExpiry(row.options) }, replay, n, blocked.has(Number(row.id)));
  yield* insertInChunks(REENQUEUE, reenqueued.map(toRow));
  return finished;
}

/** Jobs that wait for these jobs wait for their next end. */
function reopenFlows(rows: readonly FinishedRow[]): Work<ReopenedEdges> {
  const inFlows = new Set(idsOf(rows.filter(({ options }) => parseJsonOrNull<JobOverrides>(options)?.flow)));
  return reopenEdges(idsOf(rows), (id) => inFlows.has(id));
}

/** A dead or cancelled job goes on after its last step, but not in another queue, whose handler may have other steps. */
function startsAnew(row: FinishedRow, replay: Replay): boolean {
  return row.state === 'completed' || !staysInQueue(row, replay);
}

/** Nothing of their earlier runs stays. Returns those that had steps. */
function* startAnew(rows: readonly FinishedRow[]): Work<ReadonlySet<number>> {
  const runs = yield* findEarlierRuns(idsOf(rows));
  yield* deleteEarlierRuns(runs);
  return new Set(runs.withSteps);
}

function staysInQueue({ queue }: FinishedRow, { to }: Replay): boolean {
  return to === undefined || to === queue;
}

/**
 * In another queue it is like a new job: the attempts are those of that queue, the key and the group of the old queue are
 * dropped, and so are the headers that name its origin.
 */
function toReenqueuedRow(row: FinishedRow, replay: Replay, n: number, isBlocked: boolean): SqlValue[] {
  const { to, firstMs, intervalMs } = replay;
  const { id, name, priority, created_at, payload, error } = row;
  const stays = staysInQueue(row, replay);
  const headers = stays ? row.headers : withoutOriginHeaders(row.headers);
  const options = stays ? row.options : withoutKeyAndGroup(row.options);
  const group = (stays ? parseJsonOrNull<JobOverrides>(options)?.group : undefined) ?? '';
  const delayMs = Math.round(firstMs + n * intervalMs);
  const schedule = isBlocked
    ? [null, 'blocked', BLOCKED]
    : delayMs > 0
      ? [delayMs, 'scheduled', SCHEDULED]
      : [null, 'waiting', group === '' ? IN_QUEUE : RETURNED];
  const dueMs = isBlocked || delayMs > 0 ? null : 0;
  const kept = [stays ? row.max_attempts : 0, created_at, payload, headers, options, error, dueMs, group];
  return [id, stays ? row.queue : to!, name, ...schedule, priority, ...kept];
}

function withoutKeyAndGroup(options: string | null): string | null {
  const overrides = parseJsonOrNull<JobOverrides>(options);
  if (overrides?.key === undefined && overrides?.group === undefined) return options;
  const { key: _key, keyUntil: _until, group: _group, ...others } = overrides;
  return Object.keys(others).length === 0 ? null : JSON.stringify(others);
}
