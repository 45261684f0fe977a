import type { GroupRules } from '../groups/group-options.js';
import { didYouMean } from '../../common/message-text.js';
import { isFinalState } from '../job-state.js';
import { allowedInMs, jobsAllowed, type RateUse } from '../limits/rate.js';
import type { Rate } from '../limits/limit-options.js';
import { isEnabledAt } from '../settings/enabled.js';
import type { StoredError } from '../stored-error.js';
import {
  isLeaseExpired,
  type ClaimFacts,
  type GroupFacts,
  type JobFacts,
  type LimitFacts,
  type Surroundings,
  type WorkersFacts,
} from './job-facts.js';
import type { JobReason } from './job-reason.js';

/** What this process knows. */
export interface OwnProcess {
  /** The time of its clock at the read. */
  readonly nowMs: number;
  readonly hasHandlers: boolean;
  readonly worksQueue: boolean;
  readonly handlesName: boolean;
  /** Why it claims no job of the queue, although its worker may run. */
  readonly closedBy: 'pause' | 'enabled' | undefined;
  readonly groups: GroupRules;
}

const MAX_SHOWN_IDS = 10;
// The answer of the database takes some of this time.
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

/**
 * Those that need an action come first, then those that end by themselves.
 *
 * @param error that of a finished job
 */
export function findReasons(facts: JobFacts, own: OwnProcess, error: StoredError | null): JobReason[] {
  const { job, claim, surroundings } = facts;
  if (isFinalState(job.state)) return [{ reason: 'ended', state: job.state, at: new Date(job.finishedAtMs!), error }];
  if (claim) return reasonsOfClaim(job.queue, claim, own, facts.nowMs);
  const { malformed } = job;
  const isExpired = job.expiresAtMs !== null && job.expiresAtMs < facts.nowMs;
  const all: (JobReason | undefined)[] = [
    malformed && { reason: 'malformed', ...malformed },
    isExpired ? { reason: 'expired', since: new Date(job.expiresAtMs) } : undefined,
    ...(surroundings ? reasonsToWait(facts, surroundings, own) : []),
  ];
  const reasons = all.filter((one) => one !== undefined);
  return reasons.length > 0 ? reasons : [{ reason: 'next' }];
}

function reasonsOfClaim(queue: string, claim: ClaimFacts, own: OwnProcess, nowMs: number): JobReason[] {
  const { leaseUntilMs, snoozedUntilMs, owner } = claim;
  const since = new Date(claim.claimedAtMs);
  const unserved = claim.workers && noWorker(queue, claim.workers, own);
  const first: JobReason[] = unserved ? [unserved] : [];
  const leaseUntil = leaseUntilMs === null ? null : new Date(leaseUntilMs);
  if (isLeaseExpired(claim, nowMs)) first.push({ reason: 'lease-expired', since: leaseUntil });
  if (owner !== null) {
    // Only the claim of several jobs is rescued in part: its process died before it gave them to the owner.
    if (claim.isRescued) return first;
    const snoozedUntil = snoozedUntilMs !== null && snoozedUntilMs > nowMs ? new Date(snoozedUntilMs) : null;
    return [...first, { reason: 'assigned', owner: owner || null, since, leaseUntil, snoozedUntil }];
  }
  if (claim.isCancelRequested) first.push({ reason: 'cancel-requested' });
  const { workerId: id, worker } = claim;
  return [
    ...first,
    {
      reason: 'running',
      worker: worker ? { id, host: worker.host, pid: worker.pid, seenAt: new Date(worker.seenAtMs) } : { id },
      since,
      leaseUntil,
      isStarted: claim.isStarted,
    },
  ];
}

function reasonsToWait(facts: JobFacts, around: Surroundings, own: OwnProcess): (JobReason | undefined)[] {
  const { job, nowMs } = facts;
  const { stage, group } = around;
  const paused: JobReason | undefined = around.pause && { reason: 'queue-paused', ...around.pause };
  const times = reasonsOfTime(facts, around, own);
  // People claim jobs of a stage, so it needs no worker, and no limit holds it up.
  if (stage !== null) return [paused, disabled(around, nowMs), ...times, { reason: 'staged', stage }];
  const blocked: JobReason = { reason: 'blocked', needs: [...around.needs], more: around.needsMore };
  const isWaiting = job.state === 'waiting';
  return [
    noWorker(job.queue, around.workers, own),
    own.worksQueue && !own.handlesName ? { reason: 'no-handler' } : undefined,
    paused,
    group?.pause && { reason: 'group-paused', group: job.group!, ...group.pause },
    disabled(around, nowMs),
    own.closedBy && { reason: own.closedBy === 'pause' ? 'paused-here' : 'disabled-here' },
    job.state === 'blocked' ? blocked : undefined,
    ...(isWaiting ? reasonsOfLimits(around.limits, nowMs) : []),
    ...(isWaiting && group ? reasonsOfGroup(job.group!, group, own.groups, nowMs) : []),
    ...times,
    isWaiting && around.ahead.jobs > 0 ? { reason: 'behind', ...around.ahead } : undefined,
    isForPeople(around.workers, own) ? { reason: 'for-people' } : undefined,
  ];
}

function noWorker(queue: string, workers: WorkersFacts, own: OwnProcess): JobReason | undefined {
  if (workers.serving > 0 || isForPeople(workers, own)) return undefined;
  const here = !own.hasHandlers ? 'no-handler' : own.worksQueue ? 'not-running' : 'excluded';
  const [, suggestion = null] = /"(.*)"/.exec(didYouMean(queue, workers.servedQueues)) ?? [];
  return { reason: 'no-worker', excludedBy: workers.excluding, here, suggestion: own.hasHandlers ? null : suggestion };
}

function isForPeople({ isConsumed }: WorkersFacts, own: OwnProcess): boolean {
  return isConsumed && !own.hasHandlers;
}

function disabled({ enabled }: Surroundings, nowMs: number): JobReason | undefined {
  if (enabled === undefined || enabled === true || isEnabledAt(enabled, nowMs)) return undefined;
  return { reason: 'queue-disabled', enabled };
}

function reasonsOfLimits(limits: LimitFacts | undefined, nowMs: number): (JobReason | undefined)[] {
  if (!limits) return [];
  const { maxRunning, rate, use, restUntilMs, active } = limits;
  const isReached = maxRunning !== null && active.length >= maxRunning;
  const jobIds = active.slice(0, MAX_SHOWN_IDS);
  return [
    restUntilMs > nowMs ? { reason: 'queue-rests', until: new Date(restUntilMs) } : undefined,
    isReached ? { reason: 'limit-reached', limit: maxRunning, running: active.length, jobIds } : undefined,
    usedUp(rate, use, nowMs, (of) => ({ reason: 'rate-reached', ...of })),
  ];
}

function reasonsOfGroup(
  name: string,
  { isBlocked, overrides, use, restUntilMs, holders }: GroupFacts,
  rules: GroupRules,
  nowMs: number,
): (JobReason | undefined)[] {
  const { concurrency, rate } = { ...rules, ...overrides };
  const holding = holders.filter(
    ({ state }) => state === 'active' || (state === 'scheduled' && rules.onRetry === 'wait'),
  );
  const jobIds = holding.slice(0, MAX_SHOWN_IDS).map(({ id }) => id);
  const isRateUsedUp = rate !== null && jobsAllowed(rate, use, nowMs) === 0;
  // A process without the options of the queue does not know its limit, only that a claim has found it reached.
  const isFull = concurrency === null ? isBlocked && !isRateUsedUp : holding.length >= concurrency;
  return [
    restUntilMs > nowMs ? { reason: 'group-rests', group: name, until: new Date(restUntilMs) } : undefined,
    isFull && holding.length > 0 ? { reason: 'group-busy', group: name, limit: concurrency, jobIds } : undefined,
    usedUp(rate, use, nowMs, (of) => ({ reason: 'group-rate-reached', group: name, ...of })),
  ];
}

interface UsedUpRate {
  readonly limit: number;
  readonly perMs: number;
  readonly until: Date;
}

function usedUp(
  rate: Rate | null,
  use: RateUse,
  nowMs: number,
  reasonOf: (of: UsedUpRate) => JobReason,
): JobReason | undefined {
  if (rate === null || jobsAllowed(rate, use, nowMs) > 0) return undefined;
  const { limit, perMs } = rate;
  return reasonOf({ limit, perMs, until: new Date(nowMs + allowedInMs(rate, use, nowMs, 1)) });
}

function reasonsOfTime({ job, nowMs }: JobFacts, { step }: Surroundings, own: OwnProcess): JobReason[] {
  if (job.state !== 'scheduled' || job.runAtMs === null) return [];
  const at = new Date(job.runAtMs);
  const aheadMs = nowMs - own.nowMs;
  const clock: JobReason[] = Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS ? [{ reason: 'clock-differs', aheadMs }] : [];
  if (job.runAtMs <= nowMs) return [{ reason: 'due', since: at }];
  if (step?.isWait) return [{ reason: 'waits-for-signal', name: step.name, key: step.key, until: at }, ...clock];
  if (step) return [{ reason: 'sleeps', step: step.name, until: at }, ...clock];
  const cause = job.hasFailedLast ? 'retry' : job.attempt > 0 ? 'snooze' : 'delay';
  return [{ reason: 'scheduled', at, cause, attempt: job.attempt }, ...clock];
}
