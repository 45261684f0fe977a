import { hasCode, type StoreUnavailableError } from '../../../job/errors.js';
import type { Clock } from '../../../common/clock.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import {
  executeAll,
  executeFinal,
  relay,
  statement,
  deleteFrom,
  execute,
  query,
  type FinalWrites,
  type Statement,
  type StatementResult,
  type Work,
  readIdStep,
} from '../../core/statement.js';
import { storeUnavailableError } from '../../core/with-retry.js';
import { randomId } from '../../../job/identifiers.js';

// Long enough for a server to restart, or to end the transaction of a connection that broke without its notice.
const RESOLVE_TIMEOUT_MS = 60_000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

// ER_BAD_NULL_ERROR: `countCommit` on a closed lane.
const NOT_NULL = 1048;

interface CommitLogDatabase extends Pick<SqlDatabase, 'transaction' | 'runIdempotent'> {
  /** Whether the answer to an INSERT includes the step between its ids. Only valid within a transaction. */
  readonly hasFixedIdStep: boolean;
}

interface LoggedTransaction<T> {
  /** Ends with the statement `count` and returns its answer; undefined if it wrote nothing. */
  work(count: Statement): Work<StatementResult | undefined>;
  /** The value after the commit. `logged`: the state of the lane, if the answer to the commit was lost. */
  value(logged?: LaneState): T;
}

/**
 * Commits transactions exactly once, even if the answer to COMMIT is lost. Each transaction writes the next number into
 * the row of its lane. The row then shows whether the commit happened, even if the enqueued jobs are already completed
 * and deleted.
 */
export class CommitLog {
  readonly #lanes: CommitLanes;

  constructor(
    private readonly database: CommitLogDatabase,
    private readonly clock: Clock,
    private readonly closed: AbortSignal,
  ) {
    this.#lanes = new CommitLanes(database, clock);
  }

  /** Returns the results, each with the step between its ids. */
  commit(writes: readonly Statement[]): Promise<readonly StatementResult[]> {
    const { database } = this;
    let results: readonly StatementResult[] | undefined;
    return this.#commitOnce({
      *work(count) {
        // One text with COMMIT, if the answer to the INSERT includes everything that the caller needs. Decided only here,
        // because the kind of the server is unknown before the first connection.
        const isOneText = writes.length === 1 && database.hasFixedIdStep;
        results = undefined;
        results = yield* isOneText ? executeFinal([...writes, count]) : oneByOne([...writes, count]);
        return results.at(-1)!;
      },
      value: (logged) => results ?? [{ rows: [], affectedRows: 0, insertId: logged!.firstId, idStep: logged!.idStep }],
    });
  }

  decide<T>(work: () => Work<FinalWrites<T>>): Promise<T> {
    let decided: FinalWrites<T>;
    return this.#commitOnce({
      *work(count) {
        decided = yield* work();
        if (!decided.hasWritten) return undefined;
        return (yield* executeFinal([...decided.writes, count])).at(-1)!;
      },
      value: () => decided.value,
    });
  }

  /** @param hasWritten whether the work has written, by its value; if not, there is nothing to count */
  transact<T>(work: () => Work<T>, hasWritten: (value: T) => boolean): Promise<T> {
    return this.decide(function* () {
      // The count follows, so no step of the work is the last one of the transaction.
      const value = yield* relay(work(), ({ statements }) => executeAll(statements));
      return { value, hasWritten: hasWritten(value), writes: [] };
    });
  }

  close(): Promise<void> {
    return this.#lanes.close();
  }

  async #commitOnce<T>(transaction: LoggedTransaction<T>): Promise<T> {
    for (;;) {
      const done = await this.#lanes.use((lane) => this.#tryOnLane(lane, transaction));
      if (done) return done.value;
    }
  }

  /** Returns undefined if the transaction did not commit, so that another lane can repeat it. */
  async #tryOnLane<T>(lane: CommitLane, { work, value }: LoggedTransaction<T>): Promise<{ value: T } | undefined> {
    const number = lane.number + 1;
    let counted: StatementResult | undefined;
    try {
      counted = await this.database.transaction(() => work(countCommit(lane.id, number)));
    } catch (error) {
      if (isInDoubt(error)) {
        // After the lane is closed, a transaction that is still on its way to the server fails.
        const logged = await this.#readOutcome(lane.id, error);
        return logged.number === number ? { value: value(logged) } : undefined;
      }
      // The lane does not match: the database was restored to an earlier state.
      if (lane.number > 0 && (error as { errno?: number }).errno === NOT_NULL) return undefined;
      this.#lanes.putBack(lane);
      throw error;
    }
    if (!counted) this.#lanes.putBack(lane);
    else if (counted.affectedRows === 1) this.#lanes.putBack({ ...lane, number, usedAtMs: this.clock.monotonic() });
    return { value: value() };
  }

  /** Closes the lane of a transaction whose answer was lost. Its last state shows whether the transaction committed. */
  async #readOutcome(id: number, error: StoreUnavailableError): Promise<LaneState> {
    let logged: LaneState | undefined;
    const until = this.clock.monotonic() + RESOLVE_TIMEOUT_MS;
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        await this.database.transaction(function* () {
          const state = yield* closeLane(id);
          // If an earlier try has closed the lane, the state that it read stays valid: only this process closes it.
          if (state && state.number >= 0) logged = state;
        });
        if (logged) return logged;
        throw error;
      } catch (problem) {
        if (!hasCode(problem, 'STORE_UNAVAILABLE')) throw storeUnavailableError(problem, 'unknown');
        if (problem === error || this.closed.aborted || this.clock.monotonic() > until) throw error;
      }
      await this.clock.sleep(pauseMs, this.closed);
    }
  }
}

/** Sends each statement alone, because together they could exceed max_allowed_packet. */
function* oneByOne(writes: readonly Statement[]): Work<readonly StatementResult[]> {
  const results: StatementResult[] = [];
  for (const write of writes) results.push(...(yield* executeAll([write])));
  if (results[0]!.idStep !== undefined) return results;
  const idStep = yield* readIdStep();
  return results.map((result) => ({ ...result, idStep }));
}

function isInDoubt(error: unknown): error is StoreUnavailableError {
  return hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
}

// The size of the pool.
const MAX_LANES = 5;

// The row of a lane is deleted after a day without use. A process stops using a lane long before that.
const LANE_LIFETIME_MS = 3_600_000;

// After a lost answer the row may exist already. A delayed first INSERT may even arrive after the lane has counted
// transactions or was closed, and must then change nothing.
const OPEN_LANE = `
  INSERT INTO {commit_log} (id, number, first_id, id_step, seen_at)
  VALUES (:id, 0, 0, 1, :now)
  ON DUPLICATE KEY UPDATE id = id`;

// Fails if the lane is closed, because a number must not be NULL, and so rolls back a transaction that arrives late.
// Stores the answer to the INSERT, in case the client does not receive it.
const COUNT_COMMIT = `
  UPDATE {commit_log} FORCE INDEX (PRIMARY)
  SET number = IF(number = :number - 1, :number, NULL),
      first_id = LAST_INSERT_ID(), id_step = @@auto_increment_increment, seen_at = :now
  WHERE id = :id`;

const LOCK_LANE = `
  SELECT number, first_id AS firstId, id_step AS idStep
  FROM {commit_log} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE`;

const CLOSE_LANE = `
  UPDATE {commit_log} FORCE INDEX (PRIMARY)
  SET number = -1, seen_at = :now
  WHERE id = :id`;

const DELETE_LANES = deleteFrom('commit_log', 'id IN (:ids)');

/** A row that counts transactions, one after another. `number` is that of its last committed transaction. */
type CommitLane = Readonly<{ id: number; number: number; usedAtMs: number }>;

/** The state of a lane in the database. */
type LaneState = Readonly<{ number: number; firstId: number; idStep: number }>;

/** The lanes of this process: at most five, each used by one transaction at a time. */
class CommitLanes {
  readonly #idle: CommitLane[] = [];
  readonly #waiting: (() => void)[] = [];
  #inUse = 0;

  constructor(
    private readonly database: Pick<SqlDatabase, 'runIdempotent'>,
    private readonly clock: Clock,
  ) {}

  /** Runs `act` with a lane that no other call uses. `act` calls `putBack` unless the lane must not be used again. */
  async use<T>(act: (lane: CommitLane) => Promise<T>): Promise<T> {
    while (this.#inUse >= MAX_LANES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inUse++;
    try {
      return await act(this.#popIdle() ?? (await this.#open()));
    } finally {
      this.#inUse--;
      this.#waiting.shift()?.();
    }
  }

  putBack(lane: CommitLane): void {
    this.#idle.push(lane);
  }

  async close(): Promise<void> {
    const ids = this.#idle.splice(0).map(({ id }) => id);
    // Rows that remain are deleted after a day.
    if (ids.length > 0) await this.database.runIdempotent(() => execute(DELETE_LANES, { ids })).catch(() => undefined);
  }

  #popIdle(): CommitLane | undefined {
    const lane = this.#idle.pop();
    return lane && this.clock.monotonic() - lane.usedAtMs < LANE_LIFETIME_MS ? lane : undefined;
  }

  async #open(): Promise<CommitLane> {
    const lane = { id: randomId(), number: 0, usedAtMs: this.clock.monotonic() };
    await this.database.runIdempotent(() => execute(OPEN_LANE, { id: lane.id }));
    return lane;
  }
}

/** Must be the last statement of the transaction. */
function countCommit(id: number, number: number): Statement {
  return statement(COUNT_COMMIT, { id, number });
}

/** Returns the last state of the lane; undefined if its row is gone. */
export function* closeLane(id: number): Work<LaneState | undefined> {
  const [row] = yield* query<LaneState>(LOCK_LANE, { id });
  // On Galera another node may be about to commit. This write makes its transaction fail certification.
  yield* execute(CLOSE_LANE, { id });
  return row && { number: Number(row.number), firstId: Number(row.firstId), idStep: Number(row.idStep) };
}
