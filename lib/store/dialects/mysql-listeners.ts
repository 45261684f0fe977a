import { createHash } from 'node:crypto';
import { hasCode } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import { workerName, workerOf } from '../doorbell.js';
import type { Rings } from '../ringer.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { change, query, type Work } from '../sql/statement.js';

// The server's list shows no more of a statement than 1,024 bytes.
const LONGEST_MARK = 1_000;

const ALL_QUEUES = '*';

// What is gone by now, or belongs to another account, cannot be woken.
const OUT_OF_REACH: readonly unknown[] = [1094, 1095, 1957, 1979];

// MySQL has two such lists, of which this one costs half and stops nobody, but can be switched off. Only where we find
// ourselves is it of use. MariaDB, which alone reads comments like these, has the other one with the ids of statements.
const FIND_SELF = `
  SELECT id
  FROM performance_schema.processlist
  WHERE id = CONNECTION_ID() /*M! AND 1 = 0 */`;

const listeningIn = (list: string) => `
  SELECT id, /*M! query_id, */ SUBSTRING_INDEX(info, '*/', 1) AS mark
  FROM ${list}.processlist
  WHERE db = DATABASE() AND LEFT(info, CHAR_LENGTH(:opening)) = :opening`;

// Longer than most commits take. Whoever has been rung meanwhile listens no more, and is rung again in vain.
const GOOD_FOR_MS = 50;

const WAKE = `KILL QUERY :id`;
// MariaDB can name the very statement.
const WAKE_FROM = `KILL QUERY ID :queryId`;

interface ListenerRow {
  id: number;
  query_id?: number;
  mark: string;
}

interface Listener {
  readonly id: number;
  readonly queryId: number | undefined;
  readonly marks: readonly string[];
}

interface Round {
  /** Of the mark of a queue: for how many of its jobs nobody has been woken. */
  readonly left: Map<string, number>;
  /** The connections not to wake: our own, and those that have been woken. */
  readonly done: Set<number | undefined>;
  readonly all?: boolean;
}

/** Who listens on this server now, as its list of processes shows: of this account, and to these tables. */
export class MysqlListeners {
  readonly #comment: string;
  #list: Promise<string> | undefined;
  #ahead: { readonly listeners: Promise<readonly Listener[]>; readonly until: number } | undefined;
  #isLookingAhead = false;

  constructor(
    private readonly database: SqlDatabase,
    table: string,
    private readonly clock: Clock,
  ) {
    this.#comment = `/* ${table} doorbell`;
  }

  /**
   * What stands in front of the statement of a connection that listens. It names the connection: where that is not the one
   * the list shows it for, somebody in between hands connections round, and a ring would hit whoever has it by then.
   */
  mark(id: number, queues: readonly string[]): string {
    const mark = `${this.#comment} ${id} ${queues.map(digest).join(' ')} */`;
    if (mark.length <= LONGEST_MARK) return mark;
    const workers = queues.filter((name) => workerOf(name) !== undefined);
    return `${this.#comment} ${id} ${[ALL_QUEUES, ...workers.map(digest)].join(' ')} */`;
  }

  /** Whether the connection listens. */
  async shows(id: number): Promise<boolean> {
    return (await this.#all()).some((listener) => listener.id === id);
  }

  /** Wakes that one connection; false where it does not listen. */
  async wake(id: number): Promise<boolean> {
    const listener = (await this.#all()).find((each) => each.id === id);
    return listener !== undefined && this.database.repeatable(() => wake(listener));
  }

  /** Looks for the ring that is about to come. */
  lookAhead(): void {
    // One look at a time: where the database does not answer they would stand in front of all others who need a connection.
    if (this.#isLookingAhead || this.#isAhead) return;
    this.#isLookingAhead = true;
    // After the statements of this turn, so that they have the connections that are open.
    setImmediate(() => {
      const until = this.clock.monotonic() + GOOD_FOR_MS;
      const listeners = this.#all().catch(() => []);
      this.#ahead = { listeners, until };
      void listeners.then(() => (this.#isLookingAhead = false));
    });
  }

  /** Wakes so many as there are jobs for, drawn by lot, and not the connection `own`. Answers how many. */
  async ring({ all, queues }: Rings, own: number | undefined): Promise<number> {
    const ahead = this.#isAhead ? this.#ahead : undefined;
    this.#ahead = undefined;
    const left = new Map([...queues].map(([queue, jobs]) => [digest(queue), jobs]));
    const done = new Set([own]);
    if (ahead && !all) await this.#wake(await ahead.listeners, { left, done });
    // Whoever has begun to listen since that look may be the one who has room.
    if (all || [...left.values()].some((jobs) => jobs > 0)) await this.#wake(await this.#all(), { left, done, all });
    return done.size - 1;
  }

  get #isAhead(): boolean {
    return this.#ahead !== undefined && this.clock.monotonic() < this.#ahead.until;
  }

  async #wake(listeners: readonly Listener[], { left, done, all = false }: Round): Promise<void> {
    for (const listener of shuffled(listeners)) {
      const wanted = [...left.keys()].filter((mark) => left.get(mark)! > 0 && hears(listener, mark));
      if (done.has(listener.id) || (!all && wanted.length === 0)) continue;
      if (!(await this.database.repeatable(() => wake(listener)))) continue;
      done.add(listener.id);
      wanted.forEach((mark) => left.set(mark, left.get(mark)! - 1));
    }
  }

  async #all(): Promise<Listener[]> {
    const list = await (this.#list ??= this.#findList());
    const opening = `SELECT ${this.#comment} `;
    const rows = await this.database.repeatable(() => query<ListenerRow>(listeningIn(list), { opening }));
    return rows.flatMap(({ id, query_id, mark }) => {
      const [named, ...marks] = mark.slice(opening.length).trim().split(' ');
      return Number(named) === Number(id) ? [{ id: Number(id), queryId: query_id, marks }] : [];
    });
  }

  async #findList(): Promise<string> {
    try {
      const [self] = await this.database.repeatable(() => query(FIND_SELF));
      return self ? 'performance_schema' : 'information_schema';
    } catch (error) {
      if (!hasCode(error, 'STORE_UNAVAILABLE')) return 'information_schema';
      this.#list = undefined;
      throw error;
    }
  }
}

function* wake({ id, queryId }: Listener): Work<boolean> {
  try {
    yield* queryId === undefined ? change(WAKE, { id }) : change(WAKE_FROM, { queryId });
    return true;
  } catch (error) {
    if (OUT_OF_REACH.includes((error as { errno?: number }).errno)) return false;
    throw error;
  }
}

function hears({ marks }: Listener, mark: string): boolean {
  return marks.includes(mark) || (marks.includes(ALL_QUEUES) && workerOf(mark) === undefined);
}

/** Short, since a process may have many queues. Where two have the same, one is woken in vain. */
function digest(name: string): string {
  const short = createHash('sha1').update(name).digest('base64url').slice(0, 6);
  return workerOf(name) === undefined ? short : workerName(short);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
