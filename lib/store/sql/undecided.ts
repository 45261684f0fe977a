import type { ClaimedJob } from '../../job/job.js';
import type { MaybeLater } from '../../job/user-rule.js';

/** Thrown by work whose decisions are not there yet. It holds locks, so it must not wait for functions of the user's. */
class UndecidedError extends Error {
  constructor(readonly decisions: Promise<unknown>) {
    super('The work needs decisions that are not there yet.');
  }
}

/** The decisions, if all are there; else the work is undone and begun again with them by `withDecisions`. */
export function decided<T>(decisions: readonly MaybeLater<T>[]): readonly T[] {
  const missing = decisions.filter((decision) => decision instanceof Promise);
  if (missing.length > 0) throw new UndecidedError(Promise.all(missing));
  return decisions as readonly T[];
}

/**
 * Does work that decides about jobs. A decision that comes later costs the work a second beginning, any other nothing.
 *
 * @param transact does the work with the function it is given, which remembers decisions
 */
export async function withDecisions<Job extends Pick<ClaimedJob, 'id' | 'attempt'>, Decision, T>(
  decide: (job: Job) => MaybeLater<Decision>,
  transact: (decide: (job: Job) => MaybeLater<Decision>) => Promise<T>,
): Promise<T> {
  const known = new Map<string, Decision>();
  const remembering = (job: Job): MaybeLater<Decision> => {
    const key = `${job.id} ${job.attempt}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const decision = decide(job);
    if (!(decision instanceof Promise)) return decision;
    return decision.then((late) => {
      known.set(key, late);
      return late;
    });
  };
  for (;;) {
    try {
      return await transact(remembering);
    } catch (error) {
      if (!(error instanceof UndecidedError)) throw error;
      await error.decisions;
    }
  }
}
