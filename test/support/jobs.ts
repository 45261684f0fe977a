import type { RuleParts } from '../../lib/job/user-rule.js';
import { systemClock } from '../../lib/common/clock.js';
import type { ClaimStrategy } from '../../lib/job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../../lib/job/job.js';
import type { Outcome } from '../../lib/job/outcome.js';
import type { JobCounts } from '../../lib/store/admin/admin-store.js';
import type { CompletionBatch, Completion } from '../../lib/store/rows/completion.js';
import type { JobStore, RescueRules } from '../../lib/store/verbs/job-store.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';

/** A job with default columns, except for those in `given`. */
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

/** A claimed job in its first attempt of three, except for the fields in `given`. */
export function claimedJob(given: Partial<ClaimedJob> = {}): ClaimedJob {
  const { queue, name, payload, priority } = newJob();
  return {
    ...{ id: 1, queue, name, payload, priority, attempt: 1, maxAttempts: 3, createdAtMs: 0, dueAtMs: null },
    ...{ headers: null, overrides: null, lastError: null, errors: [], group: null },
    ...given,
  };
}

/** A claim with its jobs. */
export interface Claim {
  readonly id: number;
  readonly workerId: string;
  readonly jobs: ClaimedJob[];
}

export const LEASE_MS = 30_000;

/** The strategy and lock of the suite, for requests that set neither. */
export const suiteClaims: { strategy: ClaimStrategy; lockId: number } = { strategy: 'skip-locked', lockId: 0 };

/** A request for one job, except for the fields in `given`. */
export function claimRequest(given: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    claimId: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER),
    workerId: 'worker-1',
    queue: 'q',
    limit: 1,
    order: 'fifo',
    strategy: suiteClaims.strategy,
    lockId: suiteClaims.lockId,
    leaseMs: LEASE_MS,
    startLimit: given.limit ?? 1,
    maxAttempts: 5,
    ...given,
  };
}

/** Claims one job, except for the fields in `given`. */
export async function claimFrom(jobs: Pick<JobStore, 'claim'>, given: Partial<ClaimRequest> = {}): Promise<Claim> {
  const request = claimRequest(given);
  return { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
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

/** The outcome of a claimed job, which is retained for a minute unless `given` changes it. */
export function completionOf(
  claim: Claim,
  job: ClaimedJob,
  outcome: Outcome = outcomes.complete,
  given: Partial<Completion> = {},
): Completion {
  const { id: claimId, workerId } = claim;
  const endedAt = new Date(1_900_000_000_000 + job.attempt);
  return { job, claimId, workerId, outcome, ranMs: 7, endedAt, retentionMs: 60_000, ...given };
}

/** A completion batch without progress of claims. */
export function completionBatchOf(completions: Completion[], given: Partial<CompletionBatch> = {}): CompletionBatch {
  return { completions, claims: [], mayHaveCommitted: false, mayBeRescued: new Set(), ...given };
}

/** A completion batch that ends all jobs of the claim. */
export function finalBatchOf(
  claim: Claim,
  outcome: Outcome = outcomes.complete,
  given: Partial<Completion> = {},
): CompletionBatch {
  return completionBatchOf(
    claim.jobs.map((job) => completionOf(claim, job, outcome, given)),
    { claims: [{ id: claim.id, startLimit: claim.jobs.length, isFinished: true }] },
  );
}

/** Rules that retry jobs which may have started at once, and release the others. */
export function rescueRules(given: Partial<RescueRules> = {}): RescueRules {
  return {
    decide: ({ mayHaveStarted }) => (mayHaveStarted ? outcomes.retry : outcomes.release),
    retentionMs: () => 60_000,
    isHeld: () => false,
    isRunning: () => false,
    ...given,
  };
}

/** The dependencies of the rules of a queue, with a fixed random number. */
export function ruleParts(given: Partial<RuleParts> = {}): RuleParts {
  return { random: () => 0.5, clock: systemClock, logger: { warn: () => undefined }, ...given };
}

export function idsOf(jobs: readonly { id: number }[]): number[] {
  return jobs.map(({ id }) => id);
}

/** The number of claimed jobs, whether they run or are prefetched. */
export function countClaimed({ active, prefetched }: JobCounts): number {
  return active + prefetched;
}
