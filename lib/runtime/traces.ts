import type { TraceStore } from '../store/trace-store.js';
import type { Clock } from '../time/clock.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import type { JobLogger } from './job-logger.js';

// What is told more often than this goes together; of a job's progress only the last is written.
const BETWEEN_WRITES_MS = 500;
const LONGEST_LINE = 4_000;
// Lines that gather while the database is away.
const MOST_LINES = 1_000;

/** The job and the claim of a run. */
export interface Traced {
  readonly job: { readonly id: number };
  readonly claim: { readonly id: number };
}

interface Pending {
  value: string | undefined;
  lines: { text: string; at: number }[];
}

/** Writes what runs say of themselves: at once, then what has gathered twice a second, and the rest before they end. */
export class Traces {
  #pending = new Map<Traced, Pending>();
  /** Runs that have ever said something. */
  readonly #said = new WeakSet<Traced>();
  #isTurning = false;
  #underWay: Promise<void> = Promise.resolve();
  #isAway = false;

  constructor(
    private readonly store: TraceStore,
    private readonly awaited: AwaitedJobs,
    private readonly clock: Clock,
    private readonly logger: JobLogger,
  ) {}

  progress(run: Traced, value: string): void {
    this.#of(run).value = value;
  }

  log(run: Traced, line: string): void {
    const { lines } = this.#of(run);
    if (lines.length < MOST_LINES) lines.push({ text: line.slice(0, LONGEST_LINE), at: this.clock.monotonic() });
  }

  /** Undefined where the run has said nothing; else resolves when all of it is written, or cannot be. */
  finish(run: Traced): Promise<void> | undefined {
    if (!this.#said.has(run)) return undefined;
    return this.#finish(run);
  }

  /** The run's job has ended, and nothing is kept of it. */
  async forget(run: Traced): Promise<void> {
    // What stays is pruned.
    if (this.#said.has(run)) await this.store.untrace([run.job.id]).catch(() => undefined);
  }

  #of(run: Traced): Pending {
    this.#said.add(run);
    let pending = this.#pending.get(run);
    if (!pending) this.#pending.set(run, (pending = { value: undefined, lines: [] }));
    if (!this.#isTurning) void this.#writeOn();
    return pending;
  }

  async #finish(run: Traced): Promise<void> {
    await this.#underWay;
    if (this.#pending.has(run)) void this.#write();
    // Another run that ended may have taken along what this one said.
    await this.#underWay;
  }

  async #writeOn(): Promise<void> {
    this.#isTurning = true;
    // After this turn of the event loop, so that what is said together goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.size > 0) {
      await this.#write();
      await this.clock.sleep(BETWEEN_WRITES_MS);
    }
    this.#isTurning = false;
  }

  #write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    return (this.#underWay = this.#underWay.then(() => this.#send(pending)));
  }

  async #send(pending: ReadonlyMap<Traced, Pending>): Promise<void> {
    const now = this.clock.monotonic();
    const traces = Array.from(pending, ([{ job, claim }, { value, lines }]) => ({
      ...{ jobId: job.id, claimId: claim.id, value },
      lines: lines.map(({ text, at }) => ({ text, agoMs: now - at })),
    }));
    try {
      await this.store.trace(traces);
      this.#isAway = false;
      for (const { jobId } of traces) this.awaited.changed(jobId);
    } catch (error) {
      // No job fails or waits for what it says of itself. Said once an outage.
      if (!this.#isAway)
        this.logger.warn(`Cannot write progress and logs, leaving them out: ${(error as Error).message}`);
      this.#isAway = true;
    }
  }
}
