import { hasCode, type StoreUnavailableError } from '../../job/errors.js';
import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../time/clock.js';
import { unavailable } from '../sql/patience.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { change, query, type Work } from '../sql/statement.js';

// A server that restarts is back by then, and one that has lost a connection without noticing has ended its transaction.
const PATIENCE_MS = 60_000;
// As many as there are connections.
const MOST_LINES = 5;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

// Asked again after an answer that was lost, it may be there already.
const OPEN = `
  INSERT INTO {producers} (id, number, seen_at)
  VALUES (:id, 0, :now)
  ON DUPLICATE KEY UPDATE number = 0`;

const COUNT = `
  UPDATE {producers} FORCE INDEX (PRIMARY)
  SET number = :number, seen_at = :now
  WHERE id = :id`;

// Waits for a transaction that is still under way, its COMMIT not yet done or never to come.
const LOCK = `
  SELECT number
  FROM {producers} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE`;

const END = `
  DELETE {producers} FROM {producers} FORCE INDEX (PRIMARY)
  WHERE id IN (:ids)`;

/** A row in which transactions are counted, one after the other. */
interface Line {
  readonly id: number;
  number: number;
}

/**
 * Transactions that are done once, also where the answer to their COMMIT is lost: each writes the next number into the row
 * of its line. That says afterwards whether it committed, when what it put in may long be completed and deleted.
 */
export class NumberedCommits {
  readonly #free: Line[] = [];
  #inUse = 0;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly database: Pick<SqlDatabase, 'transaction' | 'repeatable'>,
    private readonly clock: Clock,
  ) {}

  async commit<T>(work: () => Work<T>): Promise<T> {
    for (;;) {
      const done = await this.#onLine((line) => this.#tryOn(line, work));
      if (done) return done.value;
    }
  }

  async close(): Promise<void> {
    const ids = this.#free.splice(0).map(({ id }) => id);
    // What stays is forgotten after a day.
    if (ids.length > 0) await this.database.repeatable(() => change(END, { ids })).catch(() => undefined);
  }

  async #onLine<T>(act: (line: Line) => Promise<T>): Promise<T> {
    while (this.#inUse >= MOST_LINES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inUse++;
    try {
      return await act(this.#free.pop() ?? (await this.#open()));
    } finally {
      this.#inUse--;
      this.#waiting.shift()?.();
    }
  }

  async #open(): Promise<Line> {
    const line = { id: randomId(), number: 0 };
    await this.database.repeatable(() => change(OPEN, { id: line.id }));
    return line;
  }

  /** Undefined where nothing was done: then it can be done on another line. */
  async #tryOn<T>(line: Line, work: () => Work<T>): Promise<{ value: T } | undefined> {
    const number = line.number + 1;
    let value!: T;
    try {
      await this.database.transaction(function* () {
        value = yield* work();
        if ((yield* change(COUNT, { id: line.id, number })) !== 1) throw new LineGoneError();
      });
    } catch (error) {
      if (error instanceof LineGoneError) return undefined;
      if (isInDoubt(error)) return (await this.#hasCommitted(line.id, number, error)) ? { value } : undefined;
      this.#free.push(line);
      throw error;
    }
    line.number = number;
    this.#free.push(line);
    return { value };
  }

  /** Once it has answered, a transaction that had not committed never will. The line is not used again. */
  async #hasCommitted(id: number, number: number, error: StoreUnavailableError): Promise<boolean> {
    let seen: number | undefined;
    const until = this.clock.monotonic() + PATIENCE_MS;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        // Without the row it is what was read when it went: nobody else deletes it.
        await this.database.transaction(function* () {
          seen = (yield* endLine(id)) ?? seen;
        });
        if (seen !== undefined) return seen === number;
        throw error;
      } catch (problem) {
        if (!hasCode(problem, 'STORE_UNAVAILABLE')) throw unavailable(problem, 'unknown');
        if (problem === error || this.clock.monotonic() > until) throw error;
      }
      await this.clock.sleep(pauseMs);
    }
  }
}

/** Answers the line's last number, undefined where it has ended before. */
export function* endLine(id: number): Work<number | undefined> {
  const [row] = yield* query<{ number: number }>(LOCK, { id });
  // Written, not only read: on Galera another node may be about to commit, and then loses to this.
  yield* change(END, { ids: [id] });
  return row && Number(row.number);
}

/** Nobody used the line for so long that its row was forgotten. */
class LineGoneError extends Error {}

function isInDoubt(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
}
