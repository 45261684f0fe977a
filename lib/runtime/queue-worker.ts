import { JobCancelledError, LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { endOfMalformed, isSuspect } from '../job/outcome.js';
import { Attempt } from './attempt.js';
import { ClaimedAhead, type Place } from './claimed-ahead.js';
import { Claimer, type ClaimerParts, type Wanted } from './claimer.js';
import { Ending, type EndingParts } from './ending.js';
import type { HeldClaim } from './held-claim.js';
import { Prefetch } from './prefetch.js';
import { Run, type HandlerEntry } from './run.js';
import type { Slots } from './slots.js';

// A worker that has room for more than the first asks for half of its room at a time, so that the answer to one claim
// comes while the jobs of the other run; up to the second, where a larger one hardly costs less for each job.
const UNDIVIDED_CLAIM = 100;
const LARGEST_CLAIM = 1_000;

export interface QueueWorkerParts extends EndingParts {
  readonly queue: string;
  /** The handler for jobs of that name, if this process has one. */
  readonly handlerFor: (name: string) => HandlerEntry | undefined;
  /** The most jobs that one call of a handler takes. */
  readonly largestBatch: number;
  readonly slots: Slots;
  readonly strategy: ClaimerParts['strategy'];
  readonly lockId: ClaimerParts['lockId'];
  /** One of the process's slots is free for the next job, of whatever queue. */
  readonly onSlotFree: () => void;
  /** The whole queue, or a part of it, has become idle. */
  readonly onIdle: () => void;
}

/** One queue in this process: fills its slots with jobs, and jobs that wait here with claims. */
export class QueueWorker {
  readonly #buffer: ClaimedAhead;
  readonly #runs = new Set<Run>();
  /** The run of a suspect, which is then the only one. */
  #suspect: Run | undefined;
  readonly #claimer: Claimer;
  readonly #prefetch: Prefetch;
  readonly #ending: Ending;
  #open = true;
  #concurrency: number;
  /** It is about to look for what can follow what was settled. */
  #movesOn = false;
  /** Jobs that were hinted at and have not been claimed yet. */
  #hinted = 0;
  #claimed = 0;
  #awaiting: (() => void)[] = [];

  constructor(private readonly parts: QueueWorkerParts) {
    this.#buffer = new ClaimedAhead(parts.options.order);
    this.#concurrency = parts.options.concurrency;
    this.#prefetch = new Prefetch(parts.options, this.#concurrency * parts.largestBatch);
    this.#ending = new Ending(parts, () => this.#settled());
    this.#claimer = new Claimer(
      parts,
      () => this.#wanted(),
      (claim, jobs) => this.#receive(claim, jobs),
      () => this.#answered(),
    );
  }

  /** Jobs that run now. */
  get running(): number {
    return [...this.#runs].reduce((sum, { attempts }) => sum + attempts.length, 0);
  }

  /** Nothing runs, waits, or is being claimed or settled here. */
  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#buffer.length === 0 && this.#claimer.isIdle && this.#ending.isIdle;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** No slot is free, or none may be used: jobs that wait can go on waiting. */
  get isFull(): boolean {
    return this.#freeSlots() <= 0 || this.#leavesToOthers;
  }

  /** How many more jobs of the claim may begin before the database is told of more. */
  startedAhead(claim: HeldClaim): number {
    const { next } = this.#buffer;
    return this.#prefetch.isStrict && next && next.claim !== claim ? 0 : this.#prefetch.startedAhead;
  }

  /** It could run more jobs, and is not about to get them. */
  get lacksJobs(): boolean {
    return this.#open && !this.isFull && this.#claimer.isIdle;
  }

  /** It has all it can run, or claims on by itself: the last claim has found as many as it asked for, or is under way. */
  get isFed(): boolean {
    return this.isFull || this.#claimer.hasHope || !this.#claimer.isIdle;
  }

  /** How many jobs were claimed so far. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Resolves with the answer to a claim that is under way, where there is one. */
  async answer(): Promise<void> {
    if (!this.#claimer.isIdle) await new Promise<void>((resolve) => this.#awaiting.push(resolve));
  }

  /** There are so many more jobs to claim. Answers whether there are slots for all of them here, as far as can be told. */
  expect(jobs: number): boolean {
    this.#hinted += jobs;
    this.wake();
    return (
      this.#open &&
      !this.#leavesToOthers &&
      this.#hinted <= this.#freeSlots() * this.parts.largestBatch - this.#buffer.length
    );
  }

  /** There may be jobs to claim. */
  wake(): void {
    this.#claimer.hint();
    this.fill();
  }

  /** Opens or closes the queue for this process. When it closes, jobs that have not begun go back, unharmed. */
  setOpen(open: boolean): void {
    if (open === this.#open) return;
    this.#open = open;
    if (open) return this.wake();
    for (const { claim, job } of this.#buffer.drop()) this.#ending.unbegun(claim, job, { kind: 'release' });
  }

  /** From now on so many calls of handlers run at once. Those that run already go on. */
  setConcurrency(concurrency: number): void {
    this.#concurrency = concurrency;
    this.#prefetch.atOnce = concurrency * this.parts.largestBatch;
    this.wake();
  }

  /** Begins what can begin, and claims where there is room and hope. */
  fill(): void {
    if (!this.#open) return;
    while (this.#canBegin()) this.#begin();
    this.#claimer.ask();
  }

  /** The lease of the claim is gone: its jobs are somebody else's, or soon will be. */
  forget(claim: HeldClaim): void {
    claim.mustLapse = true;
    this.parts.leases.letGo(claim);
    for (const { job } of this.#buffer.drop((place) => place.claim === claim)) claim.unsettled.delete(job.id);
    for (const attempt of this.#attempts()) {
      if (attempt.claim === claim && !attempt.hasLeft)
        attempt.abort(new LeaseLostError(attempt.job.id, attempt.job.queue));
    }
    this.#settled();
  }

  /** Cancels the job. Answers whether it is here and was not cancelled before. */
  cancel(jobId: number): boolean {
    const [place] = this.#buffer.drop(({ job }) => job.id === jobId);
    if (place) this.#ending.unbegun(place.claim, place.job, { kind: 'cancel' });
    // There can be two: one whose lease was lost, and the one that took its place.
    const running = this.#attempts().filter(({ job, isAborted }) => job.id === jobId && !isAborted);
    for (const attempt of running) attempt.abort(new JobCancelledError(jobId, this.parts.queue));
    return place !== undefined || running.length > 0;
  }

  abortAll(reason: Error): void {
    for (const run of this.#runs) run.abort(reason);
  }

  /** Ends what still runs: its handlers had their chance. */
  releaseAll(): void {
    for (const run of this.#runs) run.end({ kind: 'release' });
  }

  #attempts(): Attempt[] {
    return [...this.#runs].flatMap(({ attempts }) => attempts);
  }

  #canBegin(): boolean {
    const place = this.#buffer.next;
    if (!place || this.#freeSlots() <= 0 || this.#suspect) return false;
    const { claim, job, index } = place;
    if (isSuspect(job) && (this.#runs.size > 0 || claim.runs)) return false;
    if (index < claim.started) return true;
    if (!claim.asking) {
      claim.asking = true;
      this.parts.settler.allowMore(claim, () => {
        claim.asking = false;
        this.#moveOn();
      });
    }
    return false;
  }

  /** What was claimed now would wait for a suspect to end: that runs alone, so that it takes nobody with it. */
  get #leavesToOthers(): boolean {
    const { next } = this.#buffer;
    return this.#suspect !== undefined || (next !== undefined && isSuspect(next.job));
  }

  #begin(): void {
    const attempts: Attempt[] = [];
    const { name } = this.#buffer.next!.job;
    const entry = this.parts.handlerFor(name);
    const now = this.parts.clock.monotonic();
    do {
      const { claim, job, index } = this.#buffer.take();
      claim.begun = index + 1;
      if (this.parts.leases.hasLapsed(claim)) {
        claim.unsettled.delete(job.id);
        this.forget(claim);
      } else if (entry) attempts.push(new Attempt(claim, job, this.parts.options, this.parts, now));
      else this.#ending.unhandled(claim, job);
    } while (attempts.length < (entry?.batch ?? 1) && this.#goesAlong(attempts));
    if (entry && attempts.length > 0) this.#run(attempts, entry, now);
  }

  /** Whether the next job can be in one batch with these. */
  #goesAlong([first]: readonly Attempt[]): boolean {
    const { next } = this.#buffer;
    if (!first || !next || next.job.name !== first.job.name || next.index >= next.claim.started) return false;
    return !isSuspect(first.job) && !isSuspect(next.job);
  }

  #run(attempts: readonly Attempt[], entry: HandlerEntry, now: number): void {
    const run = new Run(attempts, this.parts.options, this.parts.clock);
    this.#runs.add(run);
    if (isSuspect(attempts[0]!.job)) this.#suspect = run;
    this.parts.slots.take();
    for (const { job } of attempts) this.parts.events.started(job);
    void this.#carryOut(run, entry, now);
  }

  async #carryOut(run: Run, entry: HandlerEntry, begunAt: number): Promise<void> {
    const ends = await run.outcomes(entry);
    this.#prefetch.note(this.parts.clock.monotonic() - begunAt);
    this.#runs.delete(run);
    if (this.#suspect === run) this.#suspect = undefined;
    this.parts.slots.giveBack();
    run.attempts.forEach((attempt, index) => this.#ending.ended(attempt, ends[index]!));
    this.parts.onSlotFree();
  }

  /** Once for all that one flush has settled. */
  #settled(): void {
    if (this.#movesOn) return;
    this.#movesOn = true;
    queueMicrotask(() => {
      this.#movesOn = false;
      this.#moveOn();
    });
  }

  #moveOn(): void {
    this.fill();
    this.parts.onIdle();
  }

  #wanted(): Wanted | undefined {
    if (!this.#open || this.#leavesToOthers) return undefined;
    const { size, startedAhead, largestClaim } = this.#prefetch;
    const { largestBatch } = this.parts;
    const free = this.#freeSlots() * largestBatch;
    const here = this.#buffer.length + this.#claimer.expected;
    // Nothing of ours will end, and others may not for long.
    if (free <= 0 && this.#runs.size === 0) return undefined;
    const room = free + size - here;
    const capacity = this.#concurrency * largestBatch + size;
    const share = capacity <= UNDIVIDED_CLAIM ? capacity : Math.max(UNDIVIDED_CLAIM, Math.ceil(capacity / 2));
    // At once for a free slot; ahead of time when half of what was claimed ahead is gone, not at every job.
    if (free <= here && (size === 0 || room < Math.min(share, size / 2))) return undefined;
    const limit = Math.min(room, share, largestClaim, LARGEST_CLAIM);
    if (limit <= 0) return undefined;
    const mustWait = this.#prefetch.isStrict && here > 0;
    const slots = Math.ceil(Math.max(0, Math.min(limit, free - here)) / largestBatch);
    return { limit, started: mustWait ? 0 : Math.min(limit, free + startedAhead), slots };
  }

  #freeSlots(): number {
    const free = this.parts.slots.free + this.#claimer.reserved;
    return Math.max(0, Math.min(free, this.#concurrency - this.#runs.size));
  }

  #answered(): void {
    // What was hinted at and did not come is with others.
    if (!this.#claimer.hasHope) this.#hinted = 0;
    this.#moveOn();
    this.#awaiting.splice(0).forEach((resolve) => resolve());
  }

  #receive(claim: HeldClaim, jobs: readonly ClaimedJob[]): void {
    this.#claimed += jobs.length;
    this.#hinted = Math.max(0, this.#hinted - jobs.length);
    this.#prefetch.noteSizes(jobs);
    this.parts.events.claimed(jobs);
    // Given up while it waited for its turn: its jobs are another worker's by now.
    if (claim.mustLapse) return;
    const mayBegin = this.#open && !this.parts.leases.hasLapsed(claim);
    if (mayBegin) this.#buffer.add(this.#runnable(claim, jobs));
    // Closed, or too late, while the claim was under way.
    else for (const job of jobs) this.#ending.unbegun(claim, job, { kind: 'release' });
  }

  /** Ends the jobs whose rows cannot be understood; answers the others. */
  #runnable(claim: HeldClaim, jobs: readonly ClaimedJob[]): Place[] {
    return jobs.flatMap((job, index) => {
      const end = endOfMalformed(job);
      if (end) this.#ending.unbegun(claim, job, end);
      return end ? [] : { claim, job, index };
    });
  }
}
