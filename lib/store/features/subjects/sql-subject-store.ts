import { ascending, idsOf } from '../../../job/identifiers.js';
import { deleteFrom, executeAll, executeInBatches, query, statement, type Work } from '../../core/statement.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { cancelIdleJobs } from '../../ends/cancel-idle-jobs.js';
import { deleteStepsAndLogs, findEarlierRuns } from '../../ends/earlier-runs.js';
import { nextChecks, remainingJobs } from '../../reads/remaining-jobs.js';
import { inArchive } from '../../tables/archive-options.js';
import { lastExpiryMs, readBlobs } from '../../ends/subjects.js';
import { runChange } from '../audit/run-change.js';
import { eraseFinished, eraseIdle, eraseSignals, eraseOtherContent } from './erase-jobs.js';
import type { ErasedBatch, SubjectStore } from './subject-store.js';
import type { TableRow } from '../../tables/table-schemas.js';

const JOBS_OF = `
  SELECT job_id AS id, blobs
  FROM {subjects} {by primary}
  WHERE subject = :subject AND job_id > :after
  ORDER BY job_id
  LIMIT :limit`;

const CLAIMED = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids) AND claim_id <> 0`;

// The library never deletes an archived job.
const ARCHIVE_CHECK_INTERVAL_MS = 30 * 86_400_000;

const ARCHIVED = `
  SELECT id, :now + ${ARCHIVE_CHECK_INTERVAL_MS} AS at
  FROM {archive}
  WHERE id IN (:ids)`;

const DELETE_SUBJECT = deleteFrom('subjects', 'subject = :subject AND job_id = :id AND expires_at > 0');

// Without locks: several processes may delete the same rows, in the same order.
const EXPIRED = `
  SELECT subject, job_id, blobs
  FROM {subjects} {by subjects.expiry}
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

const POSTPONE_CHECK = `
  UPDATE {subjects} {by primary}
  SET expires_at = :at
  WHERE subject = :subject AND job_id = :id AND expires_at <= :now`;

// The row of a job that is gone stays until its blobs have expired.
const SET_EXPIRY = `
  UPDATE {subjects} {by primary}
  SET expires_at = :until
  WHERE subject = :subject AND job_id = :id`;

const DELETE_EXPIRED = deleteFrom('subjects', 'subject = :subject AND job_id = :id AND expires_at <= :now');

export function sqlSubjectStore({ blocking, archives }: StoreParts): SubjectStore {
  const archiveTables = archives?.tables ?? [];
  return {
    count: async (subject, limit) =>
      (await blocking.runIdempotent(() => query(JOBS_OF, { subject, after: Number.MIN_SAFE_INTEGER, limit }))).length,

    erase: (subject, after, limit, retentionMs, mayForget, change) =>
      runChange(
        blocking,
        change,
        () => eraseBatch(subject, after, limit, archiveTables, retentionMs, mayForget),
        ({ erased }) => erased.length,
        ({ queues }) => queues,
      ),

    eraseSignals: async (subject, change) =>
      void (await runChange(blocking, change, () => eraseSignals(subject), Number)),

    async prune(limit) {
      const expired = await blocking.runIdempotent(() => query<SubjectRow>(EXPIRED, { limit }));
      if (expired.length > 0) await blocking.transaction(() => prune(expired, archiveTables));
      return expired.length;
    },
  };
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
  const rows = yield* query<{ id: number; blobs: string | null }>(JOBS_OF, { subject, after, limit });
  const ids = idsOf(rows);
  const next = ids.length < limit ? undefined : ids.at(-1);
  if (ids.length === 0) return { cancelled: [], erased: [], queues: [], blobs: [], active: [], next };
  const active = idsOf(yield* query<{ id: number }>(CLAIMED, { ids }));
  const blobsById = new Map(rows.map(({ id, blobs }) => [Number(id), readBlobs(blobs)]));
  const withRememberedBlobs = [...blobsById].flatMap(([id, all]) => {
    const blobs = active.includes(id) ? [] : all.filter((blob) => !mayForget(blob));
    return blobs.length === 0 ? [] : [{ id, blobs }];
  });
  const kept = new Set(idsOf(withRememberedBlobs));
  const others = ids.filter((id) => !active.includes(id) && !kept.has(id));
  const idle = yield* eraseIdle(others, mayForget);
  const cancelled = idle.ids.length === 0 ? [] : yield* cancelIdleJobs(idle.ids, retentionMs);
  const finished = yield* eraseFinished(others, archives, mayForget);
  const withBlobs = [...withRememberedBlobs, ...idle.withBlobs, ...finished.withBlobs];
  for (const { id } of withBlobs) kept.add(id);
  const found = new Set([...idle.ids, ...finished.ids]);
  const missing = others.filter((id) => !found.has(id) && !kept.has(id));
  const moved = yield* remainingJobs(missing);
  const gone = missing.filter((id) => !moved.has(id));
  const { withSteps, withLogs } = yield* findEarlierRuns(gone);
  const withContent = new Set([...withSteps, ...withLogs, ...gone.filter((id) => blobsById.get(id)!.length > 0)]);
  yield* eraseOtherContent([...found, ...gone]);
  const done = others.filter((id) => !moved.has(id) && !kept.has(id));
  yield* executeAll(ascending(done).map((id) => ({ sql: DELETE_SUBJECT, values: { subject, id } })));
  const blobs = withBlobs.flatMap((job) => job.blobs);
  const queues = [...idle.queues, ...finished.queues];
  return { cancelled, erased: [...found, ...withContent], queues, blobs, active: [...active, ...moved], next };
}

type SubjectRow = Pick<TableRow<'subjects'>, 'subject' | 'job_id' | 'blobs'>;

function* prune(rows: readonly SubjectRow[], archives: readonly string[]): Work<void> {
  const ids = ascending(rows.map(({ job_id }) => Number(job_id)));
  const checks = yield* nextChecks(ids);
  for (const to of archives)
    for (const { id, at } of yield* query<{ id: number; at: number }>(inArchive(ARCHIVED, to), { ids }))
      checks.set(Number(id), Number(at));
  const inOrder = [...rows].sort((a, b) => Number(a.job_id) - Number(b.job_id) || (a.subject < b.subject ? -1 : 1));
  // Without its row an erasure would not find them.
  yield* deleteStepsAndLogs(yield* findEarlierRuns(ids.filter((id) => !checks.has(id))));
  yield* executeInBatches(
    inOrder.flatMap(({ subject, job_id, blobs }) => {
      const id = Number(job_id);
      const at = checks.get(id);
      if (at !== undefined) return [statement(POSTPONE_CHECK, { subject, id, at })];
      const until = lastExpiryMs(readBlobs(blobs));
      return [statement(SET_EXPIRY, { subject, id, until }), statement(DELETE_EXPIRED, { subject, id })];
    }),
  );
}
