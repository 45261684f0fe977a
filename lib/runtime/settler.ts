import { storedError } from '../job/stored-error.js';
import { hasCode } from '../job/errors.js';
import type { Outcome } from '../job/outcome.js';
import type { JobStore, Settlement } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';

/**
 * The outcome that has committed: another than was asked for, where the database refused that one. `lost`: the job was not
 * ours any more, and nothing was written.
 */
export type Settled = Outcome | 'lost';

interface Entry {
  readonly claim: HeldClaim;
  /** Undefined: only a wish that more of the claim's jobs may begin. */
  readonly settlement: Settlement | undefined;
  /** The database refused the outcome before; this one stands for it. */
  readonly refused?: true;
  readonly resolve: (settled: Settled | undefined) => void;
}

const LARGEST_FLUSH = 500;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Group commit: while one flush of outcomes is under way the next ones gather, and go together when it returns. An idle
 * worker's outcome goes at once. An outcome counts when its flush has committed; a database that is away is asked again
 * until it is back, since only the fence may decide that a job was lost.
 */
export class Settler {
  #gathered: Entry[] = [];
  #retiring: number[] = [];
  #flushing: Promise<void> | undefined;
  readonly #givingUp = new AbortController();

  /** @param ahead how many jobs of a queue may begin before the next flush */
  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    private readonly logger: JobLogger,
    private readonly ahead: (queue: string) => number,
  ) {}

  async settle(claim: HeldClaim, settlement: Settlement): Promise<Settled> {
    return (await this.#gather(claim, settlement)) ?? 'lost';
  }

  /** Lets more of the claim's jobs begin, also when none has ended just now. */
  async allowMore(claim: HeldClaim): Promise<void> {
    await this.#gather(claim, undefined);
  }

  /** The job completed in its handler's transaction; once it was the claim's last, the claim can go. */
  committed(claim: HeldClaim, jobId: number): void {
    claim.unsettled.delete(jobId);
    this.#retireIfDone(claim);
  }

  /** Resolves when all that was gathered has been written. */
  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  /** Stops asking a database that is away: what could not be written is left to the lease. */
  giveUp(): void {
    this.#givingUp.abort();
  }

  #gather(claim: HeldClaim, settlement: Settlement | undefined): Promise<Settled | undefined> {
    return new Promise((resolve) => {
      this.#gathered.push({ claim, settlement, resolve });
      this.#flushing ??= this.#flushAll();
    });
  }

  #retireIfDone(claim: HeldClaim): void {
    if (!claim.transacted || claim.mustLapse || claim.unsettled.size > 0) return;
    this.#retiring.push(claim.id);
    this.#flushing ??= this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    // One turn of the event loop's microtasks, so that what ends together goes together.
    await Promise.resolve();
    while (this.#gathered.length > 0 || this.#retiring.length > 0) {
      if (this.#gathered.length > 0) await this.#write(this.#gathered.splice(0, LARGEST_FLUSH));
      const done = this.#retiring.splice(0);
      // A claim that stays lapses, and then goes with the next rescue.
      if (done.length > 0) await this.store.retire(done).catch(() => undefined);
    }
    this.#flushing = undefined;
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    let again = false;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return this.#written(entries, await this.#flush(entries, again));
      } catch (error) {
        if (!hasCode(error, 'STORE_UNAVAILABLE')) return this.#writeLess(entries, error);
        if (this.#givingUp.signal.aborted) return this.#forsake(entries);
        if ((error as { outcome?: string }).outcome === 'unknown') again = true;
        if (pauseMs === SHORTEST_PAUSE_MS)
          this.logger.warn(`Outcomes wait for the database: ${(error as Error).message}`);
        await this.clock.sleep(pauseMs, this.#givingUp.signal);
      }
    }
  }

  async #flush(entries: readonly Entry[], again: boolean): Promise<ReadonlySet<Settlement>> {
    const claims = new Map<HeldClaim, Set<number>>();
    for (const { claim, settlement } of entries) {
      const settling = claims.get(claim) ?? new Set<number>();
      if (settlement) settling.add(settlement.job.id);
      claims.set(claim, settling);
    }
    const progress = new Map([...claims].map(([claim, ids]) => [claim, claim.progress(ids, this.ahead(claim.queue))]));
    const settlements = entries.flatMap(({ settlement }) => settlement ?? []);
    const news = [...progress].filter(([claim, { started, finished }]) => finished || started > claim.started);
    const lost = await this.store.settle({ settlements, claims: news.map(([, each]) => each), again });
    for (const [claim, { started }] of progress) claim.started = started;
    return lost;
  }

  #written(entries: readonly Entry[], lost: ReadonlySet<Settlement>): void {
    for (const { claim, settlement, resolve } of entries) {
      if (settlement) claim.unsettled.delete(settlement.job.id);
      this.#retireIfDone(claim);
      resolve(settlement && lost.has(settlement) ? 'lost' : settlement?.outcome);
    }
  }

  /** A flush that the database refuses is halved until the culprit is alone; then its outcome becomes an error that fits. */
  async #writeLess(entries: readonly Entry[], error: unknown): Promise<void> {
    if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2);
      await this.#write(entries.slice(0, half));
      return this.#write(entries.slice(half));
    }
    const [entry] = entries as [Entry];
    const { settlement } = entry;
    const { name, message } = storedError(error);
    this.logger.error(`The database refused the outcome of job ${settlement?.job.id ?? '(none)'}: ${message}`);
    if (!settlement || entry.refused) return this.#forsake(entries);
    const { attempt, maxAttempts } = settlement.job;
    const short = { name, message: message.slice(0, 500) };
    const outcome: Settlement['outcome'] =
      attempt < maxAttempts ? { kind: 'retry', delayMs: 1_000, error: short } : { kind: 'dead', error: short };
    return this.#write([{ ...entry, refused: true, settlement: { ...settlement, outcome } }]);
  }

  /** The lease will lapse, and whoever rescues the jobs decides. */
  #forsake(entries: readonly Entry[]): void {
    for (const { claim, settlement, resolve } of entries) {
      claim.mustLapse = true;
      if (settlement) claim.unsettled.delete(settlement.job.id);
      resolve('lost');
    }
  }
}
