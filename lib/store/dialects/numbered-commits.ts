import { hasCode, type StoreUnavailableError } from '../../job/errors.js';
import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../time/clock.js';
import { unavailable } from '../sql/patience.js';
import { change, lastTogether, query, together, type Answer, type Statement, type Work } from '../sql/statement.js';
import type { MysqlPool } from './mysql-pool.js';

// A server that restarts is back by then, and one that has lost a connection without noticing has ended its transaction.
const PATIENCE_MS = 60_000;
// As many as there are connections.
const MOST_LINES = 5;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

// Nobody uses a line any more before its row is forgotten, after a day without use.
const LINE_LIFE_MS = 3_600_000;

// Asked again after an answer that was lost, it may be there already.
const OPEN = `
  INSERT INTO {producers} (id, number, first_id, id_step, seen_at)
  VALUES (:id, 0, 0, 1, :now)
  ON DUPLICATE KEY UPDATE number = 0`;

// Fails where the line is closed, and with it a transaction that comes late: a number must not be NULL. Keeps what the answer
// to an INSERT says.
const COUNT = `
  UPDATE {producers} FORCE INDEX (PRIMARY)
  SET number = IF(number = :number - 1, :number, NULL),
      first_id = LAST_INSERT_ID(), id_step = @@auto_increment_increment, seen_at = :now
  WHERE id = :id`;
const NOT_NULL = 1048;

const STEP = `SELECT @@auto_increment_increment AS step`;

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
  ) {}

  /** The answers to the writes, and what else there was to ask. */
  async commit(writes: readonly Statement[]): Promise<readonly Answer[]> {
    for (;;) {
      const answers = await this.#onLine((line) => this.#tryOn(line, writes));
      if (answers) return answers;
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
  async #tryOn(line: Line, writes: readonly Statement[]): Promise<readonly Answer[] | undefined> {
    const number = line.number + 1;
    const count = { sql: COUNT, values: { id: line.id, number } };
    let answers: readonly Answer[] | undefined;
    // All as one text, COMMIT included, where no more has to be asked for. Its answer tells all there is to know.
    const isOneText = writes.length === 1 && this.database.hasFixedIdStep;
    try {
      await this.database.transaction(function* () {
        answers = yield* isOneText ? lastTogether([...writes, count]) : inTurn([...writes, count]);
      });
    } catch (error) {
      if (isInDoubt(error)) return this.#answersOf(line.id, number, error, answers);
      // Closed, by a database that has gone back to an earlier state.
      if (line.number > 0 && (error as { errno?: number }).errno === NOT_NULL) return undefined;
      this.#free.push(line);
      throw error;
    }
    const isCounted = answers!.at(-1)!.changed === 1;
    if (isCounted) this.#free.push({ ...line, number, usedAtMs: this.clock.monotonic() });
    return answers;
  }

  /** Undefined where it has not committed. The line is closed: what is still on its way to the server comes to nothing. */
  async #answersOf(id: number, number: number, error: StoreUnavailableError, answers?: readonly Answer[]) {
    const { number: seen, firstId, idStep } = await this.#close(id, error);
    if (seen !== number) return undefined;
    return answers ?? [{ rows: [], changed: 0, insertId: firstId, idStep }];
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
        if (problem === error || this.clock.monotonic() > until) throw error;
      }
      await this.clock.sleep(pauseMs);
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
  const [row] = yield* query<{ step: number }>(STEP);
  return answers.map((answer) => ({ ...answer, idStep: Number(row!.step) }));
}

function isInDoubt(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
}
