import { JobNotFoundError, ResultNotKeptError, StoreUnavailableError } from '../job/errors.js';
import { randomId } from '../job/random-id.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import { waiterName } from '../runtime/awaited-jobs.js';
import { Gathering } from '../runtime/gathering.js';
import type { JobLogger } from '../runtime/job-logger.js';
import { PollLoop } from '../runtime/poll-loop.js';
import type { Doorbell } from '../store/doorbell.js';
import type { TraceStore } from '../store/trace-store.js';
import type { AwaitedJob, WaitStore } from '../store/wait-store.js';
import type { Clock } from '../time/clock.js';
import { Ear } from './ear.js';
import { Pace } from './pace.js';
import { Wait } from './wait.js';

export interface WaiterParts {
  readonly store: WaitStore;
  readonly traces: Pick<TraceStore, 'progressOf'>;
  /** Undefined where this process cannot be woken: it looks by itself, every second at the latest. */
  readonly bell: Doorbell | undefined;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Lets the workers of all processes look who waits. */
  readonly tellWorkers: () => void;
}

// A process that dies is not rung any more after this time. Renewed when half of it is over.
const ENLISTED_MS = 600_000;
const RETRY_MS = 1_000;
const STRIKE_EVERY_MS = 1_000;
const NONE: ReadonlySet<number> = new Set();

/**
 * All that this process waits for: however many jobs that are, one look asks for all. It notes in the database what it waits
 * for, so that whoever ends a job can wake it.
 */
export class Waiter {
  readonly #id = randomId();
  readonly #waits = new Map<number, Set<Wait>>();
  /** When the database was last told that we wait for these, by the monotonic clock. */
  readonly #enlisted = new Map<number, { at: number; isForEnd: boolean }>();
  readonly #pace: Pace;
  readonly #loop: PollLoop;
  readonly #ear: Ear | undefined;
  readonly #forgetting: Gathering;
  readonly #following = new Set<Promise<unknown>>();
  #struckAt = -Infinity;
  #started = false;
  #rung = false;
  #ticking = false;
  #unreachable = false;
  #closed = false;

  constructor(private readonly parts: WaiterParts) {
    const { store, bell, clock, logger, random } = parts;
    this.#pace = new Pace(clock, random);
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      clock,
      (error) => this.#failed(error),
    );
    const isWanted = () => this.#waits.size > 0;
    const gap = () => this.#pace.gap(this.#waits.size);
    this.#ear = bell && new Ear({ bell, clock, logger, name: this.name, isWanted, gap, hear: () => this.#ring() });
    this.#forgetting = new Gathering((ids) => store.forget(this.#id, ids));
  }

  /** Under which this process is rung. */
  get name(): string {
    return waiterName(this.#id);
  }

  /**
   * Resolves with the result of the job, or rejects with what became of it instead.
   *
   * @param queue of a job whose outcome is kept for us; undefined for any other
   */
  waitFor(id: number, options: ResolvedWaitOptions, queue?: string): Promise<unknown> {
    const { clock } = this.parts;
    const wait = new Wait(id, queue, options, clock);
    if (this.#closed) wait.reject(closed());
    if (wait.isOver) return wait.ended;
    const waits = this.#waits.get(id) ?? new Set();
    this.#waits.set(id, waits.add(wait));
    wait.onOver(() => this.#leave(wait, waits));
    this.#pace.begun();
    this.#loop.start();
    if (this.#started) this.#wake();
    this.#started = true;
    this.#ear?.listen();
    return wait.ended;
  }

  /** Something became of the job, in this process. */
  hear(jobId: number): void {
    if (this.#waits.has(jobId)) this.#ring();
  }

  /** Deletes what is kept of a finished job that nobody else wants to know of. */
  forget(id: number): Promise<void> {
    this.#enlisted.delete(id);
    return this.#forgetting.add(id);
  }

  /** What follows when a wait ends has to be done before this process can close. */
  follow(end: Promise<unknown>): void {
    const done = end.catch(() => undefined).finally(() => this.#following.delete(done));
    this.#following.add(done);
  }

  /** Who still waits is told that nobody here can answer any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waits of this.#waits.values()) for (const wait of waits) wait.reject(closed());
    await Promise.all([this.#loop.stop(), this.#ear?.stop(), ...this.#following]);
    await this.#forgetting.idle();
    // What stays is forgotten in ten minutes.
    await this.#strike().catch(() => undefined);
  }

  #leave(wait: Wait, waits: Set<Wait>): void {
    waits.delete(wait);
    if (waits.size > 0) return;
    this.#waits.delete(wait.id);
    // So that it is struck from the list.
    this.#wake();
  }

  #ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** What is seen to have ended in the middle of a look needs no other one. */
  #wake(): void {
    if (!this.#ticking) this.#loop.wake();
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { clock } = this.parts;
    await this.#pace.hold(this.#waits.size, stopping);
    if (stopping.aborted) return 0;
    await this.#look();
    if (await this.#enlist()) await this.#look();
    // Nobody rings for them any more, and others end in a moment.
    if (this.#waits.size === 0 || clock.monotonic() - this.#struckAt >= STRIKE_EVERY_MS) await this.#strike();
    return this.#waits.size === 0 ? Infinity : this.#pace.rest(this.#waits.size);
  }

  async #look(): Promise<void> {
    const asked = Array.from(this.#waits, ([id, waits]) => ({ id, waits: [...waits] }));
    if (asked.length === 0) return;
    const wasRung = this.#rung;
    this.#rung = false;
    const jobs = await this.parts.store.look(asked.map(({ id }) => id));
    // After the look: what a run said last is there before its outcome is.
    const curious = asked.filter(({ waits }) => waits.some((wait) => wait.wantsProgress));
    const progress = await this.parts.traces.progressOf(curious.map(({ id }) => id));
    // A job that this process has seen and that is gone was removed, or has ended in a queue that keeps no history.
    const gone = asked.filter(({ id, waits }) => !jobs.has(id) && waits.some(({ queue }) => queue !== undefined));
    const removed =
      gone.length === 0
        ? NONE
        : await this.parts.store.removedOf(
            this.#id,
            gone.map(({ id }) => id),
          );
    this.#reached();
    this.#ticking = true;
    for (const { id, waits } of curious) for (const wait of waits) wait.tell(progress.get(id));
    for (const { id, waits } of asked) for (const wait of waits) this.#answer(wait, jobs.get(id), removed);
    this.#ticking = false;
    const hasEnded = asked.some(({ id }) => !this.#waits.has(id));
    this.#pace.looked(hasEnded ? 'something' : wasRung ? 'nothing' : 'as before');
  }

  #answer(wait: Wait, job: AwaitedJob | undefined, removed: ReadonlySet<number>): void {
    if (wait.isOver) return;
    const { id, queue } = wait;
    if (!job) {
      const isUnknown = queue === undefined || removed.has(id);
      return wait.reject(isUnknown ? new JobNotFoundError(id) : new ResultNotKeptError(id, queue));
    }
    wait.answer(job);
    // Those of another process may keep more; what this one is told is what it can go by.
    const isKept = job.isRequest || job.hasKey || this.parts.optionsFor(job.queue).retention.completedMs !== false;
    if (!wait.isOver && !isKept) wait.reject(new ResultNotKeptError(id, job.queue));
  }

  /** Notes in the database whom to ring. Answers whether there was anybody new. */
  async #enlist(): Promise<boolean> {
    const { store, clock, tellWorkers } = this.parts;
    const at = clock.monotonic();
    const due = [...this.#waits].filter(([id]) => at - (this.#enlisted.get(id)?.at ?? -Infinity) > ENLISTED_MS / 2);
    if (due.length === 0) return false;
    await store.enlist(
      this.#id,
      due.map(([id]) => id),
      ENLISTED_MS,
    );
    const areKnown = [...this.#enlisted.values()].some(({ isForEnd }) => !isForEnd);
    const entries = due.map(([id, waits]) => ({ id, isForEnd: [...waits].every((wait) => wait.isForEndOfRequest) }));
    for (const { id, isForEnd } of entries) this.#enlisted.set(id, { at, isForEnd });
    // Of a request that ends the job itself says that somebody waits. Of others workers learn when they look, and then look further.
    if (!areKnown && entries.some(({ isForEnd }) => !isForEnd)) tellWorkers();
    return true;
  }

  async #strike(): Promise<void> {
    this.#struckAt = this.parts.clock.monotonic();
    const over = [...this.#enlisted.keys()].filter((id) => !this.#waits.has(id));
    if (over.length === 0) return;
    for (const id of over) this.#enlisted.delete(id);
    await this.parts.store.strike(this.#id, over);
  }

  #reached(): void {
    if (this.#unreachable) this.parts.logger.log('The database answers again.');
    this.#unreachable = false;
  }

  #failed(error: unknown): number {
    // Said once an outage, not once a look.
    if (!this.#unreachable)
      this.parts.logger.warn(`Cannot look what became of jobs, trying on: ${(error as Error).message}`);
    this.#unreachable = true;
    return RETRY_MS;
  }
}

function closed(): StoreUnavailableError {
  return new StoreUnavailableError(
    'The queue of this process was closed while it waited. The job goes on.',
    'not-done',
  );
}
