import { hasCode } from '../job/errors.js';

/** A request that the board refuses, with its HTTP status. */
export class BoardRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { code: string; message: string };
}

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

/** Undefined for an error that the caller did not cause. Its message may have details of the server. */
export function answerOf(error: unknown): ErrorAnswer | undefined {
  if (error instanceof BoardRefusal) {
    const { status, code, message } = error;
    return { status, body: { code, message } };
  }
  const code = Object.keys(STATUS).find((one) => hasCode(error, one));
  return code === undefined ? undefined : { status: STATUS[code]!, body: { code, message: (error as Error).message } };
}

export function notFound(what: string): BoardRefusal {
  return new BoardRefusal(404, 'NOT_FOUND', `${what} does not exist any more, or never did.`);
}
