import { isTurnLong } from '../../../common/turn.js';
import { mayReplace } from '../../../job/job-key.js';
import type { NewJob } from '../../../job/job.js';
import type { KeyedCallResult } from './key-store.js';
import { chunkJobs, enterJobs, isScheduled, runEnterHooks } from '../../ends/enter-jobs.js';
import { KeyPlan } from './key-plan.js';
import { acquireKey, keyIdOf, keysOf, lockKeysSkipLocked, type KeyRow, type KeyRows } from './key-rows.js';
import { deleteStaged, findStaged } from '../../ends/stages.js';
import {
  queryInBatches,
  executeAll,
  executeInBatches,
  NEXT_TURN,
  type FinalWrites,
  type Statement,
  type Work,
} from '../../core/statement.js';
import type { KeyName } from '../../core/sql-database.js';
import { IN_QUEUE, RETURNED, SCHEDULED } from '../../tables/runnable.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { ascending } from '../../../job/identifiers.js';
import { jobOverridesOf, readDate } from '../../../job/read-columns.js';
import {
  deleteEarlierRuns,
  findEarlierRuns,
  withFlow,
  withLaterExpiry,
  withRestart,
  type EarlierRuns,
} from '../../ends/earlier-runs.js';
import { detachSubject } from '../../ends/subjects.js';
import type { Lock } from '../../core/template.js';

const lockIdle = (lock: Lock) => `
  SELECT id, queue, attempt, created_at, options, :now AS at
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id {${lock}}`;

const LOCK_IDLE = lockIdle('lock');
const LOCK_IDLE_SKIP_LOCKED = lockIdle('lock free');

// Replaces all columns of a job but its id and its creation time.
const REPLACE = `
  UPDATE {jobs} {by primary}
  SET name = :name, run_at = COALESCE(:runAtMs, :now + :delayMs), state = :state, runnable = :runnable,
      priority = :priority, attempt = 0, max_attempts = :maxAttempts, payload = :payload, headers = :headers,
      options = :overrides, group_key = :group, error = NULL, due_at = CASE WHEN :runnable = ${SCHEDULED} THEN NULL ELSE :now END
  WHERE id = :id AND claim_id = 0`;

const MAX_IDS = 500;
// As many as the jobs of a batch of calls.
const MAX_FINAL_WRITES = 500;

type IdleRow = Pick<TableRow<'jobs'>, 'id' | 'queue' | 'attempt' | 'created_at' | 'options'> & { readonly at: number };

export type IdleRows = ReadonlyMap<number, IdleRow>;

/** `missing`: the keys without a row. Then nothing was stored. */
export type KeyedEnqueueResult = { readonly results: KeyedCallResult[] } | { readonly missing: readonly KeyName[] };

/**
 * Locks keys, then jobs. Skips locked rows, so it never waits: a call that needs one of them gets the answer `locked`.
 *
 * @param provided keys whose rows this process has just created. If such a row is gone, its call gets `locked`
 */
export function* enqueueKeyed(
  calls: readonly (readonly NewJob[])[],
  provided: ReadonlySet<string>,
): Work<FinalWrites<KeyedEnqueueResult>> {
  const keys = keysOf(calls.flat());
  const { locked, rows } = yield* lockKeysSkipLocked(keys);
  const missing = keys.filter((key) => !rows.has(keyIdOf(key)) && !provided.has(keyIdOf(key)));
  if (missing.length > 0) return { value: { missing }, hasWritten: false, writes: [] };
  if (isTurnLong()) yield NEXT_TURN;

  const free = new Set(calls.filter((call) => keyIdsOf(call).every((id) => locked.has(id))));
  const idle = yield* lockIn(LOCK_IDLE_SKIP_LOCKED, idleOwners([...free].flat().filter(isReplacing), rows));
  if (isTurnLong()) yield NEXT_TURN;
  const plan = new KeyPlan(rows);
  const planned: ((() => KeyedCallResult) | undefined)[] = [];
  for (const call of calls) {
    const isStillIdle = idleOwners(call.filter(isReplacing), rows).every(({ jobId }) => idle.has(jobId));
    planned.push(free.has(call) && isStillIdle ? yield* plan.addCall(call) : undefined);
  }
  const writes = yield* applyKeyPlan(plan, idle, yield* findTraces(plan.replacedIds));
  const hasWritten = plan.inserts.length + plan.replacements.length > 0;
  return { value: { results: planned.map((resultOf) => resultOf?.() ?? 'locked') }, hasWritten, writes };
}

/** What the old payloads of replaced jobs have left beside the rows of the jobs. */
export interface Traces {
  readonly inStages: readonly number[];
  readonly runs: EarlierRuns;
}

export const NO_TRACES: Traces = {
  inStages: [],
  runs: { withSteps: [], withWaits: [], withLogs: [], withChildren: [] },
};

/** Reads without locks. The jobs must be locked, so that nothing is added. */
export function* findTraces(replacedIds: readonly number[]): Work<Traces> {
  return { inStages: yield* findStaged(replacedIds), runs: yield* findEarlierRuns(replacedIds) };
}

/**
 * Returns the last statements that assign the keys, to be sent with the commit.
 *
 * @param idle the locked rows of the jobs that may be replaced
 */
export function* applyKeyPlan(plan: KeyPlan, idle: IdleRows, { inStages, runs }: Traces): Work<Statement[]> {
  const withSteps = new Set(runs.withSteps);
  const hasRun = (id: number) => withSteps.has(id) || Number(idle.get(id)?.attempt) > 0;
  const optionsOf = (id: number, { overrides }: NewJob) => {
    // The flow that an earlier run has begun by fanning out ends with the job.
    const { flow } = jobOverridesOf(idle.get(id)?.options ?? null);
    const options = withFlow(withLaterExpiry(overrides, ageMsOf(idle.get(id))), flow);
    return hasRun(id) ? withRestart(options) : options;
  };
  yield* replaceJobs(plan.replacements.map(([id, job]) => [id, { ...job, overrides: optionsOf(id, job) }]));
  yield* deleteEarlierRuns(runs);
  yield* executeInBatches(plan.replacedIds.flatMap((id) => detachSubject(id, idle.get(id)?.options ?? null)));
  yield* runEnterHooks(
    plan.replacements.map(([, job]) => job),
    plan.replacedIds,
  );
  yield* deleteStaged(inStages);
  plan.setInsertedIds(yield* enterJobs(plan.inserts));
  const writes = plan.acquisitions.map(({ queue, key, jobId }) => acquireKey(queue, key, jobId));
  yield* executeInBatches(writes.slice(0, -MAX_FINAL_WRITES), MAX_FINAL_WRITES);
  return writes.slice(-MAX_FINAL_WRITES);
}

function isReplacing({ key }: NewJob): boolean {
  return key !== undefined && mayReplace(key);
}

/** Not sorted as those of keysOf, because the sort of a long list takes long. */
function keyIdsOf(jobs: readonly NewJob[]): string[] {
  return jobs.flatMap(({ queue, key }) => (key ? keyIdOf({ queue, hash: key.hash }) : []));
}

/** The keys of `jobs` that unclaimed jobs own, read without locks. A key of several jobs has several entries. */
function idleOwners(jobs: readonly NewJob[], rows: KeyRows): KeyRow[] {
  const owners = keyIdsOf(jobs).flatMap((id) => rows.get(id) ?? []);
  return owners.filter(({ job }) => job?.isUnclaimed);
}

/** Waits for other transactions. See `lockIn`. */
export function lockIdleJobs(owners: readonly KeyRow[]): Work<IdleRows> {
  return lockIn(LOCK_IDLE, owners);
}

/**
 * Locks those of the jobs that are as they were when their keys were read, and returns them. No worker can claim them until
 * this transaction ends.
 */
function* lockIn(sql: string, owners: readonly KeyRow[]): Work<IdleRows> {
  const byId = new Map(owners.map((owner) => [owner.jobId, owner]));
  const rows = yield* queryInBatches<IdleRow>(sql, ascending(byId.keys()), MAX_IDS);
  const isSame = ({ id, queue, attempt }: IdleRow) => {
    const { key, job } = byId.get(Number(id))!;
    return key.queue === queue && job!.attempt === Number(attempt);
  };
  return new Map(rows.filter(isSame).map((row) => [Number(row.id), row]));
}

/** Replaces unclaimed jobs that the transaction has locked. Each starts anew. */
function* replaceJobs(jobs: readonly (readonly [id: number, job: NewJob])[]): Work<void> {
  let from = 0;
  for (const { length } of chunkJobs(jobs.map(([, job]) => job))) {
    yield* executeAll(jobs.slice(from, (from += length)).map(([id, job]) => replaceJob(id, job)));
  }
}

function ageMsOf(row: IdleRow | undefined): number {
  return row === undefined ? 0 : Number(row.at) - (readDate(row.created_at) ?? Number(row.at));
}

function replaceJob(id: number, job: NewJob): Statement {
  const { name, runAtMs, delayMs, priority, maxAttempts, payload, headers, overrides } = job;
  const { group = '' } = job;
  // The job keeps its id, so it may stand before the head of its group.
  const [state, runnable] = isScheduled(job)
    ? ['scheduled', SCHEDULED]
    : ['waiting', group === '' ? IN_QUEUE : RETURNED];
  const values = { id, name, runAtMs, delayMs, state, runnable, priority, payload, headers, overrides, group };
  return { sql: REPLACE, values: { ...values, maxAttempts: maxAttempts ?? 0 } };
}
