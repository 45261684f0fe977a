import { callAfter, type Clock } from '../../common/clock.js';

// A job of this process may have ended after the claim had counted it.
const RECOUNT_MS = 100;

/** Whether the queue has limits, and when a claim that they cut short should be repeated. */
export class LimitGate {
  #isLimited = false;
  #isShut = false;
  /** Whether the end of a job opens the gate: the limit of running jobs is reached. */
  #opensAtJobEnd = false;
  #hasJobEnded = false;
  #timer: AbortController | undefined;
  #isClaiming = true;

  /** @param onOpen called when the limits may allow more jobs */
  constructor(
    private readonly clock: Clock,
    private readonly onOpen: () => void,
  ) {}

  /** @param isClaiming false: this process claims no jobs of the queue for now, so the gate sets no timer */
  setClaiming(isClaiming: boolean): void {
    this.#isClaiming = isClaiming;
    if (!isClaiming) this.open();
  }

  get isLimited(): boolean {
    return this.#isLimited;
  }

  /** The last claim found more jobs than the limits allowed. */
  get isShut(): boolean {
    return this.#isShut;
  }

  setLimited(isLimited: boolean): void {
    this.#isLimited = isLimited;
    if (!isLimited) this.open();
  }

  beginClaim(): void {
    this.#hasJobEnded = false;
  }

  /** The claim was not cut short. */
  open(): void {
    this.#isShut = false;
    this.#opensAtJobEnd = false;
    this.#timer?.abort();
    this.#timer = undefined;
  }

  /** @param moreInMs see ClaimRequest.onLimited */
  shut(moreInMs: number | null): void {
    this.open();
    if (!this.#isClaiming) return;
    this.#isShut = true;
    this.#opensAtJobEnd = moreInMs === null;
    if (moreInMs !== null) this.#openIn(moreInMs);
    else if (this.#hasJobEnded) this.#openIn(RECOUNT_MS);
  }

  /** A slot became free, or the outcome of a job committed. */
  onJobEnd(): void {
    this.#hasJobEnded = true;
    if (this.#opensAtJobEnd) this.#openNow();
  }

  #openNow(): void {
    this.open();
    this.onOpen();
  }

  #openIn(ms: number): void {
    this.#timer = callAfter(this.clock, ms, () => this.#openNow());
  }
}
