import { SqlQueueError } from 'nestjs-sql-queue';

/** Something the person who starts the program can put right: told in words, without a stack. */
export class SetUpError extends Error {}

export function explain(error: unknown): string {
  if (error instanceof SetUpError || error instanceof SqlQueueError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
