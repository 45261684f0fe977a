import { LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { isFinal, waitsAgain, type Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { keptMs } from '../job/kept.js';
import type { Attempt, AttemptParts } from './attempt.js';
import type { AttemptEnd } from './attempt-end.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import { FailureLog } from './failure-log.js';
import type { HeldClaim } from './held-claim.js';
import type { JobEvents } from './job-events.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { Settled, Settler } from './settler.js';

// What a process without a handler for a job's name does with it, so that one with a handler can have it.
const SNOOZE_UNHANDLED_MS = 10_000;

export interface EndingParts extends AttemptParts {
  readonly options: ResolvedQueueOptions;
  readonly settler: Settler;
  readonly events: JobEvents;
  readonly awaited: AwaitedJobs;
  readonly leases: Pick<LeaseKeeper, 'hold' | 'letGo' | 'hasLapsed'>;
  /** Some job of the queue will be due in so many milliseconds. */
  readonly expectDue: (ms: number) => void;
  /** A job of the queue can be claimed by anybody again. */
  readonly waitsAgain: () => void;
  /** A dead letter may be waiting in that queue. */
  readonly deadLetterWaits: (queue: string) => void;
}

/** How the jobs of one queue leave this process: their outcomes are settled, and then told to whoever has to know. */
export class Ending {
  readonly #unhandled = new Set<string>();
  readonly #failures: FailureLog;
  /** Outcomes on their way, up to what follows from them: a job that runs again at once is asked for by then. */
  #settling = 0;

  /** @param onSettled called for each job, when nothing more follows from its outcome; and when it is on its way at last */
  constructor(
    private readonly parts: EndingParts,
    private readonly onSettled: () => void,
  ) {
    this.#failures = new FailureLog(parts.logger, () => parts.options);
  }

  get isIdle(): boolean {
    return this.#settling === 0;
  }

  ended(attempt: Attempt, end: AttemptEnd): void {
    this.#settling++;
    // What the run has said of itself is there when its outcome is.
    const saying = attempt.finish();
    if (saying) void this.#settleAfter(saying, attempt, end);
    else this.#settle(attempt, end);
  }

  /** Of a job for whose name this process has no handler. */
  unhandled(claim: HeldClaim, job: ClaimedJob): void {
    if (!this.#unhandled.has(job.name)) {
      this.#unhandled.add(job.name);
      this.parts.logger.warn(
        `No handler in this process for jobs named "${job.name}" of queue "${job.queue}": they are put off by ` +
          `${SNOOZE_UNHANDLED_MS / 1_000} s each time, for a process that has one.`,
      );
    }
    this.unbegun(claim, job, { kind: 'snooze', delayMs: SNOOZE_UNHANDLED_MS });
  }

  /** Of a job that did not begin here. */
  unbegun(claim: HeldClaim, job: ClaimedJob, outcome: Outcome): void {
    const { settler, workerId, options } = this.parts;
    const { deadLetter, retention } = options;
    this.#settling++;
    const settlement = { job, claimId: claim.id, workerId, outcome, ranMs: null, keepMs: retention.deadMs, deadLetter };
    settler.settle(claim, settlement, (settled) => {
      if (settled !== 'lost') this.#told(job, settled, undefined, null);
      this.#settled(claim);
    });
  }

  async #settleAfter(saying: Promise<void>, attempt: Attempt, end: AttemptEnd): Promise<void> {
    await saying;
    this.#settle(attempt, end);
    // A suspect may have waited for that.
    this.onSettled();
  }

  #settle(attempt: Attempt, { outcome, result, committed, handedOff }: AttemptEnd): void {
    const { claim, job, ranMs } = attempt;
    const settlement = attempt.settlement(outcome);
    const done = (settled: Settled) => {
      if (settled === 'lost') this.#lost(job, claim, ranMs);
      else this.#told(job, settled, result, ranMs);
      const isGone = keptMs(settlement.job.overrides, settlement.keepMs) === false;
      if (settled !== 'lost' && isFinal(settled) && isGone) void this.parts.traces?.forget(attempt);
      this.#settled(claim);
    };
    if (!committed) return this.parts.settler.settle(claim, settlement, done);
    this.parts.settler.committed(claim, job.id);
    // Whoever ends the job tells of it.
    if (handedOff) this.#settled(claim);
    else done(outcome);
  }

  #settled(claim: HeldClaim): void {
    this.#settling--;
    if (claim.unsettled.size === 0) this.parts.leases.letGo(claim);
    this.onSettled();
  }

  /** What follows from an outcome that has committed. */
  #told(job: ClaimedJob, outcome: Outcome, result: unknown, ranMs: number | null): void {
    this.parts.events.settled(job, outcome, result, ranMs);
    this.#failures.settled(job, outcome);
    if (isFinal(outcome)) this.parts.awaited.ended(job);
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') this.parts.expectDue(outcome.delayMs);
    if (waitsAgain(outcome)) this.parts.waitsAgain();
    const { deadLetter } = this.parts.options;
    if (outcome.kind === 'dead' && deadLetter) this.parts.deadLetterWaits(deadLetter);
  }

  #lost(job: ClaimedJob, claim: HeldClaim, ranMs: number | null): void {
    if (!claim.isLossLogged) this.parts.logger.warn(new LeaseLostError(job.id, job.queue).message);
    claim.isLossLogged = true;
    this.parts.events.lost(job, ranMs);
  }
}
