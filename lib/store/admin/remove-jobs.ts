import { endJobs } from '../ends/end-jobs.js';
import type { Removal } from '../rows/completion.js';
import { MalformedJobError } from '../../job/errors.js';
import { readOverrides } from '../../job/read-columns.js';
import { jobEventsOf, type EventJob } from '../core/event-outbox.js';
import { ascending, idsOf } from '../../job/identifiers.js';
import { deleteFrom, executeAll, query, recordEvents, statement, type Work } from '../core/statement.js';
import { checkSoon } from '../ends/check-soon.js';
import { deleteStepsAndLogs, findEarlierRuns } from '../ends/earlier-runs.js';
import type { TableRow } from '../tables/table-schemas.js';
import { IS_STAGED, type StagedRow } from '../tables/runnable.js';
import { markRemoved } from '../features/waits/sql-wait-store.js';

const LOCK_IDLE = `
  SELECT id, queue, name, attempt, options, ${IS_STAGED}
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id {lock}`;

// One statement for each row: see `words` of MySQL.
const REMOVE_IDLE = deleteFrom('jobs', 'id = :id AND claim_id = 0');

const LOCK_FINISHED = `
  SELECT id, queue, name, attempt, options
  FROM {history} {by primary}
  WHERE id IN (:ids)
  ORDER BY id {lock}`;

const REMOVE_FINISHED = deleteFrom('history', 'id = :id');

type FinishedRow = EventJob & Pick<TableRow<'history'>, 'options'>;
type IdleRow = FinishedRow & StagedRow;

/** Active jobs stay, because their worker would not learn of the removal: cancel them. */
export function* removeJobs(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  const inOrder = ascending(ids);
  const removed = [...(yield* removeIdle(inOrder)), ...(yield* removeFinished(inOrder))];
  yield* deleteStepsAndLogs(yield* findEarlierRuns(removed));
  yield* markRemoved(removed);
  return removed;
}

function* removeIdle(ids: readonly number[]): Work<number[]> {
  const jobs = yield* query<IdleRow>(LOCK_IDLE, { ids });
  const idle = idsOf(jobs);
  const deletions = idle.map((id) => statement(REMOVE_IDLE, { id }));
  yield* endJobs(jobs.map(toRemoval), { deletions, events: jobEventsOf('removed', jobs) });
  return idle;
}

function toRemoval({ id, queue, options, is_staged }: IdleRow): Removal {
  const read = readOverrides(options);
  const job = { id: Number(id), queue };
  const end = { isRemoval: true, claimId: 0, outcome: { kind: 'cancel' }, isStaged: Number(is_staged) === 1 } as const;
  if ('overrides' in read) return { ...end, job: { ...job, overrides: read.overrides } };
  const malformed = new MalformedJobError(job.id, queue, 'options', read.problem);
  return { ...end, job: { ...job, overrides: null, malformed } };
}

function* removeFinished(ids: readonly number[]): Work<number[]> {
  const jobs = yield* query<FinishedRow>(LOCK_FINISHED, { ids });
  const finished = idsOf(jobs);
  yield* recordEvents(jobEventsOf('removed', jobs));
  yield* executeAll(finished.map((id) => statement(REMOVE_FINISHED, { id })));
  yield* checkSoon(jobs);
  return finished;
}
