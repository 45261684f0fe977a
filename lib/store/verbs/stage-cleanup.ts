import { pageSize } from '../../common/lists.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { deleteStaged } from '../ends/stages.js';
import { idsOf, withSafeIds } from '../../job/identifiers.js';
import { query, executeAll, type Work } from '../core/statement.js';

// The number of rows that one round examines. The next round continues after them.
const SCAN_BATCH_SIZE = 10_000;

const SCAN = `
  SELECT MAX(batch.id) AS last, COUNT(*) AS examined, MIN(CASE WHEN j.id IS NULL THEN batch.id END) AS orphan
  FROM (
    SELECT job_id AS id
    FROM {stages}
    WHERE job_id > :after
    ORDER BY job_id
    LIMIT :limit
  ) AS batch
  LEFT JOIN {jobs} j ON j.id = batch.id`;

const ORPHANS = `
  SELECT s.job_id AS id
  FROM {stages} s
  LEFT JOIN {jobs} j ON j.id = s.job_id
  WHERE s.job_id >= :first AND s.job_id <= :last AND j.id IS NULL
  ORDER BY s.job_id
  LIMIT :limit`;

const LOCK_ORPHAN = `
  SELECT job_id AS id
  FROM {stages} {by primary}
  WHERE job_id = :id {lock free}`;

const LIVE_JOBS = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

interface ScanResult {
  readonly last: number | null;
  readonly examined: number;
  readonly orphan: number | null;
}

/** Deletes the stages of jobs that other programs have deleted. Scans the table in parts. */
export class StageCleanup {
  #after = 0;

  constructor(private readonly database: Pick<SqlDatabase, 'runIdempotent' | 'transaction'>) {}

  /** Deletes at most `limit` rows and returns their number. */
  async cleanUp(limit: number): Promise<number> {
    const scanLimit = pageSize(SCAN_BATCH_SIZE);
    const { last, examined, orphan } = await this.#scan(scanLimit);
    const part =
      orphan === null
        ? NOTHING_CLEANED
        : await this.database.transaction(() => cleanUpStages(Number(orphan), Number(last), limit));
    if (part.upTo !== undefined) this.#after = part.upTo;
    else this.#after = Number(examined) < scanLimit ? 0 : Number(last);
    return part.deleted;
  }

  /** Reads without locks, because most rounds find nothing to delete. Starts anew after the last row. */
  async #scan(limit: number): Promise<ScanResult> {
    const [row] = await this.database.runIdempotent(() => query<ScanResult>(SCAN, { after: this.#after, limit }));
    if (Number(row!.examined) > 0 || this.#after === 0) return row!;
    this.#after = 0;
    return this.#scan(limit);
  }
}

interface CleanedPart {
  readonly deleted: number;
  /** The last examined row, if there may be more after it. Locked rows before it are skipped until the next pass. */
  readonly upTo?: number;
}

const NOTHING_CLEANED: CleanedPart = { deleted: 0 };

function* cleanUpStages(first: number, last: number, limit: number): Work<CleanedPart> {
  const orphans = yield* query<{ id: number }>(ORPHANS, { first, last, limit });
  const upTo = orphans.length < limit ? undefined : Number(orphans.at(-1)!.id);
  return { deleted: yield* deleteOrphans(orphans), ...(upTo !== undefined && { upTo }) };
}

function* deleteOrphans(orphans: readonly { id: number }[]): Work<number> {
  if (orphans.length === 0) return 0;
  // No job enters a stage while its row there is locked, so the next read finds all jobs of these rows.
  const results = yield* executeAll(orphans.map(({ id }) => ({ sql: LOCK_ORPHAN, values: { id: Number(id) } })));
  // A row whose id no number can hold stays, and must not block the others.
  const locked = idsOf(withSafeIds(results.flatMap(({ rows }) => rows as unknown as { id: number }[])));
  if (locked.length === 0) return 0;
  const live = new Set(idsOf(yield* query<{ id: number }>(LIVE_JOBS, { ids: locked })));
  const deleted = locked.filter((id) => !live.has(id));
  yield* deleteStaged(deleted);
  return deleted.length;
}
