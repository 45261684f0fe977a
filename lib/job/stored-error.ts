import { jsonOf } from '../common/message-text.js';
import { isEnvelope } from './codec/payload-codec.js';

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

/** The error of an attempt that failed. */
export interface AttemptError extends Omit<StoredError, 'stack'> {
  /** The number of the attempt, from 1. It starts anew when a finished job is retried. */
  attempt: number;
  at: Date;
  /** The start of the attempt. Missing if it did not start, or if an earlier release stored the error. */
  startedAt?: Date;
  /** The id of the worker that ran it. Missing if a person had the job, or if an earlier release stored the error. */
  worker?: string;
}

/** The errors of the last 25 failed attempts are kept. */
const MAX_ERRORS = 25;
const MAX_EARLIER_MESSAGE = 500;
const MAX_WORKER = 36;

export const NO_ERRORS: readonly AttemptError[] = [];

/** Without names: a search for an error finds only the last one. */
type EarlierError = [
  ...[attempt: number, at: number, name: string, message: string, code: string | null],
  ...([startedAt: number | null, worker: string | null] | []),
];

/** The run that ended with the error. */
interface Run {
  readonly startedAt?: Date | undefined;
  readonly worker?: string | undefined;
}

/**
 * The JSON of a job's errors: the last one, which the job shows, and those of the attempts before.
 *
 * @param last null if the last attempt has not failed
 * @param earlier oldest first
 */
export function encodeErrors(
  last: (StoredError & Partial<Run> & { readonly attempt: number; readonly at?: Date | undefined }) | null,
  earlier: readonly AttemptError[],
): string | null {
  if (!last && earlier.length === 0) return null;
  const kept = earlier.slice(last ? 1 - MAX_ERRORS : -MAX_ERRORS).map(toEarlier);
  if (!last) return JSON.stringify({ earlier: kept });
  // Searches compare the beginning.
  const { name, message, code, stack, attempt, at, startedAt, worker } = last;
  const run = { startedAt: startedAt?.getTime(), worker: worker?.slice(0, MAX_WORKER) };
  return JSON.stringify({ name, message, code, stack, attempt, at: at?.getTime(), ...run, earlier: kept });
}

function toEarlier({ attempt, at, name, message, code, startedAt, worker }: AttemptError): EarlierError {
  // A part of an encoded message cannot be decoded.
  const kept = isEnvelope(message) ? message : message.slice(0, MAX_EARLIER_MESSAGE);
  const error = [attempt, at.getTime(), name, kept, code ?? null] as const;
  if (startedAt === undefined && worker === undefined) return [...error];
  return [...error, startedAt?.getTime() ?? null, worker ?? null];
}

/** The errors of a parsed column, oldest first. Skips those that another program has written badly. */
export function readAttemptErrors(value: object, last: StoredError | null): AttemptError[] {
  const { attempt, at, startedAt, worker, earlier } = value as Record<string, unknown>;
  const errors = Array.isArray(earlier) ? earlier.flatMap(fromEarlier) : [];
  if (!last) return errors;
  const { stack: _, ...fields } = last;
  // Not the error of an attempt: the job was cancelled without one, or another program has written it.
  if (!isTime(at) || !isTime(attempt) || attempt <= 0) return errors;
  return [...errors, { ...fields, attempt, at: new Date(at), ...readRun(startedAt, worker) }];
}

function readRun(startedAt: unknown, worker: unknown): Pick<AttemptError, 'startedAt' | 'worker'> {
  return {
    ...(isTime(startedAt) && { startedAt: new Date(startedAt) }),
    ...(typeof worker === 'string' && { worker: worker.slice(0, MAX_WORKER) }),
  };
}

function fromEarlier(value: unknown): AttemptError[] {
  if (!Array.isArray(value)) return [];
  const [attempt, at, name, message, code, startedAt, worker] = value as unknown[];
  if (!isTime(attempt) || !isTime(at) || typeof name !== 'string' || typeof message !== 'string') return [];
  const error = { attempt, at: new Date(at), name, message, ...(typeof code === 'string' && { code }) };
  return [{ ...error, ...readRun(startedAt, worker) }];
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}

/** What counted errors and filters know an error by: its code, or its name. Empty without an error. */
export function errorKey(error: Pick<StoredError, 'code' | 'name'> | null | undefined): string {
  return error?.code || error?.name || '';
}
