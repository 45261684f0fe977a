import type { JobStore } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import type { HeldClaim } from './held-claim.js';

// Jobs that end within this time cost no look of their own.
const SOON_MS = 50;

export interface CancellationsParts {
  readonly store: Pick<JobStore, 'cancelRequests'>;
  readonly clock: Clock;
  /** The claims that this worker holds. */
  readonly claims: () => readonly HeldClaim[];
  /** Answers whether the job is here and was not cancelled before. */
  readonly onCancelled: (claim: HeldClaim, jobId: number) => boolean;
}

/**
 * Reads whether other processes have requested the cancellation of jobs of this worker, when a notification may have said
 * so. If a request is missed, the next heartbeat brings it.
 */
export class Cancellations {
  readonly #stopping = new AbortController();
  #soon: Promise<unknown> | undefined;
  #found = 0;

  constructor(private readonly parts: CancellationsParts) {}

  /** How many requests were found so far. */
  get found(): number {
    return this.#found;
  }

  /** Reads the requests now. Sends no statement if the worker holds no claim. */
  look(): Promise<void> {
    return this.#look(this.parts.claims());
  }

  /** Reads them in a moment, for those of today's claims that are held then. */
  lookSoon(): void {
    const claims = this.parts.claims();
    if (claims.length === 0) return;
    this.#soon ??= this.#lookLater(claims).finally(() => (this.#soon = undefined));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#soon;
  }

  async #lookLater(claims: readonly HeldClaim[]): Promise<void> {
    await this.parts.clock.sleep(SOON_MS, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    const held = new Set(this.parts.claims());
    await this.#look(claims.filter((claim) => held.has(claim)));
  }

  async #look(claims: readonly HeldClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const requests = await this.parts.store.cancelRequests(claims.map(({ id }) => id)).catch(() => undefined);
    for (const claim of claims) {
      for (const jobId of requests?.get(claim.id) ?? []) if (this.parts.onCancelled(claim, jobId)) this.#found++;
    }
  }
}
