import { jsonOf } from './expectation.js';

/** An error as it is stored with its job. */
export interface StoredError {
  name: string;
  message: string;
  code?: string;
  stack?: string;
}

const MAX_MESSAGE = 4_000;
const MAX_STACK = 12_000;

/** Clipped to a size that can be stored. Never throws, because that would keep the job from ending. */
export function storedError(thrown: unknown): StoredError {
  return errorFields(readableError(thrown));
}

/** An Error for any thrown value. All its fields can be read without an exception. Never throws. */
export function readableError(thrown: unknown): Error {
  try {
    const error = asError(thrown);
    errorFields(error);
    return error;
  } catch {
    return new Error('A handler threw an error that cannot be read.');
  }
}

function errorFields(error: Error): StoredError {
  const { code } = error as { code?: unknown };
  return {
    name: clip(String(error.name || 'Error'), 200),
    message: clip(String(error.message), MAX_MESSAGE),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: clip(String(code), 200) } : {}),
    ...(typeof error.stack === 'string' ? { stack: clip(error.stack, MAX_STACK) } : {}),
  };
}

function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  // Errors of another realm (a vm context, as in Jest) fail instanceof.
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return thrown as Error;
  const text = typeof thrown === 'string' ? thrown : jsonOf(thrown);
  return new Error(`A handler threw something that is no Error: ${text}`);
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}… (${text.length - length} characters more)` : text;
}
