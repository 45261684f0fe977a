import { knownError } from '../dashboard/error-status.js';

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

/** Undefined for an error that the caller did not cause. Its message may have details of the server. */
export function answerOf(error: unknown): ErrorAnswer | undefined {
  if (error instanceof BoardRefusal) {
    const { status, code, message } = error;
    return { status, body: { code, message } };
  }
  const known = knownError(error);
  return known && { status: known.status, body: { code: known.code, message: known.message } };
}

export function notFound(what: string): BoardRefusal {
  return new BoardRefusal(404, 'NOT_FOUND', `${what} does not exist any more, or never did.`);
}
