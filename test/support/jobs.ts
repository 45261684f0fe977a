import type { RuleParts } from '../../lib/job/user-rule.js';
import { systemClock } from '../../lib/time/clock.js';
import type { ClaimStrategy } from '../../lib/job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../../lib/job/job.js';
import type { Outcome } from '../../lib/job/outcome.js';
import type { JobCounts } from '../../lib/store/admin-store.js';
import type { ClaimRequest, Flush, RescueRules, Settlement } from '../../lib/store/job-store.js';

/** A job as plain as can be, but for what is given. */
export function newJob(given: Partial<NewJob> = {}): NewJob {
  return {
    queue: 'q',
    name: 'default',
    payload: 'null',
    priority: 0,
    delayMs: null,
    runAtMs: null,
    maxAttempts: null,
    headers: null,
    overrides: null,
    ...given,
  };
}

/** What a claim took. */
export interface Claim {
  readonly id: number;
  readonly workerId: string;
  readonly jobs: ClaimedJob[];
}

export const LEASE_MS = 30_000;

/** How the suite that runs claims, where a request does not say. */
export const suite: { strategy: ClaimStrategy; lockId: number } = { strategy: 'skip-locked', lockId: 0 };

/** A request for one job, but for what is given. */
export function claimOf(given: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    claimId: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER),
    workerId: 'worker-1',
    queue: 'q',
    limit: 1,
    order: 'fifo',
    strategy: suite.strategy,
    lockId: suite.lockId,
    leaseMs: LEASE_MS,
    started: given.limit ?? 1,
    maxAttempts: 5,
    ...given,
  };
}

export const ERROR = { name: 'Error', message: 'no' };

export const outcomes = {
  complete: { kind: 'complete', result: null },
  retry: { kind: 'retry', delayMs: 0, error: ERROR },
  dead: { kind: 'dead', error: ERROR },
  cancel: { kind: 'cancel' },
  release: { kind: 'release' },
  snooze: { kind: 'snooze', delayMs: 60_000 },
} as const satisfies Record<string, Outcome>;

/** What became of a claimed job. It is kept for a minute unless something else is given. */
export function settled(
  claim: Claim,
  job: ClaimedJob,
  outcome: Outcome = outcomes.complete,
  given: Partial<Settlement> = {},
): Settlement {
  return { job, claimId: claim.id, workerId: claim.workerId, outcome, ranMs: 7, keepMs: 60_000, ...given };
}

/** A flush of these settlements that says nothing of their claims. */
export function flushOf(settlements: Settlement[], given: Partial<Flush> = {}): Flush {
  return { settlements, claims: [], again: false, mayBeTaken: new Set(), ...given };
}

/** A flush with which all the claim's jobs are accounted for. */
export function endOf(claim: Claim, outcome: Outcome = outcomes.complete, given: Partial<Settlement> = {}): Flush {
  return flushOf(
    claim.jobs.map((job) => settled(claim, job, outcome, given)),
    { claims: [{ id: claim.id, started: claim.jobs.length, finished: true }] },
  );
}

/** Rules under which what may have begun is tried again at once, and the rest released. */
export function rescueRules(given: Partial<RescueRules> = {}): RescueRules {
  return {
    decide: ({ mayHaveBegun }) => (mayHaveBegun ? outcomes.retry : outcomes.release),
    keepMs: () => 60_000,
    ...given,
  };
}

/** What asking the rules of a queue takes; chance is in the middle. */
export function ruleParts(given: Partial<RuleParts> = {}): RuleParts {
  return { random: () => 0.5, clock: systemClock, logger: { warn: () => undefined }, ...given };
}

export function idsOf(jobs: readonly { id: number }[]): number[] {
  return jobs.map(({ id }) => id);
}

/** Jobs that a worker or a consumer has, whether or not they have begun. */
export function claimedOf({ active, prefetched }: JobCounts): number {
  return active + prefetched;
}
