import type { ClaimedJob } from './job.js';
import { readHeaders, readJson } from './read-json.js';

/** A job after a failed attempt, as the functions of `retry` receive it. */
export interface FailedJob<Payload = unknown> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /** As it is stored: a `schema` does not change it. Undefined if it is no JSON. */
  readonly payload: Payload;
  /** Empty if the row has malformed ones. */
  readonly headers: Readonly<Record<string, string>>;
  readonly priority: number;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
}

export function toFailedJob(job: ClaimedJob): FailedJob {
  const { id, queue, name, priority, attempt, maxAttempts, createdAtMs } = job;
  const payload = readJson(job.payload);
  const headers = readHeaders(job.headers);
  return {
    ...{ id, queue, name, priority, attempt, maxAttempts, createdAt: new Date(createdAtMs) },
    payload: 'value' in payload ? payload.value : undefined,
    headers: 'headers' in headers ? headers.headers : {},
  };
}
