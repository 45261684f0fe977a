import type { ClaimStrategy } from '../job/claim-strategy.js';
import { randomId } from '../job/random-id.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { Assignment, ConsumerStore } from '../store/consumer-store.js';
import type { JobStore } from '../store/job-store.js';
import type { ResolvedClaimOptions } from './claim-options.js';

export interface TakingParts {
  readonly store: Pick<ConsumerStore, 'isPaused' | 'share' | 'takeFromStage'>;
  readonly jobs: Pick<JobStore, 'claim' | 'chooseStrategies'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
}

// Between the claim and its sharing lie milliseconds. A process that dies there leaves jobs that count as not begun.
const BETWEEN_MS = 30_000;

/** Takes jobs as a worker does that claims ahead, in the queue's own way, and gives each a claim of its own then. */
export class Taking {
  readonly #strategies = new Map<string, ClaimStrategy>();

  constructor(
    private readonly parts: TakingParts,
    private readonly workerId: string,
  ) {}

  async take(queue: string, { stage, ...options }: ResolvedClaimOptions): Promise<Assignment[]> {
    const { store, jobs, optionsFor } = this.parts;
    const { order, retry, deadLetter } = optionsFor(queue);
    const assignee = { workerId: this.workerId, owner: options.owner, leaseMs: options.leaseMs, deadLetter };
    const asked = { queue, limit: options.limit, maxAttempts: retry.attempts };
    const strategy = await this.#strategyFor(queue);
    if (await store.isPaused(queue)) return [];
    if (stage !== null) return store.takeFromStage({ ...assignee, ...asked, stage });
    const claimId = randomId();
    const request = {
      ...asked,
      claimId,
      workerId: this.workerId,
      order,
      strategy,
      leaseMs: BETWEEN_MS,
      started: 0,
      deadLetter,
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
