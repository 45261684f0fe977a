import { randomId } from '../../../job/random-id.js';
import type { Clock } from '../../../common/clock.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { statement, deleteFrom, execute, query, type Statement, type Work } from '../../core/statement.js';

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
export type CommitLane = Readonly<{ id: number; number: number; usedAtMs: number }>;

/** The state of a lane in the database. */
export type LaneState = Readonly<{ number: number; firstId: number; idStep: number }>;

/** The lanes of this process: at most five, each used by one transaction at a time. */
export class CommitLanes {
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
export function countCommit(id: number, number: number): Statement {
  return statement(COUNT_COMMIT, { id, number });
}

/** Returns the last state of the lane; undefined if its row is gone. */
export function* closeLane(id: number): Work<LaneState | undefined> {
  const [row] = yield* query<LaneState>(LOCK_LANE, { id });
  // On Galera another node may be about to commit. This write makes its transaction fail certification.
  yield* execute(CLOSE_LANE, { id });
  return row && { number: Number(row.number), firstId: Number(row.firstId), idStep: Number(row.idStep) };
}
