import type { JobStore } from '../../store/verbs/job-store.js';
import type { ClaimLease } from '../../store/rows/claim.js';
import type { WorkerRegistry } from '../../store/features/workers/worker-registry.js';
import type { Clock } from '../../common/clock.js';
import { PollLoop } from '../../common/poll-loop.js';

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
  readonly onResult: (result: HeartbeatResult) => void;
  readonly onError: (error: unknown) => void;
}

/** Renews the leases of a worker's claims at an interval. */
export interface Heartbeat {
  start(): void;
  add(claimId: number): void;
  remove(claimId: number): void;
  /** Renews without the rest of the pause. */
  renewNow(): void;
  /** Calls `onResult` for results that have arrived, before it returns. Undefined if none can be pending. */
  deliverPending?(): void;
  stop(): Promise<void>;
}

/** Renews the leases on the event loop of the thread that creates it. */
export class LoopHeartbeat implements Heartbeat {
  readonly #claimIds = new Set<number>();
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

  add(claimId: number): void {
    this.#claimIds.add(claimId);
  }

  remove(claimId: number): void {
    this.#claimIds.delete(claimId);
  }

  renewNow(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #renewLeases(): Promise<number> {
    const { workerId, intervalMs, onResult } = this.settings;
    const claimIds = [...this.#claimIds];
    const requestedAt = this.clock.monotonic();
    const leases = await this.store.extend(claimIds);
    onResult({ claimIds, requestedAt, leases });
    await this.workerRegistry.markSeen(workerId);
    return leases.some(({ isLocked }) => isLocked) ? Math.min(RETRY_INTERVAL_MS, intervalMs) : intervalMs;
  }
}
