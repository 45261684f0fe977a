import { isBlob } from '../../job/codec/payload-codec.js';
import type { NewJob } from '../../job/job.js';
import { insertInChunks, type SqlValue, type Work } from '../core/statement.js';
import { toBlobs } from './subject-blobs.js';

export const SUBJECT_CHECK_INTERVAL_MS = 3_600_000;

// All three databases support REPLACE. A replaced job may have the row already.
const ADD_SUBJECTS = `
  REPLACE INTO {subjects} (subject, job_id, expires_at, blobs)
  VALUES :rows(?, ?, :now + ${SUBJECT_CHECK_INTERVAL_MS}, ?)`;

export function hasSubject({ subject }: Pick<NewJob, 'subject'>): boolean {
  return subject !== undefined;
}

/** @param ids those of the jobs, in their order */
export function* addSubjects(jobs: readonly NewJob[], ids: readonly number[]): Work<void> {
  yield* insertInChunks(ADD_SUBJECTS, subjectRows(jobs, ids));
}

function* subjectRows(jobs: readonly NewJob[], ids: readonly number[]): Generator<SqlValue[]> {
  for (const [index, { subject, payload }] of jobs.entries())
    if (subject !== undefined) yield [subject, ids[index]!, isBlob(payload) ? toBlobs([payload]) : null];
}
