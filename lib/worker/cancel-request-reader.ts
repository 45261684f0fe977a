import type { Clock } from '../common/clock.js';
import type { JobStore } from '../store/verbs/job-store.js';
import type { ActiveClaim, ClaimOwner, OwnClaims } from './queue/active-claim.js';

// Jobs that end within this time cost no statement.
const READ_DELAY_MS = 50;

/**
 * Reads the cancellation requests of other processes for jobs of this worker, after a notification that may announce
 * one. If a notification is lost, the next heartbeat reads the request.
 */
export class CancelRequestReader {
  readonly #stopping = new AbortController();
  #delayedRead: Promise<unknown> | undefined;
  #foundCount = 0;

  constructor(
    private readonly store: Pick<JobStore, 'cancelRequests'>,
    private readonly clock: Clock,
    private readonly claims: Pick<OwnClaims, 'all'>,
    private readonly owner: Pick<ClaimOwner, 'cancelClaimed'>,
  ) {}

  get foundCount(): number {
    return this.#foundCount;
  }

  /** Sends no statement if the worker owns no claim. */
  read(): Promise<void> {
    return this.#readFor(this.claims.all);
  }

  /** Reads the requests after a short delay, for the present claims that are still active then. */
  readSoon(): void {
    const claims = this.claims.all;
    if (claims.length === 0) return;
    this.#delayedRead ??= this.#readLater(claims).finally(() => (this.#delayedRead = undefined));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#delayedRead;
  }

  async #readLater(claims: readonly ActiveClaim[]): Promise<void> {
    await this.clock.sleep(READ_DELAY_MS, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    const active = new Set(this.claims.all);
    await this.#readFor(claims.filter((claim) => active.has(claim)));
  }

  async #readFor(claims: readonly ActiveClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const requests = await this.store.cancelRequests(claims.map(({ id }) => id)).catch(() => undefined);
    for (const claim of claims) {
      for (const jobId of requests?.get(claim.id) ?? []) if (this.owner.cancelClaimed(claim, jobId)) this.#foundCount++;
    }
  }
}
