import type { Clock } from '../../common/clock.js';
import { DEFAULT_GROUP_RULES, type GroupRules } from '../../job/groups/group-options.js';

// A job of this process may have ended after the claim had counted it.
const RECOUNT_MS = 100;

/** The limits and groups of the queue, and when a claim that they cut short should be repeated. */
export class LimitGate {
  #isLimited = false;
  #groups: GroupRules | undefined;
  /** When the limits allow more jobs; Infinity: when a job ends; undefined: the last claim was not cut short. */
  #limitedUntil: number | undefined;
  /** The limits allow no further job of any group. */
  #isUsedUp = false;
  /** When the groups may have more jobs. */
  #groupsDueAt = Infinity;
  /** Whether the end of a job opens the gate: the limit of running jobs is reached. */
  #opensAtJobEnd = false;
  #hasJobEnded = false;
  #isClaiming: boolean;

  constructor(
    groups: GroupRules | null,
    private readonly clock: Pick<Clock, 'monotonic'>,
    isClaiming: boolean,
  ) {
    this.#groups = groups ?? undefined;
    this.#isClaiming = isClaiming;
  }

  get isLimited(): boolean {
    return this.#isLimited;
  }

  /** Undefined: the queue has no groups. */
  get groups(): GroupRules | undefined {
    return this.#groups;
  }

  /** The last claim found more jobs than the limits allowed. */
  get isShut(): boolean {
    return this.#limitedUntil !== undefined;
  }

  /** When the next claim may find more jobs, by the monotonic clock; Infinity: when something happens. */
  get opensAt(): number {
    return Math.min(this.#limitedUntil ?? Infinity, this.#isUsedUp ? Infinity : this.#groupsDueAt);
  }

  setLimited(isLimited: boolean): void {
    this.#isLimited = isLimited;
    if (!isLimited) this.open();
  }

  /** The database has groups of the queue, although this process has no options for them. */
  discoverGroups(): void {
    this.#groups ??= DEFAULT_GROUP_RULES;
  }

  /** @param isClaiming false: this process claims no jobs of the queue for now, so it has nothing to wait for */
  setClaiming(isClaiming: boolean): void {
    this.#isClaiming = isClaiming;
    if (!isClaiming) this.pass(Infinity);
  }

  beginClaim(): void {
    this.#hasJobEnded = false;
  }

  /** The claim was not cut short. */
  open(): void {
    this.#limitedUntil = undefined;
    this.#isUsedUp = false;
    this.#opensAtJobEnd = false;
  }

  /**
   * @param moreInMs see ClaimRequest.onLimited
   * @param allowedMore how many jobs the limits allow beyond those that the claim has found
   */
  shut(moreInMs: number | null, allowedMore: number): void {
    if (!this.#isClaiming) return;
    this.#isUsedUp = allowedMore <= 0;
    this.#opensAtJobEnd = moreInMs === null;
    const waitMs = moreInMs ?? (this.#hasJobEnded ? RECOUNT_MS : Infinity);
    this.#limitedUntil = this.clock.monotonic() + waitMs;
  }

  /** See ClaimRequest.onMoreIn. */
  expectGroups(moreInMs: number): void {
    if (this.#isClaiming) this.#groupsDueAt = Math.min(this.#groupsDueAt, this.clock.monotonic() + moreInMs);
  }

  /** The claim can be repeated if it had to wait until this time or an earlier one. */
  pass(time: number): void {
    if (this.#limitedUntil !== undefined && this.#limitedUntil <= time) this.open();
    if (this.#groupsDueAt <= time) this.#groupsDueAt = Infinity;
  }

  /** A slot became free, or the outcome of a job committed. Returns whether that opens the gate. */
  onJobEnd(): boolean {
    this.#hasJobEnded = true;
    const opens = this.#opensAtJobEnd;
    if (opens) this.open();
    return opens;
  }
}
