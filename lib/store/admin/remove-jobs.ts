import { closeEdges } from '../ends/edges.js';
import { readOverrides } from '../../job/read-columns.js';
import { jobEventsOf, type EventJob } from '../rows/job-events.js';
import { ascending, idsOf } from '../core/safe-id.js';
import { deleteFrom, executeAll, recordEvents, query, type Work } from '../core/statement.js';
import { deleteStepsAndLogs, findEarlierRuns } from '../ends/earlier-runs.js';
import { clearStages } from '../ends/stages.js';
import { markRemoved } from '../features/waits/sql-wait-store.js';

const LOCK_IDLE = `
  SELECT id, queue, name, attempt, options
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id {lock}`;

const REMOVE_IDLE = deleteFrom('jobs', 'id = :id AND claim_id = 0');

const LOCK_FINISHED = `
  SELECT id, queue, name, attempt, NULL AS options
  FROM {history} {by primary}
  WHERE id IN (:ids)
  ORDER BY id {lock}`;

const REMOVE_FINISHED = deleteFrom('history', 'id = :id');

/** Active jobs stay, because their worker would not learn of the removal: cancel them. */
export function* removeJobs(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  const inOrder = ascending(ids);
  const idle = yield* lockAndRemove(LOCK_IDLE, REMOVE_IDLE, inOrder);
  const finished = yield* lockAndRemove(LOCK_FINISHED, REMOVE_FINISHED, inOrder);
  const removed = [...idle, ...finished];
  yield* clearStages(removed);
  yield* deleteStepsAndLogs(yield* findEarlierRuns(removed));
  yield* markRemoved(removed);
  return removed;
}

function* lockAndRemove(lock: string, remove: string, inOrder: number[]): Work<number[]> {
  const jobs = yield* query<EventJob & { options: string | null }>(lock, { ids: inOrder });
  const ids = idsOf(jobs);
  yield* recordEvents(jobEventsOf('removed', jobs));
  yield* executeAll(ids.map((id) => ({ sql: remove, values: { id } })));
  yield* executeAll(closeEdges(jobs.flatMap(toCancelled)));
  return ids;
}

/** For the other jobs of its flow, a removed job is cancelled. */
function toCancelled({ id, options }: { id: number; options: string | null }) {
  const read = readOverrides(options);
  if (!('overrides' in read) || read.overrides?.flow === undefined) return [];
  return [{ job: { id: Number(id), overrides: read.overrides }, outcome: { kind: 'cancel' } as const }];
}
