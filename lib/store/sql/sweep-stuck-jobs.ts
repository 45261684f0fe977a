import { expected } from '../../job/expectation.js';
import { bury, type Buried } from './bury.js';
import { CLAIMED_COLUMNS, nameable, type ClaimedRow } from './claimed-row.js';
import type { SqlDatabase } from './sql-database.js';
import { staged } from './stages.js';
import { Ids, query, together, type Work } from './statement.js';

// So many rows are looked at in a round; with more jobs than that, the next one goes on behind them.
const WINDOW = 10_000;
// The last millisecond of a Date.
const LAST_TIME = 8.64e15;

// Combinations that only another program can have written. A claim and its jobs, and a stage and its, commit together, so
// that one statement sees both or neither.
const STUCK = `
  (j.state NOT IN ('waiting', 'scheduled', 'active')
   OR (j.state = 'active' AND c.id IS NULL)
   OR (j.state = 'scheduled' AND (j.run_at IS NULL OR j.claim_id <> 0 OR j.runnable <> 0))
   OR j.run_at > ${LAST_TIME}
   OR (j.state = 'waiting' AND j.run_at IS NOT NULL AND j.runnable NOT IN (0, 1))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable <> 1
       AND NOT (j.runnable = 2 AND EXISTS (SELECT 1 FROM {stages} s WHERE s.job_id = j.id))))`;

const LOOK = `
  SELECT MAX(j.id) AS last, COUNT(*) AS seen, MIN(CASE WHEN ${STUCK} THEN j.id END) AS stuck
  FROM (
    SELECT id, state, run_at, runnable, claim_id
    FROM {jobs} /*! FORCE INDEX (PRIMARY) */
    WHERE id > :after AND id <= ${Number.MAX_SAFE_INTEGER}
    ORDER BY id
    LIMIT ${WINDOW}
  ) AS j
  LEFT JOIN {claims} c ON c.id = j.claim_id`;

const STUCK_BETWEEN = `
  SELECT j.id
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */
  LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE j.id >= :first AND j.id <= :last AND ${STUCK}
  ORDER BY j.id
  LIMIT :limit`;

const LOCK = `
  SELECT ${CLAIMED_COLUMNS}, queue, state, run_at, runnable, claim_id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const CLAIMS = `
  SELECT id
  FROM {claims}
  WHERE id IN (:claimIds)`;

// One by one: of a list that is as long as the table is, MariaDB reads the table, and locks it whole, whatever it is told.
const REMOVE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id`;

interface Seen {
  readonly last: number | null;
  readonly seen: number;
  readonly stuck: number | null;
}

interface StuckRow extends ClaimedRow {
  queue: string;
  state: string;
  run_at: number | null;
  runnable: number;
  claim_id: number;
}

/**
 * Finds jobs that no claim, promotion or rescue would ever find, a part of the table at a time: their state says something
 * else than the columns that follow from it. They become dead.
 */
export class StuckJobSweep {
  #after = 0;

  constructor(private readonly database: Pick<SqlDatabase, 'repeatable' | 'transaction'>) {}

  /** At most `limit`; answers how many. */
  async sweep(limit: number): Promise<number> {
    const [row] = await this.database.repeatable(() => query<Seen>(LOOK, { after: this.#after }));
    const { last, seen, stuck } = row!;
    const first = Number(stuck);
    const swept = stuck === null ? 0 : await this.database.transaction(() => sweepBetween(first, Number(last), limit));
    if (swept < limit) this.#after = Number(seen) < WINDOW ? 0 : Number(last);
    return swept;
  }
}

function* sweepBetween(first: number, last: number, limit: number): Work<number> {
  const found = nameable(yield* query<{ id: number }>(STUCK_BETWEEN, { first, last, limit }));
  if (found.length === 0) return 0;
  const rows = yield* query<StuckRow>(LOCK, { ids: idsOf(found) });
  // Asked once the jobs are locked: a claim that was written meanwhile is seen now, and none of these can leave its claim.
  const claims = yield* claimsOf(rows);
  const inStages = new Set(yield* staged(rows.map(({ id }) => Number(id))));
  const stuck = rows.flatMap((row): Buried[] => {
    const problem = problemOf(row, claims.has(Number(row.claim_id)), inStages.has(Number(row.id)));
    return problem ? [{ row, ...problem }] : [];
  });
  if (stuck.length === 0) return 0;
  yield* together(stuck.map(({ row }) => ({ sql: REMOVE, values: { id: Number(row.id) } })));
  yield* bury(stuck);
  return stuck.length;
}

function* claimsOf(rows: readonly StuckRow[]): Work<ReadonlySet<number>> {
  const claimIds = [...new Set(rows.map((row) => Number(row.claim_id)))].filter(Number.isSafeInteger);
  if (claimIds.length === 0) return new Set();
  return new Set((yield* query<{ id: number }>(CLAIMS, { claimIds })).map(({ id }) => Number(id)));
}

/** The column that keeps the job from being found. */
function problemOf(row: StuckRow, hasClaim: boolean, hasStage: boolean): Omit<Buried, 'row'> | undefined {
  const { state, run_at, runnable, claim_id } = row;
  const refused = (column: string, what: string, value: unknown) => ({
    column,
    problem: expected(false, what, value)!,
  });
  if (!['waiting', 'scheduled', 'active'].includes(state))
    return refused('state', `'waiting', 'scheduled' or 'active'`, state);
  if (run_at !== null && !(Number(run_at) <= LAST_TIME))
    return refused('run_at', 'NULL or milliseconds since 1970 that make a date', run_at);
  switch (state) {
    case 'active':
      return hasClaim ? undefined : refused('claim_id', 'the id of a claim', claim_id);
    case 'scheduled':
      if (run_at === null) return refused('run_at', 'a time, since the job is scheduled', run_at);
      if (Number(claim_id) !== 0) return refused('claim_id', '0, since the job is scheduled', claim_id);
      return runnable === 0 ? undefined : refused('runnable', '0, since the job is scheduled', runnable);
    default:
      return isFound(runnable, run_at !== null, hasStage)
        ? undefined
        : refused('runnable', hasStage ? '2' : '1', runnable);
  }
}

/** Whether a claim, a promotion or a stage leads to a job that waits. */
function isFound(runnable: number, hasTime: boolean, hasStage: boolean): boolean {
  if (hasTime) return runnable === 0 || runnable === 1;
  return runnable === 1 || (runnable === 2 && hasStage);
}

function idsOf(rows: readonly { readonly id: unknown }[]): Ids {
  return new Ids(rows.map(({ id }) => Number(id)));
}
