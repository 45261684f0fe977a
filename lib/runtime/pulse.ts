import type { HeldLease, JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import { PollLoop } from './poll-loop.js';

const RETRY_MS = 1_000;

/** The leases of these claims were asked for then, by the monotonic clock, and these hold. */
export interface Beat {
  readonly asked: readonly number[];
  readonly askedAt: number;
  readonly leases: readonly HeldLease[];
}

export interface PulseSettings {
  readonly workerId: string;
  readonly everyMs: number;
  readonly onBeat: (beat: Beat) => void;
  readonly onMissed: (error: unknown) => void;
}

/** Renews the leases of a worker's claims, over and over. */
export interface Pulse {
  start(): void;
  hold(claimId: number): void;
  letGo(claimId: number): void;
  /** Tells of beats that were not told of yet, before it returns. */
  catchUp(): void;
  stop(): Promise<void>;
}

/** On the event loop that it is made on. */
export class LoopPulse implements Pulse {
  readonly #held = new Set<number>();
  readonly #loop: PollLoop;

  constructor(
    private readonly store: Pick<JobStore, 'extend' | 'seen'>,
    private readonly clock: Clock,
    private readonly settings: PulseSettings,
  ) {
    const { everyMs, onMissed } = settings;
    this.#loop = new PollLoop(
      () => this.#beat(),
      clock,
      (error) => {
        onMissed(error);
        return Math.min(RETRY_MS, everyMs);
      },
    );
  }

  start(): void {
    this.#loop.start();
  }

  hold(claimId: number): void {
    this.#held.add(claimId);
  }

  letGo(claimId: number): void {
    this.#held.delete(claimId);
  }

  catchUp(): void {
    // Whoever asks runs on the same event loop, and would have been told.
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #beat(): Promise<number> {
    const { workerId, everyMs, onBeat } = this.settings;
    const asked = [...this.#held];
    const askedAt = this.clock.monotonic();
    const leases = await this.store.extend(asked);
    onBeat({ asked, askedAt, leases });
    await this.store.seen(workerId);
    return leases.some(({ isLocked }) => isLocked) ? Math.min(RETRY_MS, everyMs) : everyMs;
  }
}
