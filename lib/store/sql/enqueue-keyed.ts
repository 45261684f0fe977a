import type { NewJob } from '../../job/job.js';
import type { KeyedAnswer } from '../key-store.js';
import { insertAll, jobChunks } from './enqueue.js';
import { KeyPlan } from './key-plan.js';
import { holdKey, idOf, keysOf, lockFreeKeys, type KeyName, type KeyRows } from './key-rows.js';
import { lockFreeIdleJobs, replaceJobs } from './replace-jobs.js';
import { deleteStaged, staged } from './stages.js';
import type { Decided, Statement, Work } from './statement.js';

/** `missing`: keys without a row. Nothing has been done then. */
export type Attempted = { readonly answers: KeyedAnswer[] } | { readonly missing: readonly KeyName[] };

/**
 * What calls with keys put in, decided under the locks of their keys. Locks keys, then jobs; takes what nobody else has
 * locked, so that it never waits, and leaves calls that would have to.
 *
 * @param provided keys whose rows have just been made: where one is gone again, its call is left
 */
export function* enqueueKeyed(
  calls: readonly (readonly NewJob[])[],
  provided: ReadonlySet<string>,
): Work<Decided<Attempted>> {
  const keys = keysOf(calls.flat());
  const { locked, rows } = yield* lockFreeKeys(keys);
  const missing = keys.filter((key) => !rows.has(idOf(key)) && !provided.has(idOf(key)));
  if (missing.length > 0) return { value: { missing }, hasWritten: false, writes: [] };

  const isFree = (call: readonly NewJob[]) => keysOf(call).every((key) => locked.has(idOf(key)));
  const toReplace = idleJobs(calls.filter(isFree).flat().filter(replaces), rows);
  const idle = toReplace.length === 0 ? new Set<number>() : yield* lockFreeIdleJobs(toReplace);
  const plan = new KeyPlan(rows);
  const planned = calls.map((call) => {
    const isStill = idleJobs(call.filter(replaces), rows).every((id) => idle.has(id));
    return isFree(call) && isStill ? plan.add(call) : undefined;
  });
  const writes = yield* carryOut(plan, yield* staged(plan.replaced));
  const hasWritten = plan.puts.length + plan.replacements.length > 0;
  return { value: { answers: planned.map((answer) => answer?.() ?? 'locked') }, hasWritten, writes };
}

/**
 * Answers what remains to be written.
 *
 * @param inStages those of the replaced jobs that stand in a stage: they leave it
 */
export function* carryOut(plan: KeyPlan, inStages: readonly number[]): Work<Statement[]> {
  yield* replaceJobs(plan.replacements);
  yield* deleteStaged(inStages);
  plan.number(yield* insertAll(jobChunks(plan.puts)));
  return plan.holds.map(({ queue, key, jobId }) => holdKey(queue, key, jobId));
}

function replaces({ key }: NewJob): boolean {
  return key?.onConflict === 'replace';
}

/** The jobs that hold these jobs' keys and have not been claimed, as far as was seen without locks. */
function idleJobs(jobs: readonly NewJob[], rows: KeyRows): number[] {
  const ids = new Set<number>();
  for (const key of keysOf(jobs)) {
    const row = rows.get(idOf(key));
    if (row?.job?.isIdle) ids.add(row.jobId);
  }
  return [...ids];
}
