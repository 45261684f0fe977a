import { createHash } from 'node:crypto';
import { hasCode } from '../../../job/errors.js';
import type { Clock } from '../../../common/clock.js';
import { workerName, workerIdOf } from '../../notifications/notification-channel.js';
import type { PendingNotifications } from '../../notifications/notification-sender.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { execute, query, type Work } from '../../core/statement.js';

// The process list truncates a statement after 1,024 bytes.
const MAX_MARK_LENGTH = 1_000;

const ALL_QUEUES = '*';

// The connection or statement is gone, or it belongs to another account.
const UNREACHABLE_ERRORS: readonly unknown[] = [1094, 1095, 1957, 1979];

// MySQL has two process lists. This one costs half and takes no global lock, but it can be disabled, so it is used only
// if it lists this connection. MariaDB, which alone executes `M!` comments, has the other list, with the ids of
// statements.
const FIND_SELF = `
  SELECT id
  FROM performance_schema.processlist
  WHERE id = CONNECTION_ID() /*M! AND 1 = 0 */`;

const selectListenersIn = (list: string) => `
  SELECT id, /*M! query_id, */ SUBSTRING_INDEX(info, '*/', 1) AS mark
  FROM ${list}.processlist
  WHERE db = DATABASE() AND LEFT(info, CHAR_LENGTH(:opening)) = :opening`;

// Longer than most commits. A listener that was interrupted in between is interrupted again, without effect.
const READ_AHEAD_VALID_MS = 50;

const KILL_QUERY = `KILL QUERY :id`;
// MariaDB can interrupt one statement by its id, so a later statement of the connection is safe.
const KILL_QUERY_BY_ID = `KILL QUERY ID :queryId`;

interface ListeningProcess {
  readonly id: number;
  readonly queryId: number | undefined;
  readonly marks: readonly string[];
}

/** The listening connections in the server's process list: those of this account, database and table prefix. */
export class MysqlProcessList {
  readonly #comment: string;
  #list: Promise<string> | undefined;
  #readAheadResult: { readonly listeners: Promise<readonly ListeningProcess[]>; readonly until: number } | undefined;
  #isReadingAhead = false;

  constructor(
    private readonly database: SqlDatabase,
    table: string,
    private readonly clock: Clock,
  ) {
    this.#comment = `/* ${table} listen`;
  }

  /**
   * The comment before the statement of a listening connection. It includes the connection's id: if the process list
   * shows another id, a proxy shares connections, and an interrupt could hit a statement of another client.
   */
  markFor(id: number, queues: readonly string[]): string {
    const mark = `${this.#comment} ${id} ${queues.map(digest).join(' ')} */`;
    if (mark.length <= MAX_MARK_LENGTH) return mark;
    const workers = queues.filter((name) => workerIdOf(name) !== undefined);
    return `${this.#comment} ${id} ${[ALL_QUEUES, ...workers.map(digest)].join(' ')} */`;
  }

  async isListening(id: number): Promise<boolean> {
    return (await this.#readListeners()).some((listener) => listener.id === id);
  }

  /** Returns false if the connection does not listen. */
  async interrupt(id: number): Promise<boolean> {
    const listener = (await this.#readListeners()).find((each) => each.id === id);
    return listener !== undefined && this.database.runIdempotent(() => interrupt(listener));
  }

  /** Reads the process list for a notification that follows within 50 ms. */
  readAhead(): void {
    // One read at a time: if the database does not answer, more reads would occupy all connections of the pool.
    if (this.#isReadingAhead || this.#hasReadAhead) return;
    this.#isReadingAhead = true;
    // After the statements of this turn of the event loop, so that those get the open connections first.
    setImmediate(() => {
      const until = this.clock.monotonic() + READ_AHEAD_VALID_MS;
      const listeners = this.#readListeners().catch(() => []);
      this.#readAheadResult = { listeners, until };
      void listeners.then(() => (this.#isReadingAhead = false));
    });
  }

  /** Wakes as many random listeners as there are jobs, except the connection `own`. Returns their number. */
  async notify({ all, queues }: PendingNotifications, own: number | undefined): Promise<number> {
    const ahead = this.#hasReadAhead ? this.#readAheadResult : undefined;
    this.#readAheadResult = undefined;
    const remaining = new Map([...queues].map(([queue, jobs]) => [digest(queue), jobs]));
    const skippedIds = new Set([own]);
    if (ahead && !all) await this.#interruptListeners(await ahead.listeners, remaining, skippedIds, false);
    // A worker that started to listen after that read may be the one with a free slot.
    if (all || [...remaining.values()].some((jobs) => jobs > 0))
      await this.#interruptListeners(await this.#readListeners(), remaining, skippedIds, all);
    return skippedIds.size - 1;
  }

  get #hasReadAhead(): boolean {
    return this.#readAheadResult !== undefined && this.clock.monotonic() < this.#readAheadResult.until;
  }

  /**
   * @param remaining by the digest of a queue: the number of jobs for which no listener was woken yet
   * @param skippedIds the connections not to wake: this process's own, and those that were woken
   */
  async #interruptListeners(
    listeners: readonly ListeningProcess[],
    remaining: Map<string, number>,
    skippedIds: Set<number | undefined>,
    all: boolean,
  ): Promise<void> {
    for (const listener of shuffled(listeners)) {
      const queues = [...remaining.keys()].filter((mark) => remaining.get(mark)! > 0 && listensTo(listener, mark));
      if (skippedIds.has(listener.id) || (!all && queues.length === 0)) continue;
      if (!(await this.database.runIdempotent(() => interrupt(listener)))) continue;
      skippedIds.add(listener.id);
      queues.forEach((mark) => remaining.set(mark, remaining.get(mark)! - 1));
    }
  }

  async #readListeners(): Promise<ListeningProcess[]> {
    const list = await (this.#list ??= this.#findList());
    const opening = `SELECT ${this.#comment} `;
    const rows = await this.database.runIdempotent(() =>
      query<{ id: number; query_id?: number; mark: string }>(selectListenersIn(list), { opening }),
    );
    return rows.flatMap(({ id, query_id, mark }) => {
      const [ownId, ...marks] = mark.slice(opening.length).trim().split(' ');
      return Number(ownId) === Number(id) ? [{ id: Number(id), queryId: query_id, marks }] : [];
    });
  }

  async #findList(): Promise<string> {
    try {
      const [self] = await this.database.runIdempotent(() => query(FIND_SELF));
      return self ? 'performance_schema' : 'information_schema';
    } catch (error) {
      if (!hasCode(error, 'STORE_UNAVAILABLE')) return 'information_schema';
      this.#list = undefined;
      throw error;
    }
  }
}

function* interrupt({ id, queryId }: ListeningProcess): Work<boolean> {
  try {
    yield* queryId === undefined ? execute(KILL_QUERY, { id }) : execute(KILL_QUERY_BY_ID, { queryId });
    return true;
  } catch (error) {
    if (UNREACHABLE_ERRORS.includes((error as { errno?: number }).errno)) return false;
    throw error;
  }
}

function listensTo({ marks }: ListeningProcess, mark: string): boolean {
  return marks.includes(mark) || (marks.includes(ALL_QUEUES) && workerIdOf(mark) === undefined);
}

// In an idle process, a digest takes half of the time that the process computes for a notification.
const MAX_DIGESTS = 1_000;
const digests = new Map<string, string>();

/** A short digest, because a process may have many queues. A collision only costs an empty wake-up. */
function digest(name: string): string {
  const known = digests.get(name);
  if (known !== undefined) return known;
  const short = createHash('sha1').update(name).digest('base64url').slice(0, 6);
  const mark = workerIdOf(name) === undefined ? short : workerName(short);
  if (digests.size >= MAX_DIGESTS) digests.clear();
  digests.set(name, mark);
  return mark;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, weight: Math.random() }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ item }) => item);
}
