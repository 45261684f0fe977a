import { OutageLog } from '../../common/outage-log.js';
import { PollLoop } from '../../common/poll-loop.js';
import type { ActiveClaim } from '../queue/active-claim.js';
import type { WorkerParts } from '../worker-parts.js';
import { LoopHeartbeat, type HeartbeatResult, type Heartbeat, type HeartbeatSettings } from './heartbeat.js';

const EXPIRY_CHECK_RETRY_MS = 1_000;

/** The queues that run the jobs of the claims. */
export interface ClaimOwner {
  /** The lease of the claim, or its worker lock, is lost. */
  abandon(claim: ActiveClaim): void;
  /** Returns whether the job is here and was not cancelled before. */
  cancelClaimed(claim: ActiveClaim, jobId: number): boolean;
}

// A worker that was not seen for a minute counts as dead in the statistics.
const MAX_INTERVAL_MS = 20_000;

/**
 * Renews the leases of the worker's claims every third of the shortest lease, at least every 20 seconds. Abandons claims
 * whose lease was not renewed in time. It judges by the clock of this process, from before each renewal was sent: so it
 * may end a lease too early, but never too late.
 */
export class LeaseRenewer {
  readonly #claims = new Map<number, ActiveClaim>();
  #heartbeat: Heartbeat;
  readonly #expiryCheck: PollLoop;
  readonly #outage: OutageLog;
  #intervalMs: number;
  /** The ends of heartbeats that a faster one has replaced. */
  readonly #stoppedHeartbeats: Promise<void>[] = [];

  constructor(
    private readonly parts: WorkerParts,
    private readonly workerId: string,
    private readonly queues: ClaimOwner,
    shortestLeaseMs: number,
  ) {
    this.#intervalMs = Math.min(shortestLeaseMs / 3, MAX_INTERVAL_MS);
    // Without a message for the end of the outage, because the poller logs it.
    this.#outage = new OutageLog(parts.logger, 'Cannot renew leases');
    this.#heartbeat = this.#newHeartbeat();
    // A separate loop, because the heartbeat may wait for a database that does not answer.
    this.#expiryCheck = new PollLoop(
      () => this.#abandonExpired(),
      parts.clock,
      () => EXPIRY_CHECK_RETRY_MS,
    );
  }

  start(): void {
    this.#heartbeat.start();
    this.#expiryCheck.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#heartbeat.stop(), this.#expiryCheck.stop(), ...this.#stoppedHeartbeats]);
  }

  /** Renews often enough for leases of this length from now on. */
  supportLease(leaseMs: number): void {
    if (leaseMs / 3 >= this.#intervalMs) return;
    this.#intervalMs = leaseMs / 3;
    const previous = this.#heartbeat;
    this.#heartbeat = this.#newHeartbeat();
    this.#heartbeat.start();
    for (const id of this.#claims.keys()) this.#heartbeat.add(id);
    this.#stoppedHeartbeats.push(previous.stop());
    this.#expiryCheck.wake();
  }

  get claims(): ActiveClaim[] {
    return [...this.#claims.values()];
  }

  add(claim: ActiveClaim): void {
    this.#claims.set(claim.id, claim);
    this.#heartbeat.add(claim.id);
  }

  remove(claim: ActiveClaim): void {
    this.#claims.delete(claim.id);
    this.#heartbeat.remove(claim.id);
  }

  /** Whether the lease has ended, as far as this process can know. */
  hasExpired(claim: ActiveClaim): boolean {
    if (this.parts.clock.monotonic() < claim.leaseDeadline) return false;
    this.#heartbeat.deliverPending?.();
    return this.parts.clock.monotonic() >= claim.leaseDeadline;
  }

  #newHeartbeat(): Heartbeat {
    const { createHeartbeat, store, workerRegistry, clock } = this.parts;
    const settings: HeartbeatSettings = {
      workerId: this.workerId,
      intervalMs: this.#intervalMs,
      onResult: (result) => this.#applyResult(result),
      onError: (error) => this.#outage.onFailure(error),
    };
    return createHeartbeat?.(settings) ?? new LoopHeartbeat(store, workerRegistry, clock, settings);
  }

  #applyResult({ claimIds, requestedAt, leases }: HeartbeatResult): void {
    const leaseByClaim = new Map(leases.map((lease) => [lease.claimId, lease]));
    for (const id of claimIds) {
      const claim = this.#claims.get(id);
      // The claim ended while the statement was under way, so a missing lease is not a loss.
      if (!claim) continue;
      const lease = leaseByClaim.get(id);
      if (!lease) {
        this.queues.abandon(claim);
        continue;
      }
      if (!lease.isLocked) claim.extendLease(requestedAt);
      for (const jobId of lease.cancelRequested) this.queues.cancelClaimed(claim, jobId);
    }
    this.#outage.onSuccess();
  }

  #abandonExpired(): Promise<number> {
    let nextCheckMs = this.#intervalMs;
    for (const claim of this.claims) {
      if (this.hasExpired(claim)) this.queues.abandon(claim);
      else nextCheckMs = Math.min(nextCheckMs, claim.leaseDeadline - this.parts.clock.monotonic());
    }
    return Promise.resolve(nextCheckMs);
  }
}
