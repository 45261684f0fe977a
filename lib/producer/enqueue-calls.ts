import { hasCode } from '../job/errors.js';
import type { NewJob } from '../job/job.js';

/** One call of a producer that waits for its statement. */
export interface EnqueueCall {
  readonly jobs: readonly NewJob[];
  readonly reject: (error: unknown) => void;
}

// The limits of one statement. A single call above them gets a statement of its own.
export const MAX_BATCH_JOBS = 500;
const MAX_BATCH_CHARACTERS = 250_000;

/** Removes the first calls from `pending`: as many as fit into one statement, `maxCalls` at most, and at least one. */
export function shiftBatch<Call extends EnqueueCall>(pending: Call[], maxCalls = pending.length): Call[] {
  let jobs = 0;
  let characters = 0;
  const firstTooMany = pending.findIndex((call, index) => {
    jobs += call.jobs.length;
    for (const { payload, headers } of call.jobs) characters += payload.length + (headers?.length ?? 0);
    return index > 0 && (jobs > MAX_BATCH_JOBS || characters > MAX_BATCH_CHARACTERS);
  });
  return pending.splice(0, firstTooMany === -1 ? maxCalls : Math.min(maxCalls, firstTooMany));
}

/** Whether each call of a failed batch is stored alone next, because one bad call must not fail the others. */
export function isFaultOfOneCall(calls: readonly EnqueueCall[], error: unknown): boolean {
  return calls.length > 1 && !hasCode(error, 'STORE_UNAVAILABLE');
}
