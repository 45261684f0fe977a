import type { ClaimedJob } from '../job/job.js';
import type { Doorbell } from '../store/doorbell.js';
import type { WaitStore } from '../store/wait-store.js';
import { Gathering } from './gathering.js';

export interface AwaitedJobsParts {
  readonly store: Pick<WaitStore, 'waitersOf'>;
  /** Undefined where this process wakes nobody. */
  readonly bell: Doorbell | undefined;
  /** Whoever waits in this process. */
  readonly waiter: { readonly name: string; hear(jobId: number): void };
}

/** The name under which a process that waits is rung. */
export function waiterName(waiter: number): string {
  return `waiter:${waiter}`;
}

// Jobs that end between two looks of a worker that does not know yet that somebody waits.
const MOST_UNTOLD = 5_000;

/**
 * Tells whoever waits for a job, in whatever process, that something became of it. As long as nobody is known to wait, that
 * costs no statement; whom nobody tells finds out by looking.
 */
export class AwaitedJobs {
  #awaited: number | null = null;
  readonly #untold = new Set<number>();
  readonly #telling: Gathering;

  constructor(private readonly parts: AwaitedJobsParts) {
    this.#telling = new Gathering((ids) => this.#tell(ids));
  }

  /** What a look at the database said. Answers whether somebody has begun to wait since the last one. */
  note(awaited: number | null): boolean {
    const isNews = awaited !== null && awaited !== this.#awaited;
    this.#awaited = awaited;
    if (awaited !== null) this.#untold.forEach((id) => this.#ringFor(id));
    this.#untold.clear();
    return isNews;
  }

  /** Something became of the job. */
  changed(jobId: number): void {
    this.parts.waiter.hear(jobId);
    if (this.#awaited !== null) this.#ringFor(jobId);
    else if (this.#untold.size < MOST_UNTOLD) this.#untold.add(jobId);
  }

  /** The job has ended. */
  ended({ id, overrides }: Pick<ClaimedJob, 'id' | 'overrides'>): void {
    if (overrides?.reply) this.changedForSure(id);
    else this.changed(id);
  }

  /** The same where it is known that somebody may wait, or where nobody looks whether anybody does. */
  changedForSure(jobId: number): void {
    this.parts.waiter.hear(jobId);
    this.#ringFor(jobId);
  }

  /** Resolves when all have been told that can be. */
  idle(): Promise<void> {
    return this.#telling.idle();
  }

  #ringFor(jobId: number): void {
    // Nobody is told of an error: whoever waits looks by himself.
    if (this.parts.bell) void this.#telling.add(jobId).catch(() => undefined);
  }

  async #tell(jobIds: readonly number[]): Promise<void> {
    const { store, bell, waiter } = this.parts;
    const names = (await store.waitersOf(jobIds)).map(waiterName);
    for (const name of names) if (name !== waiter.name) bell!.ring(name, 1);
  }
}
