/** A verb of bull-board that the queue refuses. bull-board shows the message. */
export class RefusedError extends Error {
  constructor(
    message: string,
    readonly statusCode: 403 | 404 | 409 = 409,
  ) {
    super(message);
  }
}
