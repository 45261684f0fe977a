import { NO_ERRORS, readAttemptErrors, type AttemptError, type StoredError } from './stored-error.js';
import { BACKOFF } from './backoff.js';
import { expected, isOptions } from './expectation.js';
import { isWhole } from './identifiers.js';
import type { JobOverrides } from './job-overrides.js';
import { kind, option, type SchemaOf } from './option-schema.js';
import { readJson } from './json.js';
import type { ResolvedRetention } from './retention-options.js';
import type { StoredTick } from './schedules/job-schedule.js';

// Other programs may have written any value into these columns.

/** The largest INT. */
const MAX_INT = 2 ** 31 - 1;
export const MAX_TIMESTAMP_MS = 8.64e15;

const TEXT = option(kind('a text', (value) => typeof value === 'string'));
const AT_LEAST_ONE = option(kind('1 or more', isPositive));

const STORED_OVERRIDES = Object.entries({
  backoff: BACKOFF,
  timeoutMs: AT_LEAST_ONE,
  expiresInMs: AT_LEAST_ONE,
  addedExpiryMs: AT_LEAST_ONE,
  leaseMs: option(kind('1000 to 86400000', (value) => isWhole(value, 1_000, 86_400_000))),
  retention: option(kind('{ completedMs, deadMs }', isRetention)),
  reply: option(kind('true', (value) => value === true)),
  key: TEXT,
  keyUntil: option(kind(`'started', 'finished' or milliseconds`, isKeyUntil)),
  group: TEXT,
  flow: option(kind('the id of a flow', isPositive)),
  delayMs: AT_LEAST_ONE,
  runAtMs: option(kind('a time', (value) => isWhole(value, 0, MAX_TIMESTAMP_MS))),
  schedule: option(kind('a name and a time', isTick)),
  subject: TEXT,
  restart: option(kind('a random id', (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER))),
} satisfies SchemaOf<JobOverrides>);

/** A malformed column; the problem reads `expected …, got …`. */
export interface ColumnProblem {
  readonly column: string;
  readonly problem: string;
}

export type ReadOverrides = { overrides: JobOverrides | null } | { problem: string };

export function readOverrides(text: unknown): ReadOverrides {
  if (text === null) return { overrides: null };
  const parsed = readJson(text);
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return { overrides: null };
  if (!isOptions(value)) return { problem: expected(false, 'an object', value)! };
  const problem = overrideProblem(value as Record<string, unknown>);
  return problem === undefined ? { overrides: value } : { problem };
}

/** The valid overrides of a job. None if another program has written the text badly. */
export function jobOverridesOf(text: unknown): JobOverrides {
  const read = readOverrides(text);
  return ('overrides' in read && read.overrides) || {};
}

function overrideProblem(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, { problems }] of STORED_OVERRIDES) {
    const problem = values[name] === undefined ? undefined : problems(name, values[name]).find(Boolean);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The error of a run; null for any other text, because a malformed error must not keep a job from running. */
export function readError(text: unknown): StoredError | null {
  return readErrors(text).last;
}

/** The error of the last run, and those of all attempts. */
export function readErrors(text: unknown): { last: StoredError | null; all: readonly AttemptError[] } {
  if (text === null) return { last: null, all: NO_ERRORS };
  const parsed = readJson(text);
  if ('problem' in parsed || !isOptions(parsed.value)) return { last: null, all: NO_ERRORS };
  const last = toStoredError(parsed.value);
  return { last, all: readAttemptErrors(parsed.value, last) };
}

function toStoredError(value: object): StoredError | null {
  const { name, message, code, stack } = value as Record<keyof StoredError, unknown>;
  if (typeof name !== 'string' || typeof message !== 'string') return null;
  return {
    ...{ name, message },
    ...(typeof code === 'string' && { code }),
    ...(typeof stack === 'string' && { stack }),
  };
}

/** A list of ids, empty for NULL; undefined for any other text. */
export function readIds(text: unknown): number[] | undefined {
  const parsed = text === null ? { value: [] } : readJson(text);
  if ('problem' in parsed || !Array.isArray(parsed.value)) return undefined;
  return parsed.value.every((id) => Number.isSafeInteger(id)) ? (parsed.value as number[]) : undefined;
}

export function readNames(text: unknown): string[] {
  const parsed = readJson(text);
  if ('problem' in parsed || !Array.isArray(parsed.value)) return [];
  return parsed.value.filter((name): name is string => typeof name === 'string');
}

/** For each queue of a worker the calls of its handlers that may run at once. */
export function readSlots(text: unknown): Map<string, number> {
  const parsed = readJson(text);
  if ('problem' in parsed || !isOptions(parsed.value)) return new Map();
  return new Map(Object.entries(parsed.value).filter(([, slots]) => isWhole(slots, 1, MAX_INT)));
}

function isPositive(value: unknown): value is number {
  return isWhole(value, 1, MAX_TIMESTAMP_MS);
}

function isRetention(value: unknown): value is object {
  if (!isOptions(value)) return false;
  const { completedMs, deadMs } = value as Record<keyof ResolvedRetention, unknown>;
  return [completedMs, deadMs].every((ms) => ms === undefined || ms === false || isWhole(ms, 0, MAX_TIMESTAMP_MS));
}

function isKeyUntil(keyUntil: unknown): keyUntil is string | number {
  return keyUntil === 'started' || keyUntil === 'finished' || isWhole(keyUntil, 0, MAX_TIMESTAMP_MS);
}

function isTick(schedule: unknown): schedule is object {
  if (!isOptions(schedule)) return false;
  const { name, at } = schedule as Record<keyof StoredTick, unknown>;
  return typeof name === 'string' && isWhole(at, 0, MAX_TIMESTAMP_MS);
}

/** Milliseconds since 1970; null if they are no valid date. */
export function readDate(ms: unknown): number | null {
  return ms !== null && isWhole(Number(ms), -MAX_TIMESTAMP_MS, MAX_TIMESTAMP_MS) ? Number(ms) : null;
}
