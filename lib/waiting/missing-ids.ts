// Of a gap, and of all that are missing. More than that no transaction has had open, or it was rolled back.
const MOST_OF_A_GAP = 1_000;
const MOST = 10_000;
// Most transactions that are late are so by milliseconds; a caller's own may last minutes.
const YOUNG_MS = 5_000;
const OLD_EVERY_MS = 15_000;
const GIVEN_UP_MS = 600_000;

/**
 * Ids that were passed over: their transactions had not committed when higher ones were seen, or never will. They are asked for
 * again, the younger ones more often.
 */
export class MissingIds {
  /** When each was noticed to be missing, in this order. */
  readonly #since = new Map<number, number>();
  #askedForAllAt = -Infinity;

  /** These two were seen one after the other. */
  between(id: number, next: number, now: number): void {
    for (let missing = Math.max(id + 1, next - MOST_OF_A_GAP); missing < next; missing++) this.#since.set(missing, now);
    for (const [oldest] of this.#since) {
      if (this.#since.size <= MOST) break;
      this.#since.delete(oldest);
    }
  }

  found(id: number): void {
    this.#since.delete(id);
  }

  /** Those to ask for now. */
  due(now: number): number[] {
    for (const [id, since] of this.#since) {
      if (now - since < GIVEN_UP_MS) break;
      this.#since.delete(id);
    }
    const isForAll = now - this.#askedForAllAt >= OLD_EVERY_MS;
    if (isForAll) this.#askedForAllAt = now;
    return [...this.#since].filter(([, since]) => isForAll || now - since < YOUNG_MS).map(([id]) => id);
  }
}
