import { OutageLog } from '../common/logger.js';
import { PollLoop } from '../common/poll-loop.js';
import type { ChosenStrategy } from '../store/verbs/job-store.js';
import type { WorkerLockStore, WorkerLock } from '../store/verbs/worker-lock-store.js';
import type { Rescuer } from './complete/rescuer.js';
import type { OwnClaims } from './queue/active-claim.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerParts } from './worker-parts.js';

// Another worker has the jobs of a killed worker within a second.
const CHECK_INTERVAL_MS = 500;
// However long the leases are: the server or a proxy may drop an idle connection. A worker that does not notice the
// loss of its lock runs jobs that other workers run too.
const MAX_PING_INTERVAL_MS = 10_000;

/**
 * Holds the lock of this worker and replaces it if it is lost. It also rescues the jobs of workers whose lock is free:
 * these workers died, so their jobs need not wait for the end of the leases.
 */
export class WorkerLockHolder {
  readonly #loop: PollLoop;
  readonly #outage: OutageLog;
  #lock: WorkerLock | undefined;
  #isStarted = false;
  #isStopped = false;
  #shortestLeaseMs = Infinity;
  #nextPingAt = 0;

  constructor(
    private readonly parts: WorkerParts,
    private readonly workerId: string,
    private readonly rescuer: Rescuer,
    private readonly queues: QueueWorkers,
    private readonly claims: Pick<OwnClaims, 'all'>,
  ) {
    this.#outage = new OutageLog(
      parts.logger,
      'Cannot check the locks of workers, retrying',
      'The locks of workers can be checked again.',
    );
    this.#loop = new PollLoop(
      (stopping) => this.#tick(stopping),
      parts.clock,
      this.#outage.retryAfter(CHECK_INTERVAL_MS),
    );
  }

  /** Undefined: the worker has no lock at the moment. */
  get id(): number | undefined {
    return this.#lock?.id;
  }

  get #store(): WorkerLockStore {
    return this.parts.stores.workerLocks!;
  }

  get #pingIntervalMs(): number {
    return Math.min(this.#shortestLeaseMs / 3, MAX_PING_INTERVAL_MS);
  }

  /** Acquires the lock if one of the queues is the first that needs it. Rejects if the database does not grant it. */
  async acquireFor(strategies: ReadonlyMap<string, ChosenStrategy>): Promise<void> {
    const byLock = [...strategies].filter(([, { name }]) => name === 'lock');
    const leasesMs = byLock.map(([queue]) => this.parts.optionsFor(queue).leaseMs);
    this.#shortestLeaseMs = Math.min(this.#shortestLeaseMs, ...leasesMs);
    if (this.#isStarted || byLock.length === 0) return;
    const lock = await this.#store.acquire(this.workerId);
    if (this.#isStopped) return lock.release();
    this.#setLock(lock);
    this.#isStarted = true;
    this.#loop.start();
  }

  /** Releases the lock, and with it the claims that remain under it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const lock = this.#lock;
    this.#lock = undefined;
    await Promise.all([this.#loop.stop(), lock?.release()]);
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    if (!this.#lock) {
      const lock = await this.#store.acquire(this.workerId);
      if (stopping.aborted) await lock.release();
      else {
        this.#setLock(lock);
        for (const queue of this.queues.byName.values()) if (queue.isByLock) queue.wake();
      }
    }
    await this.#ping();
    if (!stopping.aborted) await this.rescuer.rescue(this.#store);
    this.#outage.onSuccess();
    return Math.min(CHECK_INTERVAL_MS, this.#shortestLeaseMs / 3);
  }

  #setLock(lock: WorkerLock): void {
    this.#lock = lock;
    this.#nextPingAt = this.parts.clock.monotonic() + this.#pingIntervalMs;
    if (lock.lostSignal.aborted) return this.#handleLoss(lock);
    lock.lostSignal.addEventListener('abort', () => this.#handleLoss(lock), { once: true });
  }

  #handleLoss(lock: WorkerLock): void {
    // A lock that this worker released itself is not lost.
    if (lock !== this.#lock) return;
    this.#lock = undefined;
    this.parts.logger.warn(
      'The lock of this worker is lost, and with it the jobs claimed under it. Acquiring another one.',
    );
    for (const claim of this.claims.all) if (claim.isByLock) this.queues.abandon(claim);
    this.#loop.wake();
  }

  async #ping(): Promise<void> {
    const now = this.parts.clock.monotonic();
    if (now < this.#nextPingAt) return;
    this.#nextPingAt = now + this.#pingIntervalMs;
    await this.#lock?.ping();
  }
}
