import { hasCode, type StoreUnavailableError } from '../../../job/errors.js';
import type { Clock } from '../../../common/clock.js';
import { readIdStep } from '../../core/inserted-ids.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import {
  executeAll,
  executeFinal,
  relay,
  type FinalWrites,
  type Statement,
  type StatementResult,
  type Work,
} from '../../core/statement.js';
import { storeUnavailableError } from '../../core/with-retry.js';
import { closeLane, CommitLanes, countCommit, type CommitLane, type LaneState } from './commit-lanes.js';

// Long enough for a server to restart, or to end the transaction of a connection that broke without its notice.
const RESOLVE_TIMEOUT_MS = 60_000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

// ER_BAD_NULL_ERROR: `countCommit` on a closed lane.
const NOT_NULL = 1048;

export interface CommitLogDatabase extends Pick<SqlDatabase, 'transaction' | 'runIdempotent'> {
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
