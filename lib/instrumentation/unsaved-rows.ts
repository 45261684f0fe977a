import { randomId } from '../job/identifiers.js';

// While the database is away, older minutes are dropped.
const MAX_UNSAVED_ROWS = 10_000;

/** Rows of sums that grow. Each is saved with its whole sum, so that a save may happen twice. */
export class UnsavedRows<Row extends { readonly recorder: number }> {
  #rows: Row[] = [];
  /** Those that may be saved again, as they were saved last. */
  readonly #saved = new Map<string, Row>();

  /**
   * @param keyOf differs for rows of which none replaces the other in the database
   * @param subtract returns what has been added to a row since it was saved
   */
  constructor(
    private readonly keyOf: (row: Row) => string,
    private readonly subtract: (row: Row, saved: Row) => Row,
  ) {}

  /** In their order: a later row replaces an earlier one with its key. */
  get rows(): readonly Row[] {
    return this.#rows;
  }

  add(rows: readonly Row[]): void {
    this.#rows = [...this.#rows, ...rows].slice(-MAX_UNSAVED_ROWS);
  }

  /** @param mayGrow whether the rows may be added again */
  onSaved(mayGrow: boolean): void {
    if (mayGrow) for (const row of this.#rows) this.#saved.set(this.keyOf(row), row);
    else this.#saved.clear();
    this.#rows = [];
  }

  /** Another process may have added the saved rows up, and deleted them: only what came since may be saved. */
  separate(): void {
    const last = new Map(this.#rows.map((row) => [this.keyOf(row), row]));
    this.#rows = Array.from(last, ([key, row]) => {
      const saved = this.#saved.get(key);
      return { ...(saved ? this.subtract(row, saved) : row), recorder: randomId() };
    });
    this.#saved.clear();
  }
}
