import { hasCode } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import {
  JobsLockedError,
  type ClaimProgress,
  type ClaimRequest,
  type Flush,
  type JobStore,
  type Settlement,
} from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';
import { insteadOf } from './refused-outcome.js';

/**
 * The outcome that has committed: another than was asked for, where the database refused that one. `lost`: the job was not
 * ours any more, and nothing was written.
 */
export type Settled = Outcome | 'lost';

interface Entry {
  readonly claim: HeldClaim;
  /** Undefined: only a wish that more of the claim's jobs may begin. */
  readonly settlement: Settlement | undefined;
  /** How often the database has refused this outcome. */
  readonly refusals?: number;
  /** It stands for another one, which the database would not have. */
  readonly isSubstitute?: true;
  /** Somebody else had the job locked when it was last tried. */
  readonly wasLocked?: true;
  readonly done: (settled: Settled) => void;
}

/** A claim on its way. */
export interface Ask {
  readonly request: ClaimRequest;
  /** Whether outcomes may go in the same transaction. */
  readonly mayShare: boolean;
  answer(jobs: Promise<ClaimedJob[]>): void;
}

/** Somebody who wants jobs. */
export interface Claimant {
  /** Called when the moment has come; undefined where it wants nothing any more. */
  begin(): Ask | undefined;
}

/** What was sent together, or a part of it: what was perhaps written before can be told only as a whole. */
interface Part {
  readonly entries: readonly Entry[];
  readonly again: boolean;
}

const LARGEST_FLUSH = 1_000;
// Who interrupts a statement, or has it interrupted by a limit, refuses nothing for good.
const MOST_REFUSALS = 4;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Group commit: while one flush of outcomes is under way the next ones gather, and go together when it returns. An idle
 * worker's outcome goes at once. Where jobs are to be claimed too, both go in one transaction. An outcome counts when its
 * flush has committed; a database that is away is asked again until it is back, since only the fence may decide that a job
 * was lost.
 */
export class Settler {
  #gathered: Entry[] = [];
  /** The database would not have them yet; now it may. */
  #putOff: Part[] = [];
  #claimants = new Set<Claimant>();
  #retiring: number[] = [];
  /** Claims that a flush under way speaks of: the next one that does has to know how it ended. */
  readonly #inFlight = new Set<HeldClaim>();
  readonly #flushes = new Set<Promise<void>>();
  /** How many of them are of what was gathered. */
  #flushing = 0;
  #turning: Promise<void> | undefined;
  readonly #givingUp = new AbortController();

  /**
   * @param ahead how many more jobs of a claim may begin before the next flush
   * @param onLost told of a claim that has been rescued, or may be
   */
  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    private readonly logger: JobLogger,
    private readonly ahead: (claim: HeldClaim) => number,
    private readonly onLost: (claim: HeldClaim) => void,
  ) {}

  settle(claim: HeldClaim, settlement: Settlement, done: (settled: Settled) => void): void {
    claim.ends(settlement.job.id);
    this.#gather({ claim, settlement, done });
  }

  /** Lets more of the claim's jobs begin, also when none has ended just now. */
  allowMore(claim: HeldClaim, done: () => void): void {
    this.#gather({ claim, settlement: undefined, done });
  }

  /** Claims with the next flush, or by itself where none is due. */
  claim(claimant: Claimant): void {
    this.#claimants.add(claimant);
    this.#turn();
  }

  /** The job completed in its handler's transaction; once it was the claim's last, the claim can go. */
  committed(claim: HeldClaim, jobId: number): void {
    claim.unsettled.delete(jobId);
    this.#retireIfDone(claim);
  }

  /** Resolves when all that was gathered has been written. */
  async idle(): Promise<void> {
    while (this.#turning || this.#flushes.size > 0) await Promise.all([this.#turning, ...this.#flushes]);
  }

  /** Stops asking a database that is away: what could not be written is left to the lease. */
  giveUp(): void {
    this.#givingUp.abort();
  }

  #gather(entry: Entry): void {
    this.#gathered.push(entry);
    this.#turn();
  }

  #retireIfDone(claim: HeldClaim): void {
    if (!claim.transacted || claim.mustLapse || claim.unsettled.size > 0) return;
    this.#retiring.push(claim.id);
    this.#turn();
  }

  #turn(): void {
    this.#turning ??= this.#sendNext();
  }

  /** After this turn of the event loop, so that what ends together goes together. */
  async #sendNext(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#turning = undefined;
    this.#send();
  }

  #send(): void {
    for (const claimant of this.#claimants) {
      this.#claimants.delete(claimant);
      const ask = claimant.begin();
      if (!ask) continue;
      const entries = ask.mayShare ? this.#take() : [];
      this.#flush(entries, this.#exchange(entries, ask));
    }
    const entries = this.#flushing === 0 ? this.#take() : [];
    if (entries.length > 0) this.#flush(entries, this.#write(entries));
    for (const part of this.#putOff.splice(0)) {
      const isWaitedFor = part.entries.some(({ claim }) => this.#inFlight.has(claim));
      if (isWaitedFor) this.#putOff.push(part);
      else this.#track(part.entries, this.#write(part.entries, { again: part.again }));
    }
    const done = this.#retiring.splice(0);
    // A claim that stays lapses, and then goes with the next rescue.
    if (done.length > 0)
      this.#track(
        [],
        this.store.retire(done).catch(() => undefined),
      );
  }

  /** Of what was gathered: the next one waits for it, but where it goes with a claim. */
  #flush(entries: readonly Entry[], work: Promise<void>): void {
    if (entries.length === 0) return this.#track(entries, work);
    this.#flushing++;
    this.#track(
      entries,
      work.finally(() => this.#flushing--),
    );
  }

  #track(entries: readonly Entry[], work: Promise<void>): void {
    for (const { claim } of entries) this.#inFlight.add(claim);
    const flush = work.finally(() => {
      this.#flushes.delete(flush);
      for (const { claim } of entries) this.#inFlight.delete(claim);
      if (this.#gathered.length + this.#putOff.length > 0) this.#turn();
    });
    this.#flushes.add(flush);
  }

  /** The oldest that were gathered, but for those of claims that another flush speaks of. */
  #take(): Entry[] {
    const free = this.#gathered.filter(({ claim }) => !this.#inFlight.has(claim));
    const taken = free.slice(0, LARGEST_FLUSH);
    if (taken.length === this.#gathered.length) this.#gathered = [];
    else if (taken.length > 0) {
      const gone = new Set(taken);
      this.#gathered = this.#gathered.filter((entry) => !gone.has(entry));
    }
    return taken;
  }

  async #exchange(entries: readonly Entry[], { request, answer }: Ask): Promise<void> {
    if (entries.length === 0) return answer(this.store.claim(request));
    let claimed: ClaimedJob[] | undefined;
    const first = async (flush: Flush) => {
      try {
        const { lost, jobs } = await this.store.settleAndClaim(flush, request);
        claimed = jobs;
        return lost;
      } catch (error) {
        answer(this.#claimAfter(error, request));
        throw error;
      }
    };
    await this.#write(entries, { first });
    // What has ended is told first: one of these jobs may be among them.
    if (claimed) answer(Promise.resolve(claimed));
  }

  /** That an outcome was refused is no reason not to claim; that the database is away is one. */
  async #claimAfter(error: unknown, request: ClaimRequest): Promise<ClaimedJob[]> {
    if (hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    return this.store.claim(request);
  }

  /**
   * @param first how to write them the first time
   * @param again whether they may have been written before
   */
  async #write(
    entries: readonly Entry[],
    { first, again = false }: { first?: (flush: Flush) => Promise<ReadonlySet<Settlement>>; again?: boolean } = {},
  ): Promise<void> {
    let send = first;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const unwanted = new Set<Settlement>();
      const gone = new Set<number>();
      const { flush, started } = this.#flushOf(entries, again, { unwanted, gone });
      try {
        const lost = await (send?.(flush) ?? this.store.settle(flush));
        return this.#written(entries, started, { lost, unwanted, gone });
      } catch (error) {
        send = undefined;
        if (error instanceof JobsLockedError) return this.#writeAround({ entries, again }, error);
        if (!hasCode(error, 'STORE_UNAVAILABLE')) return this.#writeLess({ entries, again }, error);
        if (this.#givingUp.signal.aborted) return this.#forsake(entries);
        if ((error as { outcome?: string }).outcome === 'unknown') again = true;
        if (pauseMs === SHORTEST_PAUSE_MS)
          this.logger.warn(`Outcomes wait for the database: ${(error as Error).message}`);
        await this.clock.sleep(pauseMs, this.#givingUp.signal);
      }
    }
  }

  /**
   * @param unwanted filled with those that are cancelled instead of sent back
   * @param gone filled with the ids of claims that have been rescued, or may be
   */
  #flushOf(
    entries: readonly Entry[],
    again: boolean,
    { unwanted, gone }: { unwanted: Set<Settlement>; gone: Set<number> },
  ): { flush: Flush; started: Map<HeldClaim, number> } {
    const settling = new Map<HeldClaim, Set<number>>();
    const settlements: Settlement[] = [];
    for (const { claim, settlement } of entries) {
      let ids = settling.get(claim);
      if (!ids) settling.set(claim, (ids = new Set()));
      if (!settlement) continue;
      ids.add(settlement.job.id);
      settlements.push(settlement);
    }
    const wereLocked = entries.some(({ wasLocked }) => wasLocked);
    const claims: ClaimProgress[] = [];
    const mayBeTaken = new Set<number>();
    const started = new Map<HeldClaim, number>();
    for (const [claim, ids] of settling) {
      const progress = claim.progress(ids, this.ahead(claim));
      started.set(claim, progress.started);
      if (claim.mayBeTaken(this.clock.monotonic())) mayBeTaken.add(claim.id);
      if (progress.finished || progress.started > claim.started) claims.push(progress);
    }
    const onCancelled = (cancelled: ReadonlySet<Settlement>) => cancelled.forEach((one) => unwanted.add(one));
    const onGone = (ids: ReadonlySet<number>) => ids.forEach((id) => gone.add(id));
    return { flush: { settlements, claims, again, wereLocked, mayBeTaken, onCancelled, onGone }, started };
  }

  #written(
    entries: readonly Entry[],
    started: ReadonlyMap<HeldClaim, number>,
    { lost, unwanted, gone }: Record<'lost' | 'unwanted', ReadonlySet<Settlement>> & { gone: ReadonlySet<number> },
  ): void {
    for (const [claim, count] of started) {
      if (gone.has(claim.id)) this.onLost(claim);
      else claim.started = count;
    }
    for (const { claim, settlement, done } of entries) {
      if (settlement) claim.unsettled.delete(settlement.job.id);
      this.#retireIfDone(claim);
      if (!settlement || lost.has(settlement)) done('lost');
      else done(unwanted.has(settlement) ? { kind: 'cancel' } : settlement.outcome);
    }
  }

  /** A flush that the database refuses is halved until the culprit is alone; in the end its outcome becomes an error that fits. */
  async #writeLess({ entries, again }: Part, error: unknown): Promise<void> {
    if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2);
      await this.#write(entries.slice(0, half), { again });
      return this.#write(entries.slice(half), { again });
    }
    const [entry] = entries as [Entry];
    const { settlement, refusals = 0, isSubstitute } = entry;
    if (refusals + 1 < MOST_REFUSALS && !this.#givingUp.signal.aborted) {
      const refused = { entries: [{ ...entry, refusals: refusals + 1 }], again };
      return this.#track([], this.#writeLater(refused, SHORTEST_PAUSE_MS * 2 ** refusals));
    }
    const { name, message } = storedError(error);
    this.logger.error(`The database refused the outcome of job ${settlement?.job.id ?? '(none)'}: ${message}`);
    if (!settlement || isSubstitute) return this.#forsake(entries);
    const short = { name, message: message.slice(0, 500) };
    const { outcome, isLast } = insteadOf(settlement, short);
    const substitute = { ...entry, refusals: 0, settlement: { ...settlement, outcome } };
    return this.#write([isLast ? { ...substitute, isSubstitute: true } : substitute]);
  }

  /** One job that somebody has locked, a transaction of its own handler for one, must not hold up all the others. */
  #writeAround({ entries, again }: Part, { settlements, message }: JobsLockedError): Promise<void> {
    const isLocked = ({ settlement }: Entry) => settlement !== undefined && settlements.has(settlement);
    const locked = entries.filter(isLocked);
    if (locked.some(({ wasLocked }) => !wasLocked)) this.logger.warn(`${message} Their outcomes wait until it ends.`);
    if (this.#givingUp.signal.aborted) this.#forsake(locked);
    else {
      const entriesLater = locked.map((entry) => ({ ...entry, wasLocked: true as const }));
      this.#track([], this.#writeLater({ entries: entriesLater, again }, LONGEST_PAUSE_MS));
    }
    const others = entries.filter((entry) => !isLocked(entry));
    return others.length === 0 ? Promise.resolve() : this.#write(others, { again });
  }

  /** The claim still has other jobs, perhaps for hours, and its lease is renewed as long: only we can end these. */
  async #writeLater(part: Part, pauseMs: number): Promise<void> {
    await this.clock.sleep(pauseMs, this.#givingUp.signal);
    this.#putOff.push(part);
    this.#turn();
  }

  /** The lease will lapse, and whoever rescues the jobs decides. */
  #forsake(entries: readonly Entry[]): void {
    for (const { claim, settlement, done } of entries) {
      claim.mustLapse = true;
      if (settlement) claim.unsettled.delete(settlement.job.id);
      done('lost');
    }
  }
}
