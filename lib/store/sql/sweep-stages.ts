import type { SqlDatabase } from './sql-database.js';
import { leaveStages } from './stages.js';
import { query, together, type Work } from './statement.js';

// So many rows are looked at in a round: where people have more in their hands, the next one goes on behind them.
const WINDOW = 10_000;

const LOOK = `
  SELECT MAX(seen.id) AS last, COUNT(*) AS seen, MIN(CASE WHEN j.id IS NULL THEN seen.id END) AS orphan
  FROM (
    SELECT job_id AS id
    FROM {stages}
    WHERE job_id > :after
    ORDER BY job_id
    LIMIT ${WINDOW}
  ) AS seen
  LEFT JOIN {jobs} j ON j.id = seen.id`;

const ORPHANS = `
  SELECT s.job_id AS id
  FROM {stages} s
  LEFT JOIN {jobs} j ON j.id = s.job_id
  WHERE s.job_id >= :first AND s.job_id <= :last AND j.id IS NULL
  ORDER BY s.job_id
  LIMIT :limit`;

const LOCK_ORPHAN = `
  SELECT job_id AS id
  FROM {stages} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id /*! FOR UPDATE SKIP LOCKED */`;

const JOBS_OF = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

interface Seen {
  readonly last: number | null;
  readonly seen: number;
  readonly orphan: number | null;
}

/** Deletes the rows of jobs that ended in other ways than by their holder's hand, a part of the table at a time. */
export class StageSweep {
  #after = 0;

  constructor(private readonly database: Pick<SqlDatabase, 'repeatable' | 'transaction'>) {}

  /** At most `limit`; answers how many. */
  async sweep(limit: number): Promise<number> {
    const { last, seen, orphan } = await this.#look();
    const part = orphan === null ? NOTHING : await this.#sweepPart(Number(orphan), Number(last), limit);
    if (part.upTo !== undefined) this.#after = part.upTo;
    else this.#after = Number(seen) < WINDOW ? 0 : Number(last);
    return part.swept;
  }

  #sweepPart(first: number, last: number, limit: number): Promise<SweptPart> {
    return this.database.transaction(() => sweepStages(first, last, limit));
  }

  /** Without locks: mostly there is nothing to open a transaction for. Behind the last row it begins anew. */
  async #look(): Promise<Seen> {
    const [row] = await this.database.repeatable(() => query<Seen>(LOOK, { after: this.#after }));
    if (Number(row!.seen) > 0 || this.#after === 0) return row!;
    this.#after = 0;
    return this.#look();
  }
}

interface SweptPart {
  readonly swept: number;
  /** The last row that was looked at, if there may be more behind it: rows that others have locked stay in front of it. */
  readonly upTo?: number;
}

const NOTHING: SweptPart = { swept: 0 };

function* sweepStages(first: number, last: number, limit: number): Work<SweptPart> {
  const orphans = yield* query<{ id: number }>(ORPHANS, { first, last, limit });
  const upTo = orphans.length < limit ? undefined : Number(orphans.at(-1)!.id);
  return { swept: yield* sweepOrphans(orphans), ...(upTo !== undefined && { upTo }) };
}

function* sweepOrphans(orphans: readonly { id: number }[]): Work<number> {
  if (orphans.length === 0) return 0;
  // A dead job that starts anew leaves its stage first. Once its row here is locked, nothing brings it back unseen.
  const answers = yield* together(orphans.map(({ id }) => ({ sql: LOCK_ORPHAN, values: { id: Number(id) } })));
  const locked = idsOf(answers.flatMap(({ rows }) => rows as unknown as { id: number }[]));
  if (locked.length === 0) return 0;
  const back = new Set(idsOf(yield* query<{ id: number }>(JOBS_OF, { ids: locked })));
  const gone = locked.filter((id) => !back.has(id));
  yield* leaveStages(gone);
  return gone.length;
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => Number(id));
}
