import { hasCode, type InvalidOptionsError, type QueueNotFoundError } from '../../job/errors.js';

// By code, because the application may load both builds of the package.
const STATUS: Readonly<Record<string, number>> = {
  INVALID_OPTIONS: 400,
  PAYLOAD_INVALID: 400,
  PAYLOAD_TOO_LARGE: 400,
  UNSAFE_JOB_ID: 400,
  JOB_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  DUPLICATE_KEY: 409,
  JOB_FINISHED: 409,
  JOB_NOT_ASSIGNED: 409,
  QUEUE_FULL: 409,
  SCHEDULE_CONFLICT: 409,
  MISSING_PRIVILEGE: 503,
  SCHEMA_OUT_OF_DATE: 503,
  STORE_UNAVAILABLE: 503,
};

/** A request that a dashboard refuses, with its HTTP status. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: 403 | 404 | 409 = 409,
    readonly code = 'REFUSED',
  ) {
    super(message);
  }
}

export function notFound(what: string): Refusal {
  return new Refusal(`${what} does not exist any more, or never did.`, 404, 'NOT_FOUND');
}

export interface KnownError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** Of invalid options: one line each. */
  readonly problems?: readonly string[];
}

/** Undefined for an error that the caller did not cause. Its message may have details of the server. */
export function knownError(error: unknown): KnownError | undefined {
  if (error instanceof Refusal) return error;
  // Its message has names of queues that the caller may have no right to read.
  if (hasCode(error, 'QUEUE_NOT_FOUND')) return notFound(`Queue "${(error as QueueNotFoundError).queue}"`);
  const code = Object.keys(STATUS).find((one) => hasCode(error, one));
  if (code === undefined) return undefined;
  const known = { code, status: STATUS[code]!, message: (error as Error).message };
  return code === 'INVALID_OPTIONS' ? { ...known, problems: (error as InvalidOptionsError).problems } : known;
}
