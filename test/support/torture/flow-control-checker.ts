import { TICK_MS } from './torture-job.js';

export interface FlowControlRecord {
  /** The tokens of the jobs of which a step with a transaction has committed, once for each commit. */
  readonly stepEffects: readonly string[];
  /** The tokens of completed jobs with such a step. */
  readonly completedWithSteps: readonly string[];
  /** The ticks of the schedule that have jobs, and when these were enqueued. */
  readonly ticks: readonly { readonly at: number; readonly enqueuedAt: number }[];
  /** The times at which the clock of the database was ahead, by the true clock. */
  readonly jumps?: readonly { readonly from: number; readonly to: number }[];
}

// A tick is missed if no worker runs it for a minute. After an outage, the first tick that is not missed is about as late.
const MISSED_MS = 60_000;
// The time for a worker to notice that the clock is right again.
const AFTER_JUMP_MS = 2_000;

/** Steps that were committed twice or never, and ticks with two jobs or none. */
export function findFlowControlViolations(record: FlowControlRecord): string[] {
  const { stepEffects, completedWithSteps, ticks, jumps = [] } = record;
  const commits = new Map<string, number>();
  for (const token of stepEffects) commits.set(token, (commits.get(token) ?? 0) + 1);
  const twice = [...commits].filter(([, count]) => count > 1);
  const never = completedWithSteps.filter((token) => !commits.has(token));
  // A tick of a clock that was ahead has a job from before that tick.
  const inOrder = ticks.filter(({ at, enqueuedAt }) => at - enqueuedAt < MISSED_MS).sort((a, b) => a.at - b.at);
  const wasAhead = (from: number, to: number) => jumps.some((jump) => jump.from < to + AFTER_JUMP_MS && from < jump.to);
  const gaps = inOrder.slice(1).map(({ at, enqueuedAt }, index) => {
    const before = inOrder[index]!.at;
    const isExplained = enqueuedAt - at > MISSED_MS - 2 * TICK_MS || wasAhead(before, at);
    return { at, ms: at - before, isExplained };
  });
  return [
    ...twice.map(([token, count]) => `a step of job ${token} was committed ${count} times`),
    ...never.map((token) => `job ${token} was completed without its step`),
    ...gaps.filter(({ ms }) => ms === 0).map(({ at }) => `two jobs for the tick at ${at}`),
    ...gaps
      .filter(({ ms, isExplained }) => ms > TICK_MS && !isExplained)
      .map(({ at, ms }) => `no job for a tick in the ${ms} ms before ${at}`),
  ];
}
