import { MalformedJobError, PayloadInvalidError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { checkPayload } from '../../job/payload.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { readHeaders } from '../../job/read-json.js';
import type { MaybePromise } from '../../job/user-rule.js';

export interface JobInput {
  readonly payload: unknown;
  readonly headers: Record<string, string>;
}

/** Throws or rejects with PayloadInvalidError or MalformedJobError. Returns a promise only if there is a schema. */
export function readJobInput(job: ClaimedJob, options: ResolvedQueueOptions): MaybePromise<JobInput> {
  const { id, queue } = job;
  const parsed = parsePayload(job);
  const parsedHeaders = readHeaders(job.headers);
  if ('problem' in parsedHeaders) throw new MalformedJobError(id, queue, 'headers', parsedHeaders.problem);
  const { headers } = parsedHeaders;
  if (!options.schema) return { payload: parsed, headers };
  return checkPayload(queue, parsed, options).then(
    (payload) => ({ payload, headers }),
    (error: unknown) => {
      throw error instanceof PayloadInvalidError ? error : new PayloadInvalidError(queue, (error as Error).message);
    },
  );
}

function parsePayload({ queue, payload }: ClaimedJob): unknown {
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new PayloadInvalidError(queue, `expected JSON, got ${(error as Error).message}`);
  }
}
