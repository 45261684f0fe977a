import { hasCode, type StoreUnavailableError } from '../../job/errors.js';
import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../time/clock.js';
import { askIdStep } from '../sql/inserted-ids.js';
import { unavailable } from '../sql/patience.js';
import {
  lastTogether,
  change,
  query,
  relay,
  together,
  type Answer,
  type Decided,
  type Statement,
  type Work,
} from '../sql/statement.js';
import type { MysqlPool } from './mysql-pool.js';

// A server that restarts is back by then, and one that has lost a connection without noticing has ended its transaction.
const PATIENCE_MS = 60_000;
// As many as there are connections.
const MOST_LINES = 5;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

// Nobody uses a line any more before its row is forgotten, after a day without use.
const LINE_LIFE_MS = 3_600_000;

// Asked again after an answer that was lost, it may be there already. The first one may come later still, when transactions
// have been counted or the line is closed: it changes nothing then.
const OPEN = `
  INSERT INTO {producers} (id, number, first_id, id_step, seen_at)
  VALUES (:id, 0, 0, 1, :now)
  ON DUPLICATE KEY UPDATE id = id`;

// Fails where the line is closed, and with it a transaction that comes late: a number must not be NULL. Keeps what the answer
// to an INSERT says.
const COUNT = `
  UPDATE {producers} FORCE INDEX (PRIMARY)
  SET number = IF(number = :number - 1, :number, NULL),
      first_id = LAST_INSERT_ID(), id_step = @@auto_increment_increment, seen_at = :now
  WHERE id = :id`;
const NOT_NULL = 1048;

const LOCK = `
  SELECT number, first_id AS firstId, id_step AS idStep
  FROM {producers} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE`;

const CLOSE = `
  UPDATE {producers} FORCE INDEX (PRIMARY)
  SET number = -1, seen_at = :now
  WHERE id = :id`;

const END = `
  DELETE {producers} FROM {producers} FORCE INDEX (PRIMARY)
  WHERE id IN (:ids)`;

/** A row in which transactions are counted, one after the other. */
interface Line {
  readonly id: number;
  number: number;
  usedAtMs: number;
}

/** A transaction to be done once. */
interface Numbered<T> {
  /** Ends with the count, and answers what came of that; undefined where there was nothing to write, and so to count. */
  work(count: Statement): Work<Answer | undefined>;
  /** What it comes to, once it has committed. `seen`: what the line says, where the answer was lost. */
  value(seen?: Counted): T;
}

interface Counted {
  readonly number: number;
  readonly firstId: number;
  readonly idStep: number;
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
    private readonly database: Pick<MysqlPool, 'transaction' | 'hasFixedIdStep' | 'repeatable'>,
    private readonly clock: Clock,
    /** Aborted when the database is closed for good. */
    private readonly closed: AbortSignal,
  ) {}

  /** The answers to the writes, and what else there was to ask. */
  commit(writes: readonly Statement[]): Promise<readonly Answer[]> {
    // All as one text, COMMIT included, where no more has to be asked for. Its answer tells all there is to know.
    const isOneText = writes.length === 1 && this.database.hasFixedIdStep;
    let answers: readonly Answer[] | undefined;
    return this.#once({
      *work(count) {
        answers = undefined;
        answers = yield* isOneText ? lastTogether([...writes, count]) : inTurn([...writes, count]);
        return answers.at(-1)!;
      },
      value: (seen) => answers ?? [{ rows: [], changed: 0, insertId: seen!.firstId, idStep: seen!.idStep }],
    });
  }

  /** What the work has decided, once that is committed. */
  decide<T>(work: () => Work<Decided<T>>): Promise<T> {
    let decided: Decided<T>;
    return this.#once({
      *work(count) {
        decided = yield* work();
        if (!decided.hasWritten) return undefined;
        return (yield* lastTogether([...decided.writes, count])).at(-1)!;
      },
      value: () => decided.value,
    });
  }

  /** What the work comes to, which writes as it goes. `hasWritten`: where it has not, there is nothing to count. */
  transact<T>(work: () => Work<T>, hasWritten: (value: T) => boolean): Promise<T> {
    let value: T;
    return this.#once({
      *work(count) {
        // Something follows what the work takes for its last step.
        value = yield* relay(work(), ({ statements }) => together(statements));
        return hasWritten(value) ? (yield* lastTogether([count]))[0]! : undefined;
      },
      value: () => value,
    });
  }

  async close(): Promise<void> {
    const ids = this.#free.splice(0).map(({ id }) => id);
    // What stays is forgotten after a day.
    if (ids.length > 0) await this.database.repeatable(() => change(END, { ids })).catch(() => undefined);
  }

  async #once<T>(numbered: Numbered<T>): Promise<T> {
    for (;;) {
      const done = await this.#onLine((line) => this.#tryOn(line, numbered));
      if (done) return done.value;
    }
  }

  async #onLine<T>(act: (line: Line) => Promise<T>): Promise<T> {
    while (this.#inUse >= MOST_LINES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inUse++;
    try {
      return await act(this.#lineInUse() ?? (await this.#open()));
    } finally {
      this.#inUse--;
      this.#waiting.shift()?.();
    }
  }

  #lineInUse(): Line | undefined {
    const line = this.#free.pop();
    return line && this.clock.monotonic() - line.usedAtMs < LINE_LIFE_MS ? line : undefined;
  }

  async #open(): Promise<Line> {
    const line = { id: randomId(), number: 0, usedAtMs: this.clock.monotonic() };
    await this.database.repeatable(() => change(OPEN, { id: line.id }));
    return line;
  }

  /** Undefined where nothing was done: then it can be done on another line. */
  async #tryOn<T>(line: Line, { work, value }: Numbered<T>): Promise<{ value: T } | undefined> {
    const number = line.number + 1;
    let counted: Answer | undefined;
    try {
      counted = await this.database.transaction(() => work({ sql: COUNT, values: { id: line.id, number } }));
    } catch (error) {
      if (isInDoubt(error)) {
        // The line is closed: what is still on its way to the server comes to nothing.
        const seen = await this.#close(line.id, error);
        return seen.number === number ? { value: value(seen) } : undefined;
      }
      // Closed, by a database that has gone back to an earlier state.
      if (line.number > 0 && (error as { errno?: number }).errno === NOT_NULL) return undefined;
      this.#free.push(line);
      throw error;
    }
    if (!counted) this.#free.push(line);
    else if (counted.changed === 1) this.#free.push({ ...line, number, usedAtMs: this.clock.monotonic() });
    return { value: value() };
  }

  async #close(id: number, error: StoreUnavailableError): Promise<Counted> {
    let seen: Counted | undefined;
    const until = this.clock.monotonic() + PATIENCE_MS;
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        await this.database.transaction(function* () {
          const counted = yield* closeLine(id);
          // Closed already, it is what was read when it was: nobody else closes it.
          if (counted && counted.number >= 0) seen = counted;
        });
        if (seen) return seen;
        throw error;
      } catch (problem) {
        if (!hasCode(problem, 'STORE_UNAVAILABLE')) throw unavailable(problem, 'unknown');
        if (problem === error || this.closed.aborted || this.clock.monotonic() > until) throw error;
      }
      await this.clock.sleep(pauseMs, this.closed);
    }
  }
}

/** Answers what the line had counted; undefined where it has been forgotten. */
export function* closeLine(id: number): Work<Counted | undefined> {
  const [row] = yield* query<Counted>(LOCK, { id });
  // On Galera another node may be about to commit, and then loses to this.
  yield* change(CLOSE, { id });
  return row && { number: Number(row.number), firstId: Number(row.firstId), idStep: Number(row.idStep) };
}

/** So many and so long that each is a text of its own. */
function* inTurn(writes: readonly Statement[]): Work<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const write of writes) answers.push(...(yield* together([write])));
  if (answers[0]!.idStep !== undefined) return answers;
  const idStep = yield* askIdStep();
  return answers.map((answer) => ({ ...answer, idStep }));
}

function isInDoubt(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
}
