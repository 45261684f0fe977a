import { pageSize } from '../common/lists.js';
import { logText } from '../common/logger.js';
import { messageOf } from '../common/message-text.js';
import type { ClaimStrategy } from '../job/claim-strategy.js';
import { isOutcomeUnknown } from '../job/errors.js';
import { DEFAULT_GROUP_RULES } from '../job/groups/group-options.js';
import { randomId } from '../job/identifiers.js';
import { outcomeWithoutRun } from '../job/outcome.js';
import type { Assignment } from '../store/features/people/consumer-store.js';
import type { ResolvedClaimOptions } from './claim-options.js';
import type { ConsumerParts } from './consumer-parts.js';

// The split follows the claim within milliseconds. If the process dies in between, the jobs are retried after this
// lease, and their attempts do not count.
const SPLIT_LEASE_MS = 30_000;
const PROMOTE_BATCH = 500;

/** Claims jobs as a worker does that prefetches, and then splits the claim into one per job. */
export class ConsumerClaimer {
  readonly #strategies = new Map<string, ClaimStrategy>();

  constructor(
    private readonly parts: Pick<
      ConsumerParts,
      'store' | 'jobs' | 'optionsFor' | 'logger' | 'promoted' | 'rescue' | 'ended'
    >,
    private readonly workerId: string,
  ) {}

  /** If the queue has no waiting job, promotes due jobs and rescues jobs first, because no worker may be running. */
  async claim(queue: string, options: ResolvedClaimOptions): Promise<Assignment[]> {
    const claimed = await this.#claimRunnable(queue, options);
    return claimed.length === 0 && (await this.#makeMoreClaimable(queue))
      ? this.#claimRunnable(queue, options)
      : claimed;
  }

  /** Repeats both if an answer is lost. The lost one may have made jobs claimable that the second does not report. */
  async #makeMoreClaimable(queue: string): Promise<boolean> {
    for (let isRetry = false; ; isRetry = true) {
      try {
        return (await this.#promoteAndRescue(queue)) > 0 || isRetry;
      } catch (error) {
        if (isRetry || !isOutcomeUnknown(error)) throw error;
      }
    }
  }

  async #promoteAndRescue(queue: string): Promise<number> {
    const { jobs, rescue } = this.parts;
    const { dueInMs, leaseExpiryInMs } = await jobs.summarizeWork([queue]);
    const promoted = dueInMs === 0 ? await jobs.promote(pageSize(PROMOTE_BATCH)) : [];
    this.parts.promoted(promoted);
    const rescuedCount = leaseExpiryInMs === 0 ? await rescue() : 0;
    return promoted.length + rescuedCount;
  }

  /** Ends malformed and expired jobs, and returns the others. If an end fails, the rest keep their leases. */
  async #claimRunnable(queue: string, options: ResolvedClaimOptions): Promise<Assignment[]> {
    const claimed = await this.#claimAndSplit(queue, options);
    const runnable = claimed.filter(({ job }) => !outcomeWithoutRun(job));
    for (const assignment of claimed) {
      if (runnable.includes(assignment)) continue;
      try {
        await this.endWithoutRun(assignment);
      } catch (error) {
        if (runnable.length === 0) throw error;
        // The caller needs the others while it holds them, and further ends could fail as slowly.
        const { id } = assignment.job;
        this.parts.logger.warn(`Cannot end job ${id} of queue "${queue}" without a run: ${logText(messageOf(error))}`);
        break;
      }
    }
    return runnable.length === 0 && claimed.length > 0 ? this.#claimRunnable(queue, options) : runnable;
  }

  async endWithoutRun({ job, claimId }: Assignment): Promise<void> {
    const { store, optionsFor, ended } = this.parts;
    const { retention, deadLetter } = optionsFor(job.queue);
    const outcome = outcomeWithoutRun(job)!;
    const { heldMs, owner } = await store.end(job.id, { token: claimId }, () => ({
      outcome,
      retentionMs: retention.deadMs,
      deadLetter,
    }));
    ended(job, outcome, undefined, heldMs, owner);
  }

  async #claimAndSplit(queue: string, { stage, ...options }: ResolvedClaimOptions): Promise<Assignment[]> {
    const { store, jobs, optionsFor } = this.parts;
    const { order, retry, deadLetter, groups } = optionsFor(queue);
    const assignee = { workerId: this.workerId, owner: options.owner, leaseMs: options.leaseMs, deadLetter };
    const selection = { queue, limit: options.limit, maxAttempts: retry.attempts };
    const strategy = await this.#strategyFor(queue);
    const { isPaused, isLimited, hasGroups } = await store.claimPermit(queue);
    if (isPaused) return [];
    if (stage !== null) return store.claimFromStage({ ...assignee, ...selection, stage });
    const rules = groups ?? (hasGroups ? DEFAULT_GROUP_RULES : undefined);
    const claimId = randomId();
    const claimed = await jobs.claim({
      ...selection,
      claimId,
      owner: options.owner,
      workerId: this.workerId,
      order,
      strategy,
      leaseMs: SPLIT_LEASE_MS,
      startLimit: 0,
      deadLetter,
      once: true,
      isLimited,
      ...(rules && { groups: rules }),
    });
    return claimed.length === 0 ? [] : store.splitClaim({ ...assignee, claimId, jobs: claimed });
  }

  async #strategyFor(queue: string): Promise<ClaimStrategy> {
    const known = this.#strategies.get(queue);
    if (known) return known;
    const { byQueue } = await this.parts.jobs.chooseStrategies(new Map([[queue, this.parts.optionsFor(queue).claim]]));
    const { name } = byQueue.get(queue)!;
    this.#strategies.set(queue, name);
    return name;
  }
}
