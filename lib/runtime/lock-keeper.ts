import type { Rescued, RescueRules } from '../store/job-store.js';
import type { LockStore, WorkerLock } from '../store/lock-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

// A job whose worker was killed is with another one within a second.
const LOOK_EVERY_MS = 500;
// However long the leases are: neither the server nor what stands in front of it may take the connection for an idle one, and
// whoever does not hear that its lock is gone runs jobs beside those who have taken them.
const LONGEST_BETWEEN_PINGS_MS = 10_000;

export interface LockKeeperParts {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly workerId: string;
  readonly shortestLeaseMs: () => number;
  readonly rules: RescueRules;
  readonly onRescued: (rescued: readonly Rescued[]) => void;
  /** There is a lock again: jobs can be claimed under it. */
  readonly onTaken: () => void;
  /** Every claim under the lock is lost. */
  readonly onLost: () => void;
}

/**
 * Holds this process's lock, takes another where it is lost, and looks for those of workers that died, whose jobs need not
 * wait for their leases.
 */
export class LockKeeper {
  readonly #loop: PollLoop;
  #lock: WorkerLock | undefined;
  #pingAt = 0;
  #isTroubled = false;

  constructor(private readonly parts: LockKeeperParts) {
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      parts.clock,
      (error) => this.#failed(error),
    );
  }

  /** What claims have to name; undefined while no lock is held: then nothing can be claimed under one. */
  get id(): number | undefined {
    return this.#lock?.id;
  }

  get #betweenPingsMs(): number {
    return Math.min(this.parts.shortestLeaseMs() / 3, LONGEST_BETWEEN_PINGS_MS);
  }

  /** Rejects where the database does not give it a lock. */
  async start(): Promise<void> {
    this.#hold(await this.parts.store.take(this.parts.workerId));
    this.#loop.start();
  }

  /** Lets the lock go, and with it what is still claimed under it. */
  async stop(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await Promise.all([this.#loop.stop(), lock?.release()]);
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    const { store, rules, onRescued, onTaken, workerId } = this.parts;
    if (!this.#lock) {
      const lock = await store.take(workerId);
      if (stopping.aborted) await lock.release();
      else {
        this.#hold(lock);
        onTaken();
      }
    }
    await this.#ping();
    if (!stopping.aborted) onRescued(await store.rescue(rules));
    if (this.#isTroubled) this.parts.logger.log('The locks of workers can be looked at again.');
    this.#isTroubled = false;
    return Math.min(LOOK_EVERY_MS, this.parts.shortestLeaseMs() / 3);
  }

  #hold(lock: WorkerLock): void {
    this.#lock = lock;
    this.#pingAt = this.parts.clock.monotonic() + this.#betweenPingsMs;
    if (lock.gone.aborted) return this.#lost(lock);
    lock.gone.addEventListener('abort', () => this.#lost(lock), { once: true });
  }

  #lost(lock: WorkerLock): void {
    // Let go of by ourselves.
    if (lock !== this.#lock) return;
    this.#lock = undefined;
    this.parts.logger.warn(
      'The lock of this worker is lost, and with it the jobs claimed under it. Taking another one.',
    );
    this.parts.onLost();
    this.#loop.wake();
  }

  async #ping(): Promise<void> {
    const now = this.parts.clock.monotonic();
    if (now < this.#pingAt) return;
    this.#pingAt = now + this.#betweenPingsMs;
    await this.#lock?.ping();
  }

  #failed(error: unknown): number {
    // Said once an outage.
    if (!this.#isTroubled) this.parts.logger.warn(`Cannot look at the locks of workers: ${(error as Error).message}`);
    this.#isTroubled = true;
    return LOOK_EVERY_MS;
  }
}
