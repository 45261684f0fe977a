import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';
import type { Beat, Pulse, PulseSettings } from './pulse.js';

const RETRY_MS = 1_000;

export interface LeaseKeeperParts {
  readonly workerId: string;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly shortestLeaseMs: number;
  readonly pulse: (settings: PulseSettings) => Pulse;
  readonly onLost: (claim: HeldClaim) => void;
  readonly onCancelled: (claim: HeldClaim, jobId: number) => unknown;
}

/**
 * The claims of this process. Has their leases renewed every third of the shortest, and gives up those that were not
 * renewed in time: by this process's own clock, which never extends a lease and only ever ends it early.
 */
export class LeaseKeeper {
  readonly #held = new Map<number, HeldClaim>();
  #pulse: Pulse;
  readonly #watch: PollLoop;
  #everyMs: number;
  /** Slower ones, on their way out. */
  readonly #ending: Promise<void>[] = [];
  #missing = false;

  constructor(private readonly parts: LeaseKeeperParts) {
    this.#everyMs = parts.shortestLeaseMs / 3;
    this.#pulse = this.#newPulse();
    // A loop of its own, since the heartbeat may be waiting for a database that does not answer.
    this.#watch = new PollLoop(
      () => this.#giveUpLapsed(),
      parts.clock,
      () => RETRY_MS,
    );
  }

  start(): void {
    this.#pulse.start();
    this.#watch.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pulse.stop(), this.#watch.stop(), ...this.#ending]);
  }

  /** From now on there can be claims with a lease as short as this. */
  admit(leaseMs: number): void {
    if (leaseMs / 3 >= this.#everyMs) return;
    this.#everyMs = leaseMs / 3;
    const slower = this.#pulse;
    this.#pulse = this.#newPulse();
    this.#pulse.start();
    for (const id of this.#held.keys()) this.#pulse.hold(id);
    this.#ending.push(slower.stop());
    this.#watch.wake();
  }

  /** The claims whose leases are kept. */
  get claims(): HeldClaim[] {
    return [...this.#held.values()];
  }

  hold(claim: HeldClaim): void {
    this.#held.set(claim.id, claim);
    this.#pulse.hold(claim.id);
  }

  letGo(claim: HeldClaim): void {
    this.#held.delete(claim.id);
    this.#pulse.letGo(claim.id);
  }

  /** Gives up those that match: what they were worth has gone before its time. */
  giveUp(matches: (claim: HeldClaim) => boolean): void {
    for (const claim of [...this.#held.values()].filter(matches)) this.parts.onLost(claim);
  }

  /** Whether the lease has ended, as far as this process can know. */
  hasLapsed(claim: HeldClaim): boolean {
    if (this.parts.clock.monotonic() < claim.deadline) return false;
    this.#pulse.catchUp();
    return this.parts.clock.monotonic() >= claim.deadline;
  }

  #newPulse(): Pulse {
    return this.parts.pulse({
      workerId: this.parts.workerId,
      everyMs: this.#everyMs,
      onBeat: (beat) => this.#renew(beat),
      onMissed: (error) => this.#missed(error),
    });
  }

  #renew({ asked, askedAt, leases }: Beat): void {
    const held = new Map(leases.map((lease) => [lease.claimId, lease]));
    for (const id of asked) {
      const claim = this.#held.get(id);
      // Settled meanwhile: then there is nothing to lose.
      if (!claim) continue;
      const lease = held.get(id);
      if (!lease) {
        this.parts.onLost(claim);
        continue;
      }
      if (!lease.isLocked) claim.renewed(askedAt);
      for (const jobId of lease.cancelled) this.parts.onCancelled(claim, jobId);
    }
    this.#missing = false;
  }

  #missed(error: unknown): void {
    // Said once an outage; the poll says when it is over.
    if (!this.#missing) this.parts.logger.warn(`Cannot renew leases: ${(error as Error).message}`);
    this.#missing = true;
  }

  #giveUpLapsed(): Promise<number> {
    let next = this.#everyMs;
    for (const claim of [...this.#held.values()]) {
      if (this.hasLapsed(claim)) this.parts.onLost(claim);
      else next = Math.min(next, claim.deadline - this.parts.clock.monotonic());
    }
    return Promise.resolve(next);
  }
}
