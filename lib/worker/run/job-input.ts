import type { MaybePromise } from '../../common/maybe-promise.js';
import { decodeWith } from '../../job/codec/content-codec.js';
import { hasCode, MalformedJobError, PayloadInvalidError, type ContentUnavailableError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { checkPayload } from '../../job/payload.js';
import type { Outcome } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { toJobSchedule } from '../../job/schedules/job-schedule.js';
import { readHeaders } from '../../job/json.js';
import { storedError } from '../../job/stored-error.js';

export interface JobInput {
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Throws or rejects with PayloadInvalidError, MalformedJobError, UndecodableContentError or ContentUnavailableError. Returns a
 * promise only if there is a schema, or if a codec returns one.
 */
export function readJobInput(job: ClaimedJob, options: ResolvedQueueOptions): MaybePromise<JobInput> {
  const { queue, name } = job;
  const text = decodeWith(options.codec, job.payload, { what: 'payload', queue, name });
  return text instanceof Promise ? readOnceDecoded(job, text, options) : readDecoded(job, text, options);
}

async function readOnceDecoded(job: ClaimedJob, text: Promise<string>, options: ResolvedQueueOptions) {
  return readDecoded(job, await text, options);
}

function readDecoded({ id, queue, headers: stored }: ClaimedJob, text: string, options: ResolvedQueueOptions) {
  const payload = parsePayload(queue, text);
  const parsedHeaders = readHeaders(stored);
  if ('problem' in parsedHeaders) throw new MalformedJobError(id, queue, 'headers', parsedHeaders.problem);
  const { headers } = parsedHeaders;
  return options.schema ? checkInput(queue, { payload, headers }, options) : { payload, headers };
}

async function checkInput(queue: string, { payload, headers }: JobInput, options: ResolvedQueueOptions) {
  try {
    return { payload: await checkPayload(queue, payload, options), headers };
  } catch (error) {
    throw error instanceof PayloadInvalidError ? error : new PayloadInvalidError(queue, (error as Error).message);
  }
}

function parsePayload(queue: string, payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new PayloadInvalidError(queue, `expected JSON, got ${(error as Error).message}`);
  }
}

/** A retry cannot help a job with invalid input. If a service of a codec is down, the job waits without an attempt. */
export function outcomeOfUnreadable(error: unknown): Outcome {
  if (!hasCode(error, 'CONTENT_UNAVAILABLE')) return { kind: 'dead', error: storedError(error) };
  return { kind: 'snooze', delayMs: (error as ContentUnavailableError).retryInMs };
}

/** The properties of the context of a job, without its actions. */
export type JobContextFields<P> = Omit<ReturnType<typeof toContextFields>, 'payload'> & { readonly payload: P };

export function toContextFields(job: ClaimedJob, { payload, headers }: JobInput, startedAt: Date) {
  const { id, queue, name, attempt, maxAttempts, overrides, group } = job;
  const createdAt = new Date(job.createdAtMs);
  const schedule = overrides?.schedule && toJobSchedule(overrides.schedule);
  return { id, queue, name, payload, attempt, maxAttempts, createdAt, startedAt, headers, schedule, group };
}
