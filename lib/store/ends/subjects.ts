import { blobKeyOf } from '../../job/codec/blobs.js';
import { isBlob } from '../../job/codec/payload-codec.js';
import { jobOverridesOf } from '../../job/read-columns.js';
import { randomId } from '../../job/identifiers.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { deleteFrom, statement, insertInChunks, type Statement, type SqlValue, type Work } from '../core/statement.js';
import { CHECK_INTERVAL_MS } from '../rows/expiry.js';
import type { JobEnd } from '../rows/completion.js';
import type { NewJob } from '../../job/job.js';

// A blob outlives the row that refers to it: the job may be removed, replaced or not kept, or its retention ends. So that an
// erasure finds the blob, the row of the subject has its reference too, until the blob has expired.

const REMEMBER = `
  UPDATE {subjects} {by primary}
  SET blobs = JSON_SET(CASE WHEN JSON_VALID(blobs) = 1 THEN blobs ELSE '{}' END, :path, :blob)
  WHERE subject = :subject AND job_id = :id`;

// A negative id belongs to no job, so that an erasure deletes the blobs of the old payload, but not the new one.
const DETACH = `
  UPDATE {subjects} {by primary}
  SET job_id = :detachedId
  WHERE subject = :subject AND job_id = :id AND blobs IS NOT NULL`;

const DELETE_SUBJECT = deleteFrom('subjects', 'subject = :subject AND job_id = :id AND expires_at > 0');

const DAY_MS = 86_400_000;

function toBlobs(references: readonly string[]): string {
  return JSON.stringify(Object.fromEntries(references.map((reference) => [blobKeyOf(reference), reference])));
}

export function readBlobs(blobs: string | null): string[] {
  const values = Object.values(parseJsonOrNull<Record<string, unknown>>(blobs) ?? {});
  return values.filter((value): value is string => typeof value === 'string' && isBlob(value));
}

/** The time after which all blobs have expired: their keys begin with a day. 0 without blobs. */
export function lastExpiryMs(blobs: readonly string[]): number {
  return Math.max(0, ...blobs.map((blob) => Date.parse(blobKeyOf(blob)?.slice(0, 10) ?? '') + DAY_MS || 0));
}

/** The statements for content of a job that was stored after the job. None if it has no subject, or is no blob. */
export function rememberBlob(id: number, subject: string | undefined, content: string | null): Statement[] {
  const key = content !== null && isBlob(content) ? blobKeyOf(content) : undefined;
  if (subject === undefined || key === undefined) return [];
  return [statement(REMEMBER, { subject, id, path: `$."${key}"`, blob: content })];
}

export function rememberResults(ends: readonly JobEnd[]): Statement[] {
  return ends.flatMap(({ job, outcome }) =>
    outcome.kind === 'complete' ? rememberBlob(job.id, job.overrides?.subject, outcome.result) : [],
  );
}

/** The job gets a new payload, which may be about another subject. @param options those of the old payload */
export function detachSubject(id: number, options: string | null): Statement[] {
  const { subject } = jobOverridesOf(options);
  if (subject === undefined) return [];
  const values = { subject, id };
  return [statement(DETACH, { ...values, detachedId: -randomId() }), statement(DELETE_SUBJECT, values)];
}

// All three databases support REPLACE. A replaced job may have the row already.
const ADD_SUBJECTS = `
  REPLACE INTO {subjects} (subject, job_id, expires_at, blobs)
  VALUES :rows(?, ?, :now + ${CHECK_INTERVAL_MS}, ?)`;

/** @param ids those of the jobs, in their order */
export function* addSubjects(jobs: readonly NewJob[], ids: readonly number[]): Work<void> {
  yield* insertInChunks(ADD_SUBJECTS, subjectRows(jobs, ids));
}

function* subjectRows(jobs: readonly NewJob[], ids: readonly number[]): Generator<SqlValue[]> {
  for (const [index, { subject, payload }] of jobs.entries())
    if (subject !== undefined) yield [subject, ids[index]!, isBlob(payload) ? toBlobs([payload]) : null];
}
