interface Turn {
  /** The moment from which the claim may have chosen jobs. */
  since: number;
  /** The moment when it had locked them; Infinity: not yet, or it is not known. */
  until: number;
  receive: (() => void) | undefined;
}

/** What a claim under way reports of itself. */
export interface ClaimTurn {
  /** It is about to choose its jobs. */
  choosing(): void;
  /** It has locked them. */
  locked(): void;
  /** It is answered. `receive` is called when its jobs have their turn. */
  answered(receive: () => void): void;
}

/**
 * Puts the answers to the claims of one queue into the order in which the claims chose their jobs. A claim that began to
 * choose before another one had locked its jobs may have older ones: so the other one's jobs wait for those of the first.
 */
export class ClaimTurns {
  /** Those that were not received yet. */
  readonly #turns = new Set<Turn>();
  /** Numbers what happens, in its order. */
  #moment = 0;

  /** Whether the jobs of all claims have been received. */
  get isOver(): boolean {
    return this.#turns.size === 0;
  }

  begin(): ClaimTurn {
    const turn: Turn = { since: ++this.#moment, until: Infinity, receive: undefined };
    this.#turns.add(turn);
    return {
      choosing: () => {
        turn.since = ++this.#moment;
        turn.until = Infinity;
      },
      locked: () => void (turn.until = ++this.#moment),
      answered: (receive) => {
        turn.until = Math.min(turn.until, ++this.#moment);
        turn.receive = receive;
      },
    };
  }

  /** Receives the jobs that have their turn. */
  receive(): void {
    let waiting = [...this.#turns].filter(({ receive }) => receive === undefined);
    for (let before = -1; before !== waiting.length;) {
      before = waiting.length;
      const earliest = Math.min(...waiting.map(({ since }) => since));
      waiting = [...this.#turns].filter(({ receive, until }) => receive === undefined || earliest < until);
    }
    for (const turn of this.#turns) {
      if (waiting.includes(turn)) continue;
      this.#turns.delete(turn);
      turn.receive!();
    }
  }
}
