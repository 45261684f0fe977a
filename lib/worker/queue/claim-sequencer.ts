interface SequenceEntry<T> {
  /** The moment from which the claim may have chosen jobs. */
  choosingSince: number;
  /** The moment at which the claim had locked its jobs. Infinity: not yet, or unknown. */
  lockedAt: number;
  answer: { readonly value: T } | undefined;
}

/**
 * Orders the answers to the claims of one queue by the moment at which each claim chose its jobs. A claim that started
 * to choose before another one had locked its jobs may return older jobs. The jobs of the other one wait for them.
 */
export class ClaimSequencer<T> {
  /** Claims whose answers were not taken yet, oldest first. */
  readonly #entries = new Set<SequenceEntry<T>>();
  #sequence = 0;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /**
   * Whether a claim has not locked its jobs yet. A second claim at that moment costs more than it saves: each of the
   * two finds fewer jobs, and has to wait for the answer to the other.
   */
  get isChoosing(): boolean {
    return [...this.#entries].some(({ lockedAt }) => lockedAt === Infinity);
  }

  begin() {
    const entry: SequenceEntry<T> = { choosingSince: ++this.#sequence, lockedAt: Infinity, answer: undefined };
    this.#entries.add(entry);
    return {
      markChoosing: () => {
        entry.choosingSince = ++this.#sequence;
        entry.lockedAt = Infinity;
      },
      markLocked: () => void (entry.lockedAt = ++this.#sequence),
      markAnswered: (value: T) => {
        entry.lockedAt = Math.min(entry.lockedAt, ++this.#sequence);
        entry.answer = { value };
      },
    };
  }

  /** Removes and returns the answers that no other claim can precede. */
  takeReady(): T[] {
    const waiting = this.#waiting();
    const ready: T[] = [];
    for (const entry of this.#entries) {
      if (!entry.answer || waiting.has(entry)) continue;
      this.#entries.delete(entry);
      ready.push(entry.answer.value);
    }
    return ready;
  }

  /** Claims without an answer, and answered ones that must wait for one of these. */
  #waiting(): ReadonlySet<SequenceEntry<T>> {
    let waiting = new Set([...this.#entries].filter(({ answer }) => !answer));
    for (let previousSize = -1; previousSize !== waiting.size;) {
      previousSize = waiting.size;
      const earliest = Math.min(...Array.from(waiting, ({ choosingSince }) => choosingSince));
      waiting = new Set([...this.#entries].filter(({ answer, lockedAt }) => !answer || earliest < lockedAt));
    }
    return waiting;
  }
}
