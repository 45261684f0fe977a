import type { ClaimStrategy } from '../job/claim-strategy.js';
import type { ClaimedJob } from '../job/job.js';
import { hasCode, type StoreUnavailableError } from '../job/errors.js';
import { randomId } from '../job/random-id.js';
import { endOfMalformed, type Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { rescueRules } from '../job/rescue-rules.js';
import type { RuleParts } from '../job/user-rule.js';
import type { Assignment, ConsumerStore } from '../store/consumer-store.js';
import type { JobStore, PromotedJob, Rescued } from '../store/job-store.js';
import type { ResolvedClaimOptions } from './claim-options.js';

export interface TakingParts extends RuleParts {
  readonly store: Pick<ConsumerStore, 'mayTake' | 'share' | 'takeFromStage' | 'end'>;
  readonly jobs: Pick<JobStore, 'claim' | 'chooseStrategies' | 'survey' | 'promote' | 'rescue'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Told of jobs that somebody has taken, and that are due, where this process did it. */
  readonly claimed: (jobs: readonly ClaimedJob[], owner: string) => void;
  readonly promoted: (jobs: readonly PromotedJob[]) => void;
  /** Told of each job that has ended here, once that has committed. */
  readonly ended: (job: ClaimedJob, outcome: Outcome, result: unknown, heldMs: number, owner: string) => void;
  /** Told of jobs whose holders fell silent. */
  readonly rescued: (rescued: readonly Rescued[]) => void;
}

// Between the claim and its sharing lie milliseconds. A process that dies there leaves jobs that count as not begun.
const BETWEEN_MS = 30_000;
const PROMOTE_BATCH = 500;

/** Takes jobs as a worker does that claims ahead, in the queue's own way, and gives each a claim of its own then. */
export class Taking {
  readonly #strategies = new Map<string, ClaimStrategy>();

  constructor(
    private readonly parts: TakingParts,
    private readonly workerId: string,
  ) {}

  /** Where there is nothing, what is due or has lapsed is looked for first: it may be that no worker runs anywhere. */
  async take(queue: string, options: ResolvedClaimOptions): Promise<Assignment[]> {
    const taken = await this.#take(queue, options);
    return taken.length === 0 && (await this.#freesMore(queue)) ? this.#take(queue, options) : taken;
  }

  /** Both may be done twice. What was done unheard is not found again, and may have freed something. */
  async #freesMore(queue: string): Promise<boolean> {
    for (let again = false; ; again = true) {
      try {
        return (await this.#free(queue)) > 0 || again;
      } catch (error) {
        const isUnheard = hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
        if (again || !isUnheard) throw error;
      }
    }
  }

  async #free(queue: string): Promise<number> {
    const { jobs, optionsFor, rescued, promoted: onPromoted } = this.parts;
    const { dueInMs, lapseInMs } = await jobs.survey([queue]);
    const promoted = dueInMs === 0 ? await jobs.promote(PROMOTE_BATCH, onPromoted) : 0;
    const freed = lapseInMs === 0 ? await jobs.rescue(rescueRules(optionsFor, this.parts)) : [];
    rescued(freed);
    return promoted + freed.length;
  }

  /** Jobs that cannot be understood become dead on the way: nobody could do them. */
  async #take(queue: string, options: ResolvedClaimOptions): Promise<Assignment[]> {
    const taken = await this.#assign(queue, options);
    const readable = taken.filter(({ job }) => !job.malformed);
    for (const assignment of taken) if (assignment.job.malformed) await this.end(assignment);
    return readable.length === 0 && taken.length > 0 ? this.#take(queue, options) : readable;
  }

  /** Ends a job whose row cannot be understood. */
  async end({ job, claimId }: Assignment): Promise<void> {
    const { store, optionsFor, ended } = this.parts;
    const { retention, deadLetter } = optionsFor(job.queue);
    const outcome = endOfMalformed(job)!;
    const { heldMs, owner } = await store.end(job.id, { token: claimId }, () => ({
      ...{ outcome, keepMs: retention.deadMs, deadLetter },
    }));
    ended(job, outcome, undefined, heldMs, owner);
  }

  async #assign(queue: string, { stage, ...options }: ResolvedClaimOptions): Promise<Assignment[]> {
    const { store, jobs, optionsFor } = this.parts;
    const { order, retry, deadLetter } = optionsFor(queue);
    const assignee = { workerId: this.workerId, owner: options.owner, leaseMs: options.leaseMs, deadLetter };
    const asked = { queue, limit: options.limit, maxAttempts: retry.attempts };
    const strategy = await this.#strategyFor(queue);
    if (!(await store.mayTake(queue))) return [];
    if (stage !== null) return store.takeFromStage({ ...assignee, ...asked, stage });
    const claimId = randomId();
    const request = {
      ...asked,
      claimId,
      owner: options.owner,
      workerId: this.workerId,
      order,
      strategy,
      leaseMs: BETWEEN_MS,
      started: 0,
      deadLetter,
      once: true,
    };
    const claimed = await jobs.claim(request);
    return claimed.length === 0 ? [] : store.share({ ...assignee, claimId, jobs: claimed });
  }

  async #strategyFor(queue: string): Promise<ClaimStrategy> {
    const known = this.#strategies.get(queue);
    if (known) return known;
    const { of } = await this.parts.jobs.chooseStrategies(new Map([[queue, this.parts.optionsFor(queue).claim]]));
    const { name } = of.get(queue)!;
    this.#strategies.set(queue, name);
    return name;
  }
}
