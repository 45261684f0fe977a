import { pageSize } from '../../common/lists.js';
import { expected } from '../../job/expectation.js';
import { MAX_TIMESTAMP_MS, type ColumnProblem } from '../../job/read-columns.js';
import { markMalformedDead, type MalformedRow } from './malformed-jobs.js';
import { CLAIMED_COLUMNS } from '../rows/claimed-row.js';
import { idsOf, withSafeIds } from '../../job/identifiers.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { ARRIVING, BLOCKED, IN_GROUP, IN_QUEUE, IN_STAGE, RETURNED, SCHEDULED } from '../tables/runnable.js';
import { findStaged } from '../ends/stages.js';
import { statement, deleteFrom, Ids, query, executeAll, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';

const SCAN_BATCH_SIZE = 10_000;

const IN_A_GROUP = [IN_GROUP, ARRIVING, RETURNED].join(', ');

// A claim of a group that is idle reads none of its jobs.
const HAS_NO_TURN = `NOT EXISTS (
     SELECT 1 FROM {groups} g WHERE g.queue = j.queue AND g.group_key = j.group_key AND g.state <> 'idle')`;

// Combinations that only another program can have written. A claim commits with its jobs, and a stage with its jobs, so
// one statement sees both or neither.
const STUCK = `
  (j.state NOT IN ('waiting', 'scheduled', 'active', 'blocked')
   OR (j.state = 'blocked' AND (j.run_at IS NOT NULL OR j.claim_id <> 0 OR j.runnable <> ${BLOCKED}))
   OR (j.state = 'active' AND c.id IS NULL)
   OR (j.state = 'scheduled' AND (j.run_at IS NULL OR j.claim_id <> 0 OR j.runnable <> ${SCHEDULED}))
   OR j.run_at > ${MAX_TIMESTAMP_MS}
   OR (j.state = 'waiting' AND j.run_at IS NOT NULL AND j.runnable NOT IN (${SCHEDULED}, ${IN_QUEUE}))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = ${IN_QUEUE} AND j.group_key <> '')
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = ${IN_GROUP} AND j.group_key <> '' AND ${HAS_NO_TURN})
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable <> ${IN_QUEUE} AND NOT (j.runnable IN (${IN_A_GROUP}) AND j.group_key <> '')
       AND NOT (j.runnable = ${IN_STAGE} AND EXISTS (SELECT 1 FROM {stages} s WHERE s.job_id = j.id))))`;

const SCAN = `
  SELECT MAX(j.id) AS last, COUNT(*) AS scanned, MIN(CASE WHEN ${STUCK} THEN j.id END) AS stuck
  FROM (
    SELECT id, queue, state, run_at, runnable, claim_id, group_key
    FROM {jobs} {by primary}
    WHERE id > :after AND id <= ${Number.MAX_SAFE_INTEGER}
    ORDER BY id
    LIMIT :limit
  ) AS j
  LEFT JOIN {claims} c ON c.id = j.claim_id`;

const STUCK_BETWEEN = `
  SELECT j.id
  FROM {jobs} j {by primary}
  LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE j.id >= :first AND j.id <= :last AND ${STUCK}
  ORDER BY j.id
  LIMIT :limit`;

const LOCK = `
  SELECT ${CLAIMED_COLUMNS}, queue, state, run_at, runnable, claim_id
  FROM {jobs} {by primary}
  WHERE :ids
  ORDER BY id {lock free}`;

const CLAIMS = `
  SELECT id
  FROM {claims}
  WHERE id IN (:claimIds)`;

const REMOVE = deleteFrom('jobs', 'id = :id');

const LET_ARRIVE = `
  UPDATE {jobs} {by primary}
  SET runnable = ${ARRIVING}
  WHERE id = :id`;

type ScannedPart = Readonly<{ last: number | null; scanned: number; stuck: number | null }>;

type StuckRow = TableRow<'jobs'>;

/**
 * Finds jobs that no claim, promotion or rescue can find, because their state contradicts other columns. They become
 * dead, or arrive in their group. Each call scans one part of the table.
 */
export class StuckJobCleanup {
  #after = 0;

  constructor(private readonly database: Pick<SqlDatabase, 'runIdempotent' | 'transaction'>) {}

  async cleanUp(limit: number): Promise<number> {
    const scanLimit = pageSize(SCAN_BATCH_SIZE);
    const [row] = await this.database.runIdempotent(() =>
      query<ScannedPart>(SCAN, { after: this.#after, limit: scanLimit }),
    );
    const { last, scanned, stuck } = row!;
    const cleaned =
      stuck === null ? 0 : await this.database.transaction(() => cleanUpBetween(Number(stuck), Number(last), limit));
    if (cleaned < limit) this.#after = Number(scanned) < scanLimit ? 0 : Number(last);
    return cleaned;
  }
}

function* cleanUpBetween(first: number, last: number, limit: number): Work<number> {
  const found = withSafeIds(yield* query<{ id: number }>(STUCK_BETWEEN, { first, last, limit }));
  if (found.length === 0) return 0;
  const rows = yield* query<StuckRow>(LOCK, { ids: new Ids(idsOf(found)) });
  // Reads the claims after the jobs are locked. It finds claims that were written meanwhile, and no job can leave its
  // claim.
  const claimIds = [...new Set(rows.map((row) => Number(row.claim_id)))].filter(Number.isSafeInteger);
  const claims = claimIds.length === 0 ? [] : yield* query<{ id: number }>(CLAIMS, { claimIds });
  const claimed = new Set(claims.map(({ id }) => Number(id)));
  const inStages = new Set(yield* findStaged(rows.map(({ id }) => Number(id))));
  // Neither the claims of a queue without groups nor those of groups read them.
  const outside = rows.filter(isOutsideItsGroup);
  yield* executeAll(outside.map((row) => statement(LET_ARRIVE, { id: Number(row.id) })));
  const stuck = rows.flatMap((row): MalformedRow[] => {
    const isStaged = inStages.has(Number(row.id));
    const problem = problemOf(row, claimed.has(Number(row.claim_id)), isStaged);
    return problem ? [{ row, isStaged, ...problem }] : [];
  });
  if (stuck.length === 0) return outside.length;
  const deletions = stuck.map(({ row }) => statement(REMOVE, { id: Number(row.id) }));
  yield* markMalformedDead(stuck, deletions);
  return stuck.length + outside.length;
}

function isOutsideItsGroup({ state, run_at, runnable, group_key }: StuckRow): boolean {
  return state === 'waiting' && run_at === null && [IN_QUEUE, IN_GROUP].includes(runnable) && group_key !== '';
}

/** The column that hides the job from claims, promotions and rescues. */
function problemOf(row: StuckRow, hasClaim: boolean, hasStage: boolean): ColumnProblem | undefined {
  const { state, run_at, runnable, claim_id } = row;
  const invalid = (column: string, what: string, value: unknown) => ({
    column,
    problem: expected(false, what, value)!,
  });
  if (!['waiting', 'scheduled', 'active', 'blocked'].includes(state))
    return invalid('state', `'waiting', 'scheduled', 'active' or 'blocked'`, state);
  if (run_at !== null && !(Number(run_at) <= MAX_TIMESTAMP_MS))
    return invalid('run_at', 'NULL or milliseconds since 1970 that make a date', run_at);
  switch (state) {
    case 'active':
      return hasClaim ? undefined : invalid('claim_id', 'the id of a claim', claim_id);
    case 'blocked':
      if (run_at !== null) return invalid('run_at', 'NULL, since the job is blocked', run_at);
      if (Number(claim_id) !== 0) return invalid('claim_id', '0, since the job is blocked', claim_id);
      return runnable === BLOCKED ? undefined : invalid('runnable', `${BLOCKED}, since the job is blocked`, runnable);
    case 'scheduled':
      if (run_at === null) return invalid('run_at', 'a time, since the job is scheduled', run_at);
      if (Number(claim_id) !== 0) return invalid('claim_id', '0, since the job is scheduled', claim_id);
      return runnable === SCHEDULED
        ? undefined
        : invalid('runnable', `${SCHEDULED}, since the job is scheduled`, runnable);
    default:
      if (runnable === IN_QUEUE || (run_at === null ? runnable === IN_STAGE && hasStage : runnable === SCHEDULED))
        return undefined;
      if (run_at === null && row.group_key !== '' && [IN_GROUP, ARRIVING, RETURNED].includes(runnable))
        return undefined;
      return invalid('runnable', `${hasStage ? IN_STAGE : IN_QUEUE}`, runnable);
  }
}
