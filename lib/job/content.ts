import { MalformedJobError } from './errors.js';
import type { ClaimedJob } from './job.js';
import { readHeaders, readJson } from './read-columns.js';

export interface JobContent {
  /** Has `malformed` if its payload or headers are invalid. */
  readonly job: ClaimedJob;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Decodes the payload and the headers, which a claim does not check. */
export function contentOf(job: ClaimedJob): JobContent {
  const payload = readJson(job.payload);
  if ('problem' in payload) return malformed(job, 'payload', payload.problem);
  const headers = readHeaders(job.headers);
  if ('problem' in headers) return malformed(job, 'headers', headers.problem);
  return { job, payload: payload.value, headers: headers.headers };
}

function malformed(job: ClaimedJob, column: string, problem: string): JobContent {
  const error = job.malformed ?? new MalformedJobError(job.id, job.queue, column, problem);
  return { job: { ...job, malformed: error }, payload: null, headers: {} };
}
