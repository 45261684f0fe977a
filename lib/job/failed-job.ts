import { andThen, type MaybePromise } from '../common/maybe-promise.js';
import type { ContentCodec } from './codec/content-codec.js';
import { isEnvelope } from './codec/payload-codec.js';
import type { ClaimedJob } from './job.js';
import { readHeaders, readJson } from './json.js';
import type { RuleParts } from './user-rule.js';

/** A job after a failed attempt, as the functions of `retry` receive it. */
export interface FailedJob<Payload = unknown> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /** As it was enqueued: a `schema` does not change it. Undefined if it is no JSON, or cannot be decoded. */
  readonly payload: Payload;
  /** Empty if the row has malformed ones. */
  readonly headers: Readonly<Record<string, string>>;
  readonly priority: number;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
}

/** Calls a function of `retry` with the job, and with its decoded payload. */
export function callWithJob<T>(
  job: ClaimedJob,
  { codec }: Pick<RuleParts, 'codec'>,
  call: (job: FailedJob) => MaybePromise<T>,
): MaybePromise<T> {
  return andThen(codec ? withDecodedPayload(job, codec) : job, (decoded) => call(toFailedJob(decoded)));
}

export function toFailedJob(job: ClaimedJob): FailedJob {
  const { id, queue, name, priority, attempt, maxAttempts, createdAtMs } = job;
  const payload = isEnvelope(job.payload) ? { problem: 'undecodable' } : readJson(job.payload);
  const headers = readHeaders(job.headers);
  return {
    ...{ id, queue, name, priority, attempt, maxAttempts, createdAt: new Date(createdAtMs) },
    payload: 'value' in payload ? payload.value : undefined,
    headers: 'headers' in headers ? headers.headers : {},
  };
}

/** The job itself if its payload cannot be decoded. */
function withDecodedPayload(job: ClaimedJob, codec: ContentCodec): MaybePromise<ClaimedJob> {
  const { queue, name } = job;
  if (!isEnvelope(job.payload)) return job;
  try {
    const text = codec.decode(job.payload, { what: 'payload', queue, name });
    if (!(text instanceof Promise)) return { ...job, payload: text };
    return text.then(
      (payload) => ({ ...job, payload }),
      () => job,
    );
  } catch {
    return job;
  }
}
