import { OutageLog } from '../../common/logger.js';
import { PollLoop } from '../../common/poll-loop.js';
import type { ActiveClaim, ClaimOwner, OwnClaims } from '../queue/active-claim.js';
import type { WorkerParts } from '../worker-parts.js';
import {
  StandstillLog,
  LoopHeartbeat,
  type HeartbeatResult,
  type Heartbeat,
  type HeartbeatSettings,
} from './heartbeat.js';

const EXPIRY_CHECK_RETRY_MS = 1_000;
// After the process stood still, the database has this time to answer a renewal. Usually it answers at once.
const RENEWAL_GRACE_MS = 5_000;

// A worker that was not seen for a minute counts as dead in the statistics.
const MAX_INTERVAL_MS = 20_000;

/**
 * Renews the leases of the worker's claims every third of the shortest lease, at least every 20 seconds. Abandons claims
 * whose lease was not renewed in time. It judges by the clock of this process, from before each renewal was sent: so it
 * may end a lease too early, but never too late. If the process stood still, the database decides: a lease that has
 * expired since is renewed, unless another worker has rescued the claim.
 */
export class LeaseRenewer {
  #heartbeat: Heartbeat;
  readonly #expiryCheck: PollLoop;
  readonly #outage: OutageLog;
  /** Undefined if a thread renews the leases. */
  readonly #standstill: StandstillLog | undefined;
  #intervalMs: number;
  /** The monotonic time for which the next expiry check is planned. */
  #nextCheckAt = Infinity;
  /** No claim is abandoned before. */
  #graceUntil = 0;
  /** The ends of heartbeats that a faster one has replaced. */
  readonly #stoppedHeartbeats: Promise<void>[] = [];

  constructor(
    private readonly parts: WorkerParts,
    private readonly workerId: string,
    private readonly claims: OwnClaims,
    private readonly queues: ClaimOwner,
    shortestLeaseMs: number,
    private readonly onUnregistered: () => void,
  ) {
    this.#intervalMs = Math.min(shortestLeaseMs / 3, MAX_INTERVAL_MS);
    // Without a message for the end of the outage, because the poller logs it.
    this.#outage = new OutageLog(parts.logger, 'Cannot renew leases');
    this.#standstill = parts.createHeartbeat ? undefined : new StandstillLog(parts.logger, parts.clock, workerId);
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
    this.#stoppedHeartbeats.push(previous.stop());
    this.#expiryCheck.wake();
  }

  renewNow(): void {
    this.#heartbeat.renewNow();
  }

  /** Whether the expired lease has not been renewed meanwhile, as far as this process can know. */
  confirmExpiry(claim: ActiveClaim): boolean {
    this.#heartbeat.deliverPending?.();
    return claim.hasExpired(this.parts.clock.monotonic());
  }

  #newHeartbeat(): Heartbeat {
    const { createHeartbeat, stores, clock } = this.parts;
    const settings: HeartbeatSettings = {
      workerId: this.workerId,
      intervalMs: this.#intervalMs,
      claimIds: () => this.claims.all.map(({ id }) => id),
      onResult: (result) => this.#applyResult(result),
      onUnregistered: this.onUnregistered,
      onError: (error) => this.#outage.onFailure(error),
    };
    const heartbeat: Heartbeat =
      createHeartbeat?.(settings) ?? new LoopHeartbeat(stores.jobs, stores.workers, clock, settings);
    this.claims.setObserver(heartbeat);
    return heartbeat;
  }

  #applyResult({ claimIds, requestedAt, leases }: HeartbeatResult): void {
    const { clock } = this.parts;
    const leaseByClaim = new Map(leases.map((lease) => [lease.claimId, lease]));
    for (const id of claimIds) {
      const claim = this.claims.get(id);
      // The claim ended while the statement was under way, so a missing lease is not a loss.
      if (!claim) continue;
      const lease = leaseByClaim.get(id);
      if (!lease) {
        this.queues.abandon(claim);
        continue;
      }
      const hadExpired = claim.hasExpired(clock.monotonic());
      if (!lease.isLocked) claim.extendLease(requestedAt);
      if (hadExpired && !claim.hasExpired(clock.monotonic())) this.queues.resume(claim);
      for (const jobId of lease.cancelRequested) this.queues.cancelClaimed(claim, jobId);
    }
    this.#outage.onSuccess();
  }

  #abandonExpired(): Promise<number> {
    const now = this.parts.clock.monotonic();
    const lateMs = now - this.#nextCheckAt;
    // Checks are never further apart than heartbeats. So a late check means that heartbeats were late too.
    if (lateMs > this.#intervalMs / 2) {
      this.#standstill?.report(
        lateMs,
        this.claims.all.filter((claim) => claim.hasExpired(now)),
      );
      this.#graceUntil = now + RENEWAL_GRACE_MS;
      this.renewNow();
    }
    let nextCheckMs = this.#intervalMs;
    for (const claim of this.claims.all) {
      const deadline = Math.max(claim.leaseDeadline, this.#graceUntil);
      if (deadline > now) nextCheckMs = Math.min(nextCheckMs, deadline - now);
      else if (this.confirmExpiry(claim)) this.queues.abandon(claim);
    }
    this.#nextCheckAt = now + nextCheckMs;
    return Promise.resolve(nextCheckMs);
  }
}
