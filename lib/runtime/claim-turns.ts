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
 * choose before another one had locked its jobs may have older ones: so the other one's answer waits for it.
 */
export class ClaimTurns {
  /** Those that were not received yet. */
  readonly #turns = new Set<Turn>();
  /** Numbers what happens, in its order. */
  #moment = 0;

  begin(): ClaimTurn {
    const turn: Turn = { since: ++this.#moment, until: Infinity, receive: undefined };
    this.#turns.add(turn);
    return {
      choosing: () => {
        turn.since = ++this.#moment;
        turn.until = Infinity;
      },
      locked: () => void (turn.until = ++this.#moment),
      answered: (receive) => void (turn.receive = receive),
    };
  }

  /** Receives all that have their turn, and answers whether there was one. */
  receive(): boolean {
    const turns = [...this.#turns];
    const open = turns.filter(({ receive }) => receive === undefined);
    const next = turns.filter(({ receive, until }) => receive && open.every(({ since }) => since > until));
    for (const turn of next) {
      this.#turns.delete(turn);
      turn.receive!();
    }
    return next.length > 0;
  }
}
