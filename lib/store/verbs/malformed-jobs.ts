import { pageSize } from '../../common/lists.js';
import { MalformedJobError } from '../../job/errors.js';
import type { ColumnProblem } from '../../job/read-columns.js';
import { storedError } from '../../job/stored-error.js';
import { endJobs } from '../ends/end-jobs.js';
import { deleteFrom, execute, query, type Statement, type Work } from '../core/statement.js';
import { CLAIMED_COLUMNS, toIdleJob, type ClaimedRow } from '../rows/claimed-row.js';
import type { Completion } from '../rows/completion.js';

// Overrides the retention of the queue, so that there is time to examine the job.
const MALFORMED_RETENTION_MS = 30 * 86_400_000;

// Only another program can have written such an id, which a number cannot hold exactly. Statements select these rows by
// range, and single rows by the id as a text.
const MAX_ID = Number.MAX_SAFE_INTEGER;
const HAS_UNSAFE_ID = `(id > ${MAX_ID} OR id < ${-MAX_ID})`;
const BATCH_SIZE = 100;

// Waits for another process that cleans up the same rows. If it skipped them, the next claim would fail on them again.
const LOCK = `
  SELECT ${CLAIMED_COLUMNS}, queue, CAST(id AS CHAR) AS text
  FROM {jobs} {by primary}
  WHERE ${HAS_UNSAFE_ID}
  LIMIT :limit {lock}`;

const REMOVE = deleteFrom('jobs', `${HAS_UNSAFE_ID} AND CAST(id AS CHAR) IN (:texts)`);

const LAST_IDS = `
  SELECT (SELECT MAX(id) FROM {jobs} WHERE id <= ${MAX_ID}) AS live,
         (SELECT MAX(id) FROM {history} WHERE id <= ${MAX_ID}) AS finished`;

/**
 * Ends jobs whose ids no number can represent. They receive the next free ids. No new job can get these: the server continues
 * after the largest id.
 */
export function* markUnsafeIdsDead(): Work<void> {
  const rows = yield* query<ClaimedRow & { queue: string; text: string }>(LOCK, { limit: pageSize(BATCH_SIZE) });
  if (rows.length === 0) return;
  yield* execute(REMOVE, { texts: rows.map(({ text }) => text) });
  const [last] = yield* query<{ live: number | null; finished: number | null }>(LAST_IDS);
  const from = Math.max(Number(last!.live), Number(last!.finished)) + 1;
  yield* markMalformedDead(
    rows.map((row, index) => ({
      row: { ...row, id: from + index },
      column: 'id',
      problem: `expected ${-MAX_ID} to ${MAX_ID}, got ${row.text}`,
    })),
  );
}

/** A locked job, and its malformed column. */
export interface MalformedRow extends ColumnProblem {
  readonly row: ClaimedRow & { readonly queue: string };
  readonly isStaged?: boolean;
}

/**
 * Ends jobs that no claim can take. Each is dead with an error that names its column.
 *
 * @param deletions the statements that delete the rows, whose ids or claims may be malformed; default: they are deleted
 */
export function* markMalformedDead(
  malformed: readonly MalformedRow[],
  deletions: readonly Statement[] = [],
): Work<void> {
  const ends = malformed.map(({ row, isStaged = false, column, problem }): Completion => {
    const job = toIdleJob(row, row.queue);
    const error = storedError(new MalformedJobError(job.id, job.queue, column, problem));
    const idle = { job, claimId: 0, workerId: null, isStaged, ranMs: null };
    return { ...idle, outcome: { kind: 'dead', error }, retentionMs: MALFORMED_RETENTION_MS };
  });
  yield* endJobs(ends, { deletions });
}
