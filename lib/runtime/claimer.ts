import { randomBytes } from 'node:crypto';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { ClaimRequest, JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';

export interface ClaimerParts {
  readonly queue: string;
  readonly workerId: string;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly options: ResolvedQueueOptions;
}

/** Asks the database for jobs of one queue, and remembers whether there is hope to find some. */
export class Claimer {
  /** Counts hints, so that one that comes during a claim is not forgotten when the claim comes back with too few. */
  #hints = 1;
  #heeded = 0;

  constructor(private readonly parts: ClaimerParts) {}

  /** Whether somebody hinted at jobs since the last claim that came back with too few. */
  get hasHope(): boolean {
    return this.#hints !== this.#heeded;
  }

  hint(): void {
    this.#hints++;
  }

  /** @param started how many of the jobs may begin before a flush says more */
  async claim(limit: number, started: number): Promise<HeldClaim | undefined> {
    const { queue, workerId, options, store, clock, logger } = this.parts;
    const hints = this.#hints;
    const request: ClaimRequest = {
      ...{ queue, workerId, limit, started, claimId: newClaimId(), order: options.order },
      ...{ leaseMs: options.leaseMs, maxAttempts: options.retry.attempts },
    };
    const askedAt = clock.monotonic();
    try {
      const jobs = await store.claim(request);
      if (jobs.length < limit) this.#heeded = hints;
      return jobs.length === 0 ? undefined : new HeldClaim(request, jobs, askedAt);
    } catch (error) {
      // The poll asks again; a claim that was made without our knowledge lapses by itself.
      this.#heeded = hints;
      logger.warn(`Cannot claim jobs of queue "${queue}": ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** 53 random bits: no restart and no failover can give one out twice. */
function newClaimId(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n) || 1;
}
