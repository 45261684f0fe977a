import { cancelIdleJobs } from '../flows/settle-jobs.js';
import { ascending, idsOf } from '../core/safe-id.js';
import { deleteFrom, executeAll, query, type Work } from '../core/statement.js';
import type { StoreParts } from '../store-parts.js';
import { remainingJobs } from '../jobs/remaining-jobs.js';
import { inArchive } from '../schema/archive-options.js';
import { SUBJECT_CHECK_INTERVAL_MS } from './add-subjects.js';
import { eraseFinished, eraseIdle, eraseSignals, eraseOtherContent } from './erase-jobs.js';
import type { ErasedBatch, SubjectStore } from './subject-store.js';
import type { TableRow } from '../schema/entities/table-schemas.js';

const JOBS_OF = `
  SELECT job_id AS id
  FROM {subjects} /*! FORCE INDEX (PRIMARY) */
  WHERE subject = :subject AND job_id > :after
  ORDER BY job_id
  LIMIT :limit`;

const CLAIMED = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids) AND claim_id <> 0`;

const ARCHIVED = `
  SELECT id
  FROM {archive}
  WHERE id IN (:ids)`;

const DELETE_SUBJECT = deleteFrom('subjects', 'subject = :subject AND job_id = :id AND expires_at > 0');

// Without locks: several processes may delete the same rows, in the same order.
const EXPIRED = `
  SELECT subject, job_id
  FROM {subjects} /*! FORCE INDEX ({subjects}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

const POSTPONE_CHECK = `
  UPDATE {subjects} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = :now + ${SUBJECT_CHECK_INTERVAL_MS}
  WHERE subject = :subject AND job_id = :id`;

export function sqlSubjectStore({ blocking, archives }: StoreParts): SubjectStore {
  const archiveTables = archives?.tables ?? [];
  return {
    count: async (subject, limit) =>
      (await blocking.runIdempotent(() => jobsOf(subject, Number.MIN_SAFE_INTEGER, limit))).length,

    erase: (subject, after, limit, retentionMs, mayForget) =>
      blocking.transaction(() => eraseBatch(subject, after, limit, archiveTables, retentionMs, mayForget)),

    eraseSignals: (subject) => blocking.transaction(() => eraseSignals(subject)),

    async prune(limit) {
      const expired = await blocking.runIdempotent(() => query<SubjectRow>(EXPIRED, { limit }));
      if (expired.length > 0) await blocking.transaction(() => prune(expired, archiveTables));
      return expired.length;
    },
  };
}

function* jobsOf(subject: string, after: number, limit: number): Work<number[]> {
  return idsOf(yield* query<{ id: number }>(JOBS_OF, { subject, after, limit }));
}

/**
 * A job may move between the tables meanwhile. Its row of the subject is deleted only if its content was erased under a
 * lock, or if the job is nowhere.
 */
function* eraseBatch(
  subject: string,
  after: number,
  limit: number,
  archives: readonly string[],
  retentionMs: (queue: string) => number | false,
  mayForget: (blob: string) => boolean,
): Work<ErasedBatch> {
  const ids = yield* jobsOf(subject, after, limit);
  const next = ids.length < limit ? undefined : ids.at(-1);
  if (ids.length === 0) return { cancelled: [], erased: [], blobs: [], active: [], next };
  const active = idsOf(yield* query<{ id: number }>(CLAIMED, { ids }));
  const others = ids.filter((id) => !active.includes(id));
  const idle = yield* eraseIdle(others, mayForget);
  const cancelled = idle.ids.length === 0 ? [] : yield* cancelIdleJobs(idle.ids, retentionMs);
  const finished = yield* eraseFinished(others, archives, mayForget);
  const withBlobs = [...idle.withBlobs, ...finished.withBlobs];
  const erased = [...new Set([...idle.ids, ...finished.ids])];
  yield* eraseOtherContent(erased);
  const kept = new Set(withBlobs.map(({ id }) => id));
  const missing = others.filter((id) => !erased.includes(id) && !kept.has(id));
  const moved = yield* remainingJobs(missing);
  const done = others.filter((id) => !moved.has(id) && !kept.has(id));
  yield* executeAll(ascending(done).map((id) => ({ sql: DELETE_SUBJECT, values: { subject, id } })));
  const blobs = withBlobs.flatMap((job) => job.blobs);
  return { cancelled, erased, blobs, active: [...active, ...moved], next };
}

type SubjectRow = Pick<TableRow<'subjects'>, 'subject' | 'job_id'>;

function* prune(rows: readonly SubjectRow[], archives: readonly string[]): Work<void> {
  const ids = ascending(rows.map(({ job_id }) => Number(job_id)));
  const remaining = yield* remainingJobs(ids);
  for (const to of archives)
    for (const id of idsOf(yield* query<{ id: number }>(inArchive(ARCHIVED, to), { ids }))) remaining.add(id);
  const inOrder = [...rows].sort((a, b) => Number(a.job_id) - Number(b.job_id) || (a.subject < b.subject ? -1 : 1));
  yield* executeAll(
    inOrder.map(({ subject, job_id }) => {
      const id = Number(job_id);
      return { sql: remaining.has(id) ? POSTPONE_CHECK : DELETE_SUBJECT, values: { subject, id } };
    }),
  );
}
