import type { JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

const RETRY_MS = 1_000;

export interface LeaseKeeperParts {
  readonly workerId: string;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly shortestLeaseMs: number;
  readonly held: ReadonlySet<HeldClaim>;
  readonly onLost: (claim: HeldClaim) => void;
  readonly onCancelled: (claim: HeldClaim, jobId: number) => void;
}

/**
 * Renews the leases of all claims of this process, every third of the shortest lease, and gives up those it could not
 * renew in time: by this process's own clock, which never extends a lease and only ever ends it early.
 */
export class LeaseKeeper {
  readonly #heartbeat: PollLoop;
  readonly #watch: PollLoop;
  readonly #everyMs: number;
  #missing = false;

  constructor(private readonly parts: LeaseKeeperParts) {
    this.#everyMs = parts.shortestLeaseMs / 3;
    this.#heartbeat = new PollLoop(
      () => this.#beat(),
      parts.clock,
      (error) => this.#missed(error),
    );
    // A loop of its own, since the heartbeat may be waiting for a database that does not answer.
    this.#watch = new PollLoop(
      () => this.#giveUpLapsed(),
      parts.clock,
      () => RETRY_MS,
    );
  }

  start(): void {
    this.#heartbeat.start();
    this.#watch.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#heartbeat.stop(), this.#watch.stop()]);
  }

  async #beat(): Promise<number> {
    const { store, clock, held, workerId } = this.parts;
    const claims = [...held];
    const askedAt = clock.monotonic();
    const leases = new Map((await store.extend(claims.map(({ id }) => id))).map((lease) => [lease.claimId, lease]));
    for (const claim of claims) {
      const lease = leases.get(claim.id);
      // Settled meanwhile: then there is nothing to lose.
      if (!held.has(claim)) continue;
      if (!lease) {
        this.parts.onLost(claim);
        continue;
      }
      claim.renewed(askedAt);
      for (const jobId of lease.cancelled) this.parts.onCancelled(claim, jobId);
    }
    await store.seen(workerId);
    this.#missing = false;
    return this.#everyMs;
  }

  #missed(error: unknown): number {
    // Said once an outage; the poll says when it is over.
    if (!this.#missing) this.parts.logger.warn(`Cannot renew leases: ${(error as Error).message}`);
    this.#missing = true;
    return Math.min(RETRY_MS, this.#everyMs);
  }

  #giveUpLapsed(): Promise<number> {
    const now = this.parts.clock.monotonic();
    let next = this.#everyMs;
    for (const claim of [...this.parts.held]) {
      if (claim.deadline <= now) this.parts.onLost(claim);
      else next = Math.min(next, claim.deadline - now);
    }
    return Promise.resolve(next);
  }
}
