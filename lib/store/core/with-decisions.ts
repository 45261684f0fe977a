import type { ClaimedJob } from '../../job/job.js';
import type { MaybePromise } from '../../common/maybe-promise.js';

/** Thrown by work that has locked rows and so must not wait for asynchronous rules of the user. */
class PendingDecisionsError extends Error {
  constructor(readonly decisions: Promise<unknown>) {
    super('The work needs decisions that are still pending.');
  }
}

/** The decisions. If one is still pending, it throws, so that `withDecisions` rolls the work back and repeats it. */
export function requireDecisions<T>(decisions: readonly MaybePromise<T>[]): readonly T[] {
  const pending = decisions.filter((decision) => decision instanceof Promise);
  if (pending.length > 0) throw new PendingDecisionsError(Promise.all(pending));
  return decisions as readonly T[];
}

/** An asynchronous decision makes the work run again from its start; a synchronous one costs nothing. */
export async function withDecisions<Job extends Pick<ClaimedJob, 'id' | 'attempt'>, Decision, T>(
  decide: (job: Job) => MaybePromise<Decision>,
  transact: (decide: (job: Job) => MaybePromise<Decision>) => Promise<T>,
): Promise<T> {
  const known = new Map<string, Decision>();
  const remembering = (job: Job): MaybePromise<Decision> => {
    const key = `${job.id} ${job.attempt}`;
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const decision = decide(job);
    if (!(decision instanceof Promise)) return decision;
    return decision.then((value) => {
      known.set(key, value);
      return value;
    });
  };
  for (;;) {
    try {
      return await transact(remembering);
    } catch (error) {
      if (!(error instanceof PendingDecisionsError)) throw error;
      await error.decisions;
    }
  }
}
