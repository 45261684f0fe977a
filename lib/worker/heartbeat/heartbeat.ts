import type { JobStore } from '../../store/verbs/job-store.js';
import type { ClaimLease } from '../../store/rows/claim.js';
import type { WorkerRegistry } from '../../store/features/workers/worker-registry.js';
import type { Clock } from '../../common/clock.js';
import { PollLoop } from '../../common/poll-loop.js';
import type { JobLogger } from '../../common/logger.js';
import type { ActiveClaim } from '../queue/active-claim.js';

const RETRY_INTERVAL_MS = 1_000;

export interface HeartbeatResult {
  /** The claims whose leases were to be renewed. */
  readonly claimIds: readonly number[];
  /** When the statement was sent, by the monotonic clock. */
  readonly requestedAt: number;
  /** The leases that are valid. */
  readonly leases: readonly ClaimLease[];
}

export interface HeartbeatSettings {
  readonly workerId: string;
  readonly intervalMs: number;
  /** The claims whose leases are to be renewed. */
  readonly claimIds: () => readonly number[];
  readonly onResult: (result: HeartbeatResult) => void;
  /** The database has no row of the worker. */
  readonly onUnregistered: () => void;
  readonly onError: (error: unknown) => void;
}

/** Renews the leases of a worker's claims at an interval. */
export interface Heartbeat {
  start(): void;
  /** A claim was added to `claimIds`. Undefined if each renewal reads them. */
  add?(claimId: number): void;
  /** A claim was removed from `claimIds`. Undefined if each renewal reads them. */
  remove?(claimId: number): void;
  /** Renews without the rest of the pause. */
  renewNow(): void;
  /** Calls `onResult` for results that have arrived, before it returns. Undefined if none can be pending. */
  deliverPending?(): void;
  stop(): Promise<void>;
}

/** Renews the leases on the event loop of the thread that creates it. */
export class LoopHeartbeat implements Heartbeat {
  readonly #loop: PollLoop;

  constructor(
    private readonly store: Pick<JobStore, 'extend'>,
    private readonly workerRegistry: Pick<WorkerRegistry, 'markSeen'>,
    private readonly clock: Clock,
    private readonly settings: HeartbeatSettings,
  ) {
    const { intervalMs, onError } = settings;
    this.#loop = new PollLoop(
      () => this.#renewLeases(),
      clock,
      (error) => {
        onError(error);
        return Math.min(RETRY_INTERVAL_MS, intervalMs);
      },
    );
  }

  start(): void {
    this.#loop.start();
  }

  renewNow(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #renewLeases(): Promise<number> {
    const { workerId, intervalMs, onResult, onUnregistered } = this.settings;
    const claimIds = this.settings.claimIds();
    const requestedAt = this.clock.monotonic();
    const leases = await this.store.extend(claimIds);
    onResult({ claimIds, requestedAt, leases });
    if (!(await this.workerRegistry.markSeen(workerId))) onUnregistered();
    return leases.some(({ isLocked }) => isLocked) ? Math.min(RETRY_INTERVAL_MS, intervalMs) : intervalMs;
  }
}

const PAUSE_MS = 60_000;
const MAX_JOBS = 5;

/** Logs that the process stood still for longer than the leases of running jobs, at most once a minute. */
export class StandstillLog {
  #nextAt = -Infinity;

  constructor(
    private readonly logger: JobLogger,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly workerId: string,
  ) {}

  /**
   * @param lateMs the delay of a timer: the process stood still for at least this time
   * @param expired the claims whose leases ended meanwhile
   */
  report(lateMs: number, expired: readonly ActiveClaim[]): void {
    const jobs = expired.flatMap(({ queue, unendedIds }) => unendedIds.map((id) => `${id} of queue "${queue}"`));
    const now = this.clock.monotonic();
    if (jobs.length === 0 || now < this.#nextAt) return;
    this.#nextAt = now + PAUSE_MS;
    const more = jobs.length > MAX_JOBS ? ` and ${jobs.length - MAX_JOBS} more` : '';
    this.logger.warn(
      `The event loop stood still for at least ${(lateMs / 1_000).toFixed(1)} s, past the lease of job ` +
        `${jobs.slice(0, MAX_JOBS).join(', ')}${more}: another worker may run it again. Either a handler computes without a ` +
        `pause, or the process was stopped (SIGSTOP, a debugger, a machine that sleeps). For handlers that compute, set ` +
        `\`worker: { heartbeat: 'thread' }\`, compute in worker_threads, or raise \`lease\`.`,
      { workerId: this.workerId },
    );
  }
}
