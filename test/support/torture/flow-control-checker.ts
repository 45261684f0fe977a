import { TICK_MS } from './torture-job.js';

export interface FlowControlRecord {
  /** The jobs of which a step with a transaction has committed, once for each commit. */
  readonly stepEffects: readonly number[];
  /** The completed jobs with such a step. */
  readonly completedWithSteps: readonly number[];
  /** The ticks of the schedule that have jobs, and when these were enqueued. */
  readonly ticks: readonly { readonly at: number; readonly enqueuedAt: number }[];
}

// A tick is missed if no worker runs it for a minute. After an outage, the first tick that is not missed is about as late.
const MISSED_MS = 60_000;

/** Steps that were committed twice or never, and ticks with two jobs or none. */
export function findFlowControlViolations({ stepEffects, completedWithSteps, ticks }: FlowControlRecord): string[] {
  const commits = new Map<number, number>();
  for (const id of stepEffects) commits.set(id, (commits.get(id) ?? 0) + 1);
  const twice = [...commits].filter(([, count]) => count > 1);
  const never = completedWithSteps.filter((id) => !commits.has(id));
  const inOrder = [...ticks].sort((a, b) => a.at - b.at);
  const gaps = inOrder.slice(1).map(({ at, enqueuedAt }, index) => {
    return { at, ms: at - inOrder[index]!.at, isAfterMissed: enqueuedAt - at > MISSED_MS - 2 * TICK_MS };
  });
  return [
    ...twice.map(([id, count]) => `a step of job ${id} was committed ${count} times`),
    ...never.map((id) => `job ${id} was completed without its step`),
    ...gaps.filter(({ ms }) => ms === 0).map(({ at }) => `two jobs for the tick at ${at}`),
    ...gaps
      .filter(({ ms, isAfterMissed }) => ms > TICK_MS && !isAfterMissed)
      .map(({ at, ms }) => `no job for a tick in the ${ms} ms before ${at}`),
  ];
}
