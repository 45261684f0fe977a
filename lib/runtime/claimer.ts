import type { ClaimedJob } from '../job/job.js';
import { randomId } from '../job/random-id.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { ChosenStrategy, ClaimRequest, JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import { ClaimTurns } from './claim-turns.js';
import { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Ask, Claimant, Settler } from './settler.js';
import type { Slots } from './slots.js';

export interface ClaimerParts {
  readonly queue: string;
  readonly workerId: string;
  readonly settler: Settler;
  readonly store: Pick<JobStore, 'settle'>;
  readonly slots: Pick<Slots, 'reserve' | 'unreserve'>;
  readonly leases: Pick<LeaseKeeper, 'hold'>;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly options: ResolvedQueueOptions;
  /** Known when the worker has entered the database. */
  readonly strategy: () => ChosenStrategy;
  /** The lock under which to claim; 0: none is needed. Undefined while there is none. */
  readonly lockId: () => number | undefined;
}

/** What to ask for. */
export interface Wanted {
  readonly limit: number;
  /** How many of the jobs may begin before a flush says more. */
  readonly started: number;
  /** How many slots are there for them. */
  readonly slots: number;
}

/** What a claim has brought; without a claim nothing is ours. */
interface Claimed {
  readonly claim?: HeldClaim;
  readonly jobs: readonly ClaimedJob[];
}

// Two, so that one is answered while the jobs of the other run.
const MOST_UNDER_WAY = 2;

/** Asks the database for jobs of one queue, and remembers whether there is hope to find some. */
export class Claimer implements Claimant {
  /** Counts hints, so that one that comes during a claim is not forgotten when the claim comes back with too few. */
  #hints = 1;
  #heeded = 0;
  #asking = false;
  /** What is reserved until it has asked. */
  #toAsk = 0;
  #underWay = 0;
  readonly #turns = new ClaimTurns();
  #expected = 0;
  /** Slots that nobody else takes while a claim asks for jobs for them. */
  #reserved = 0;

  /**
   * @param wanted what is wanted at that moment, if anything
   * @param receive given each claim that found jobs
   * @param answered called after each answer
   */
  constructor(
    private readonly parts: ClaimerParts,
    private readonly wanted: () => Wanted | undefined,
    private readonly receive: (claim: HeldClaim, jobs: readonly ClaimedJob[]) => void,
    private readonly answered: () => void,
  ) {}

  get isIdle(): boolean {
    return !this.#asking && this.#turns.isOver;
  }

  /** Jobs that claims may bring, and those that wait for their turn. */
  get expected(): number {
    return this.#expected;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Whether somebody hinted at jobs since the last claim that came back with too few. */
  get hasHope(): boolean {
    return this.#hints !== this.#heeded;
  }

  hint(): void {
    this.#hints++;
  }

  /** Asks, where there is hope that somebody hinted at since the last claim that came back with too few. */
  ask(): void {
    const wanted = this.#asking || !this.#mayAsk ? undefined : this.wanted();
    if (!wanted) return;
    this.#asking = true;
    this.#toAsk = this.#reserve(wanted.slots);
    this.parts.settler.claim(this);
  }

  begin(): Ask | undefined {
    this.#asking = false;
    this.#unreserve(this.#toAsk);
    const wanted = this.#mayAsk ? this.wanted() : undefined;
    if (!wanted) {
      this.answered();
      return undefined;
    }
    const { queue, workerId, options, clock } = this.parts;
    const { limit, started } = wanted;
    const { name, mayShare } = this.parts.strategy();
    const lockId = this.parts.lockId()!;
    const turn = this.#turns.begin();
    const request: ClaimRequest = {
      ...{ queue, workerId, limit, started, claimId: randomId(), order: options.order, strategy: name, lockId },
      ...{ leaseMs: options.leaseMs, maxAttempts: options.retry.attempts, deadLetter: options.deadLetter },
      onChoosing: () => turn.choosing(),
      onLocked: () => turn.locked(),
    };
    const hints = this.#hints;
    const askedAt = clock.monotonic();
    this.#underWay++;
    this.#expected += request.limit;
    const slots = this.#reserve(wanted.slots);
    const answer = async (jobs: Promise<ClaimedJob[]>) => {
      const claimed = await this.#claimOf(request, jobs, askedAt);
      const found = claimed.jobs.length;
      this.#underWay--;
      this.#expected -= request.limit - found;
      if (found < request.limit) this.#heeded = hints;
      turn.answered(() => {
        this.#unreserve(slots);
        this.#expected -= found;
        if (claimed.claim) this.receive(claimed.claim, claimed.jobs);
      });
      this.#turns.receive();
      this.answered();
    };
    return { request, mayShare, answer: (jobs) => void answer(jobs) };
  }

  /** What the claim has brought. Its lease is renewed from now on. */
  async #claimOf(request: ClaimRequest, asked: Promise<ClaimedJob[]>, askedAt: number): Promise<Claimed> {
    let jobs: readonly ClaimedJob[] = [];
    let mayBeOurs = false;
    try {
      jobs = await asked;
      mayBeOurs = jobs.length > 0;
    } catch (error) {
      // The poll asks again; a claim that was made without our knowledge lapses by itself.
      this.parts.logger.warn(`Cannot claim jobs of queue "${request.queue}": ${(error as Error).message}`);
      mayBeOurs = (error as { outcome?: string }).outcome === 'unknown';
    }
    // Under a lock that is lost, they are anybody's.
    const isHeld = jobs.length > 0 && request.lockId === this.parts.lockId();
    if (mayBeOurs && !isHeld) await this.#disown(request);
    if (!isHeld) return { jobs };
    const claim = new HeldClaim(request, jobs, askedAt);
    this.parts.leases.hold(claim);
    return { claim, jobs };
  }

  /** No job of it has begun or will: whoever rescues them shall not count an attempt. Where that fails, one is counted. */
  async #disown({ claimId }: ClaimRequest): Promise<void> {
    const claims = [{ id: claimId, started: 0, finished: false }];
    const flush = { settlements: [], claims, again: false, mayBeTaken: new Set<number>() };
    await this.parts.store.settle(flush).catch(() => undefined);
  }

  #reserve(slots: number): number {
    this.parts.slots.reserve(slots);
    this.#reserved += slots;
    return slots;
  }

  #unreserve(slots: number): void {
    this.parts.slots.unreserve(slots);
    this.#reserved -= slots;
  }

  get #mayAsk(): boolean {
    return this.#underWay < MOST_UNDER_WAY && this.hasHope && this.parts.lockId() !== undefined;
  }
}
