import { mayReplace } from '../../job/job-key.js';
import type { NewJob } from '../../job/job.js';
import type { KeyedCallResult } from './key-store.js';
import { enqueue } from '../jobs/enqueue.js';
import { addSubjects, hasSubject } from '../subjects/add-subjects.js';
import { KeyPlan } from './key-plan.js';
import { acquireKey, keyIdOf, keysOf, lockKeysSkipLocked, type KeyName, type KeyRows } from './key-rows.js';
import { lockIdleJobsSkipLocked, replaceJobs } from './replace-jobs.js';
import { deleteStaged, findStaged } from '../people/stages.js';
import type { FinalWrites, Statement, Work } from '../core/statement.js';

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

  const isFree = (call: readonly NewJob[]) => keysOf(call).every((key) => locked.has(keyIdOf(key)));
  const toReplace = idleJobIds(calls.filter(isFree).flat().filter(isReplacing), rows);
  const idle = toReplace.length === 0 ? new Set<number>() : yield* lockIdleJobsSkipLocked(toReplace);
  const plan = new KeyPlan(rows);
  const planned = calls.map((call) => {
    const isStillIdle = idleJobIds(call.filter(isReplacing), rows).every((id) => idle.has(id));
    return isFree(call) && isStillIdle ? plan.addCall(call) : undefined;
  });
  const writes = yield* applyKeyPlan(plan, yield* findStaged(plan.replacedIds));
  const hasWritten = plan.inserts.length + plan.replacements.length > 0;
  return { value: { results: planned.map((resultOf) => resultOf?.() ?? 'locked') }, hasWritten, writes };
}

/** Returns the statements that assign the keys. `inStages` are the replaced jobs that are in a stage. They leave it. */
export function* applyKeyPlan(plan: KeyPlan, inStages: readonly number[]): Work<Statement[]> {
  yield* replaceJobs(plan.replacements);
  const replacements = [...plan.replacements];
  if (replacements.some(([, job]) => hasSubject(job))) {
    const jobs = replacements.map(([, job]) => job);
    yield* addSubjects(
      jobs,
      replacements.map(([id]) => id),
    );
  }
  yield* deleteStaged(inStages);
  plan.setInsertedIds(yield* enqueue(plan.inserts));
  return plan.acquisitions.map(({ queue, key, jobId }) => acquireKey(queue, key, jobId));
}

function isReplacing({ key }: NewJob): boolean {
  return key !== undefined && mayReplace(key);
}

/** The unclaimed jobs that own the keys of `jobs`, read without locks. */
function idleJobIds(jobs: readonly NewJob[], rows: KeyRows): number[] {
  const ids = new Set<number>();
  for (const key of keysOf(jobs)) {
    const row = rows.get(keyIdOf(key));
    if (row?.job?.isUnclaimed) ids.add(row.jobId);
  }
  return [...ids];
}
