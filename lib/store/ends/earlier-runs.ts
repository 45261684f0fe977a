import { batchesOf } from '../../common/lists.js';
import { deleteFrom, executeAll, executeInBatches, statement, type Work, type Statement } from '../core/statement.js';
import { randomId, ascending, idsOf } from '../../job/identifiers.js';
import { jobOverridesOf, readOverrides } from '../../job/read-columns.js';

// For jobs without such rows a DELETE would lock gaps.
const STEPS_OF = `
  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM {steps} {by primary}
  WHERE job_id IN (:ids)
  GROUP BY job_id {latest}`;

const PROGRESS_OF = `
  SELECT job_id AS id
  FROM {progress} {by primary}
  WHERE job_id IN (:ids) {latest}`;

const CHILDREN_OF = `
  SELECT DISTINCT job_id AS id
  FROM {edges} {by primary}
  WHERE job_id IN (:ids) AND fan_out > 0 {latest}`;

const DELETE_CHILDREN = deleteFrom('edges', 'job_id = :id AND fan_out > 0');

const BATCH_SIZE = 500;

/** Ids of the jobs whose earlier runs have left rows beside that of the job. */
export interface EarlierRuns {
  readonly withSteps: readonly number[];
  /** Those of which a sleep, or a wait for a signal, has not ended. */
  readonly withWaits: readonly number[];
  /** With progress or log lines. */
  readonly withLogs: readonly number[];
  /** With children that a run has enqueued. */
  readonly withChildren: readonly number[];
}

type FoundRow = Readonly<{ id: number; waits?: number }>;

/** Reads without locks. The caller keeps claims from the jobs, so that no run adds rows. */
export function* findEarlierRuns(ids: readonly number[]): Work<EarlierRuns> {
  const found = { withSteps: [], withWaits: [], withLogs: [], withChildren: [] } as Record<keyof EarlierRuns, number[]>;
  for (const batch of batchesOf(ascending(ids), BATCH_SIZE)) {
    const reads = [STEPS_OF, PROGRESS_OF, CHILDREN_OF].map((sql) => statement(sql, { ids: batch }));
    const [steps, logs, children] = (yield* executeAll(reads)).map(({ rows }) => byId(rows as unknown as FoundRow[]));
    found.withSteps.push(...steps!.keys());
    found.withWaits.push(...idsOf([...steps!.values()].filter(({ waits }) => Number(waits) === 1)));
    found.withLogs.push(...logs!.keys());
    found.withChildren.push(...children!.keys());
  }
  return found;
}

/** The latest row of each job. */
function byId(rows: readonly FoundRow[]): ReadonlyMap<number, FoundRow> {
  return new Map(rows.map((row) => [Number(row.id), row]));
}

/**
 * Deletes all that belongs to the old payload of jobs that start anew: steps, waits, progress, log lines, and the edges to
 * their children, which run on by themselves. Each new column or table of a run belongs here.
 */
export function* deleteEarlierRuns({ withChildren, ...found }: EarlierRuns): Work<void> {
  yield* deleteStepsAndLogs(found);
  yield* executeInBatches(withChildren.map((id) => statement(DELETE_CHILDREN, { id })));
}

/** Deletes that of jobs which are removed. Their flow still shows their children. */
export function* deleteStepsAndLogs({ withSteps, withLogs }: Pick<EarlierRuns, 'withSteps' | 'withLogs'>): Work<void> {
  const logs = withLogs.length === 0 ? [] : jobLogDeletions(withLogs);
  yield* executeInBatches([...logs, ...stepDeletions(withSteps)]);
}

// The conditions that are always true keep both servers from scanning a small table.
const DELETE_STEPS = deleteFrom('steps', "job_id = :id AND name > '' AND expires_at > 0");

export function stepDeletions(jobIds: readonly number[]): Statement[] {
  return ascending(jobIds).map((id) => statement(DELETE_STEPS, { id }));
}

// The conditions that are always true keep both servers from scanning a small table: see UNREGISTER in sql-wait-store.ts.
const DELETE_PROGRESS = deleteFrom('progress', 'job_id IN (:ids) AND updated_at > 0');

const DELETE_LINES = deleteFrom('logs', 'job_id = :id AND number >= 1 AND logged_at > 0');

/** Every job with lines has a row of progress. */
export function jobLogDeletions(ids: readonly number[]) {
  const inOrder = ascending(ids);
  return [
    ...[...batchesOf(inOrder, BATCH_SIZE)].map((some) => ({ sql: DELETE_PROGRESS, values: { ids: some } })),
    ...inOrder.map((id) => ({ sql: DELETE_LINES, values: { id } })),
  ];
}

/**
 * The options of a job that starts anew under its old id. Its steps get new keys, so that other systems do not take them for
 * repetitions of the old ones.
 */
export function withRestart(options: string | null): string {
  return JSON.stringify({ ...jobOverridesOf(options), restart: randomId() });
}

/** The options of a job that stays in its flow; undefined: it is in none. */
export function withFlow(options: string | null, flow: number | undefined): string | null {
  const read = readOverrides(options);
  if (flow === undefined || 'problem' in read || read.overrides?.flow !== undefined) return options;
  return JSON.stringify({ ...read.overrides, flow });
}

/** The options of a job that an administrator starts anew: it runs, however long ago it was enqueued. */
export function withoutExpiry(options: string | null): string | null {
  const { expiresInMs, addedExpiryMs: _added, ...others } = jobOverridesOf(options);
  if (expiresInMs === undefined) return options;
  return Object.keys(others).length === 0 ? null : JSON.stringify(others);
}

/** The options of a job that keeps its older `createdAt`: its `expiresIn` counts from now on. */
export function withLaterExpiry(options: string | null, ageMs: number): string | null {
  const overrides = jobOverridesOf(options);
  if (overrides.expiresInMs === undefined || ageMs <= 0) return options;
  return JSON.stringify({ ...overrides, expiresInMs: overrides.expiresInMs + ageMs, addedExpiryMs: ageMs });
}
