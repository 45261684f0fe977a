import type { JobStore, PromotedJob, Rescued, RescueRules, Survey } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const PROMOTE_BATCH = 500;
// A rest is up to so much longer than planned, so that many processes do not ask in step.
const JITTER = 0.2;
// A worker that gets all the jobs it asks for looks no more often than this.
const FED_MS = 500;
// Surveys that find the same due time differ by as long as they take.
const SAME_DUE_MS = 50;

export interface PollerParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly queues: () => readonly string[];
  readonly minMs: number;
  readonly maxMs: number;
  readonly rules: RescueRules;
  /** True where the queue has jobs that this process can take now. */
  readonly onQueue: (queue: string, seen: { waiting: boolean; paused: boolean }) => boolean;
  readonly onPromoted: (promoted: readonly PromotedJob[]) => void;
  /** A job will be due sooner than any that was known. */
  readonly onSooner: () => void;
  /** Whether the queue's jobs are claimed here as long as there are any, without a look in between. */
  readonly isFed: (queue: string) => boolean;
  readonly onRescued: (rescued: readonly Rescued[]) => void;
  /** See Survey.awaited. */
  readonly onAwaited: (awaited: number | null) => void;
  /** At most so many of the queue's jobs have just become claimable, as far as can be told, and may be too many for here. */
  readonly onNews: (queue: string, jobs: number) => void;
}

/**
 * Looks, with one statement for all queues of this process, what there is to do: jobs to claim, jobs that are due, leases
 * that have lapsed. Rests longer and longer while there is nothing, and never past the next due time it knows of. Where
 * there is, claims find it without looks, which pass over all that is active or just finished and are the dearer then.
 */
export class Poller {
  readonly #loop: PollLoop;
  #restMs: number;
  #restingUntil = Infinity;
  /** The queues that had jobs for this process when it last looked. */
  #busy: string[] = [];
  /** Until when no look is needed as long as they are fed. */
  #knownUntil = 0;
  /** When somebody wants the next look. */
  #wantedAt = Infinity;
  #unreachable = false;
  #lookers: ((found: boolean) => void)[] = [];
  #stopped = false;
  /** How many jobs may have become claimable since the last look. */
  #news = 0;
  /** When the next job will be due, as far as is known. */
  #dueAt = Infinity;
  /** What was due had been promoted by somebody else. */
  #wasLate = false;
  /** Numbers of the surveys: the last one asked for, and the last one of the loop that was answered. */
  #asked = 0;
  #answered = 0;
  #checking: Promise<void> | undefined;

  constructor(private readonly parts: PollerParts) {
    this.#restMs = parts.minMs;
    this.#loop = new PollLoop(
      () => this.#tick(),
      parts.clock,
      (error) => this.#failed(error),
    );
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#loop.stop(), this.#checking]);
    this.#lookers.splice(0).forEach((answer) => answer(false));
  }

  wake(): void {
    this.#restMs = this.parts.minMs;
    this.#wantedAt = 0;
    this.#loop.wake();
  }

  /** Looks now, and answers whether there was anything to do. */
  look(): Promise<boolean> {
    this.#restMs = this.parts.minMs;
    return this.#look();
  }

  /** Looks once more, beside the polls, which keep their pace. */
  check(): void {
    // Where it fails, it is for the next poll to find what it would have found.
    this.#checking = this.#check().catch(() => undefined);
  }

  /**
   * Looks now for what somebody rang for, and passes on what is too much for this process; answers whether there was
   * anything. Whoever rings without end does not make the polls quicker.
   */
  checkNews(): Promise<boolean> {
    this.#news = Math.max(1, this.#news);
    return this.#look();
  }

  /** A job will be due in so many milliseconds: do not sleep past that. */
  expectDue(ms: number): void {
    const dueAt = this.parts.clock.monotonic() + ms;
    this.#wantedAt = Math.min(this.#wantedAt, dueAt);
    if (dueAt < this.#restingUntil) this.wake();
  }

  #look(): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#lookers.push(resolve);
      this.#loop.wake();
    });
  }

  async #tick(): Promise<number> {
    this.#restingUntil = Infinity;
    const { store, clock } = this.parts;
    if (this.#isFed()) return this.#restAgain(Math.min(this.#knownUntil, this.#wantedAt) - clock.monotonic());
    const news = this.#news;
    this.#news = 0;
    // Whoever asks from here on wants a later look than this one.
    const asked = this.#lookers.length;
    const number = ++this.#asked;
    const lookedAt = clock.monotonic();
    this.#knownUntil = 0;
    this.#wantedAt = Infinity;
    const survey = await store.survey(this.parts.queues());
    this.#answered = number;
    this.#reached();
    this.#noteDue(survey, lookedAt);
    const waiting = this.#tell(survey, news);
    const promoted = await this.#promoteDue(survey);
    const moved = promoted + (await this.#rescueLapsed(survey));
    this.#news = Math.max(this.#news, promoted);
    this.#lookers.splice(0, asked).forEach((answer) => answer(waiting || moved > 0));
    // What has just become waiting is looked for at once.
    if (moved > 0 || this.#isLate(survey, promoted)) return 0;
    this.#restMs = waiting ? this.parts.minMs : Math.min(this.parts.maxMs, this.#restMs * 2);
    // Due jobs and lapsed claims that other transactions have locked are asked for again at the usual pace.
    const isBlocked = survey.dueInMs === 0 || survey.lapseInMs === 0;
    const { dueInMs, lapseInMs } = isBlocked ? await store.upcoming() : survey;
    const eventInMs = Math.min(dueInMs ?? Infinity, lapseInMs ?? Infinity);
    this.#knownUntil = lookedAt + Math.min(FED_MS, eventInMs);
    return this.#restAgain(eventInMs);
  }

  #isFed(): boolean {
    if (this.#lookers.length > 0 || this.#news > 0 || this.#busy.length === 0) return false;
    const now = this.parts.clock.monotonic();
    return now < this.#knownUntil && now < this.#wantedAt && this.#busy.every((queue) => this.parts.isFed(queue));
  }

  #restAgain(mostMs: number): number {
    const { clock, random } = this.parts;
    const restMs = Math.min(this.#restMs * (1 + JITTER * random()), mostMs);
    this.#restingUntil = clock.monotonic() + restMs;
    return restMs;
  }

  async #check(): Promise<void> {
    const number = ++this.#asked;
    const survey = await this.parts.store.survey(this.parts.queues());
    // What is older than the last look is not news.
    if (this.#stopped || number < this.#answered) return;
    this.#tell(survey, 0);
    if (survey.dueInMs !== null) this.expectDue(survey.dueInMs);
  }

  /** Answers whether some queue takes jobs that are waiting. */
  #tell(survey: Survey, news: number): boolean {
    this.parts.onAwaited(survey.awaited);
    const busy: string[] = [];
    for (const queue of this.parts.queues()) {
      // A queue whose row is gone is asked for jobs rather than forgotten.
      const seen = survey.queues.get(queue) ?? { waiting: true, paused: false };
      if (this.parts.onQueue(queue, seen)) busy.push(queue);
      if (news > 0 && seen.waiting && !seen.paused) this.parts.onNews(queue, news);
    }
    this.#busy = busy;
    return busy.length > 0;
  }

  #noteDue({ dueInMs }: Survey, lookedAt: number): void {
    const dueAt = dueInMs === null ? Infinity : lookedAt + dueInMs;
    if (dueAt < this.#dueAt - SAME_DUE_MS) this.parts.onSooner();
    this.#dueAt = dueAt;
  }

  /** Another process was faster to promote what was due: then it is waiting by now. But it may also be locked for long. */
  #isLate({ dueInMs }: Survey, promoted: number): boolean {
    const wasLate = this.#wasLate;
    this.#wasLate = dueInMs === 0 && promoted === 0;
    return this.#wasLate && !wasLate;
  }

  async #promoteDue({ dueInMs }: Survey): Promise<number> {
    if (dueInMs !== 0) return 0;
    return this.parts.store.promote(PROMOTE_BATCH, this.parts.onPromoted);
  }

  async #rescueLapsed({ lapseInMs }: Survey): Promise<number> {
    if (lapseInMs !== 0) return 0;
    const rescued = await this.parts.store.rescue(this.parts.rules);
    this.parts.onRescued(rescued);
    return rescued.length;
  }

  #reached(): void {
    if (this.#unreachable) this.parts.logger.log('The database answers again.');
    this.#unreachable = false;
  }

  #failed(error: unknown): number {
    // Said once an outage, not once a poll.
    if (!this.#unreachable) this.parts.logger.warn(`Cannot look for jobs, trying on: ${(error as Error).message}`);
    this.#unreachable = true;
    this.#restMs = Math.min(this.parts.maxMs, this.#restMs * 2);
    return this.#restMs * (1 + JITTER * this.parts.random());
  }
}
