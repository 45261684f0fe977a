import { SqlQueueError } from 'nestjs-sql-queue';

/** An error that the user of the program can correct. Its message is printed without a stack. */
export class SetUpError extends Error {}

export function explain(error: unknown): string {
  if (error instanceof SetUpError || error instanceof SqlQueueError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
