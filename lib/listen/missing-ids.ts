// The limits of ids for one gap and in all. A larger gap comes from a transaction that was rolled back.
const MAX_GAP = 1_000;
const MAX_MISSING = 10_000;
// Most late transactions commit within milliseconds, but a transaction of a caller may last minutes.
const RECENT_MS = 5_000;
const FULL_CHECK_INTERVAL_MS = 15_000;
const MISSING_TIMEOUT_MS = 600_000;

/**
 * Ids that are missing between the ids that were read: their transactions commit later, or were rolled back. Ids that
 * are missing for less than 5 s are read with every poll, the others every 15 s, for 10 minutes.
 */
export class MissingIds {
  /** Oldest first. */
  readonly #missingSince = new Map<number, number>();
  #lastFullCheckAt = -Infinity;

  addGap(id: number, next: number, now: number): void {
    for (let missing = Math.max(id + 1, next - MAX_GAP); missing < next; missing++)
      this.#missingSince.set(missing, now);
    for (const [oldest] of this.#missingSince) {
      if (this.#missingSince.size <= MAX_MISSING) break;
      this.#missingSince.delete(oldest);
    }
  }

  remove(id: number): void {
    this.#missingSince.delete(id);
  }

  due(now: number): number[] {
    for (const [id, since] of this.#missingSince) {
      if (now - since < MISSING_TIMEOUT_MS) break;
      this.#missingSince.delete(id);
    }
    const isFullCheck = now - this.#lastFullCheckAt >= FULL_CHECK_INTERVAL_MS;
    if (isFullCheck) this.#lastFullCheckAt = now;
    return [...this.#missingSince].filter(([, since]) => isFullCheck || now - since < RECENT_MS).map(([id]) => id);
  }
}
