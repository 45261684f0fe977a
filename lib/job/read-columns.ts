import { backoffProblems } from './backoff.js';
import type { JobOverrides } from './enqueue-options.js';
import { expected, isOptions, isWhole } from './expectation.js';
import { isName, NAME_EXPECTED } from './job-names.js';
import type { StoredError } from './stored-error.js';

// Other programs write these columns too, and what they wrote may be anything: here it is read or refused.

/** The largest number of an INT. One less can still be counted up. */
const LARGEST_INT = 2 ** 31 - 1;
export const LARGEST_DATE = 8.64e15;

/** The columns that a job cannot run without, as the database gives them. */
export interface JobColumns {
  readonly name: unknown;
  readonly priority: unknown;
  readonly max_attempts: unknown;
  readonly created_at: unknown;
  readonly payload: unknown;
  readonly headers: unknown;
}

/** A column that cannot be understood: `expected …, got …`. */
export interface ColumnProblem {
  readonly column: string;
  readonly problem: string;
}

/**
 * The first of the columns that cannot be understood. Claims ask it of every job: it compares, and parses nothing.
 *
 * @param attempt the number of the run that begins, or has begun
 */
export function columnProblem(row: JobColumns, attempt: number): ColumnProblem | undefined {
  const { name, priority, max_attempts, created_at, payload, headers } = row;
  if (!isName(name)) return refused('name', NAME_EXPECTED, name);
  if (!isWhole(priority, -32_768, 32_767)) return refused('priority', 'a whole number from -32768 to 32767', priority);
  if (!isWhole(attempt, 1, LARGEST_INT - 1))
    return refused('attempt', `its run to be number 1 to ${LARGEST_INT - 1}`, attempt);
  if (max_attempts !== null && !isWhole(max_attempts, 0, LARGEST_INT))
    return refused('max_attempts', 'NULL or a whole number of 0 or more', max_attempts);
  if (!isWhole(Number(created_at), -LARGEST_DATE, LARGEST_DATE))
    return refused('created_at', 'milliseconds since 1970 that make a date', created_at);
  if (typeof payload !== 'string') return refused('payload', 'a text', payload);
  if (headers !== null && typeof headers !== 'string') return refused('headers', 'NULL or a text', headers);
  return undefined;
}

/** What a job overrides. */
export function readOverrides(text: unknown): { overrides: JobOverrides | null } | { problem: string } {
  if (text === null) return { overrides: null };
  const parsed = readJson(text);
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return { overrides: null };
  if (!isOptions(value)) return { problem: expected(false, 'an object', value)! };
  const { backoff, timeoutMs, reply, key, keyUntil } = value as Record<keyof JobOverrides, unknown>;
  const [problem] = [
    ...(backoff === undefined ? [] : backoffProblems(backoff)),
    expected(timeoutMs === undefined || isWhole(timeoutMs, 1, LARGEST_DATE), 'timeoutMs to be 1 or more', timeoutMs),
    expected(reply === undefined || reply === true, 'reply to be true', reply),
    expected(key === undefined || typeof key === 'string', 'key to be a text', key),
    expected(isKeyUntil(keyUntil), `keyUntil to be 'started', 'finished' or milliseconds`, keyUntil),
  ].filter((line) => line !== undefined);
  return problem === undefined ? { overrides: value } : { problem };
}

/** The headers of a job; none for NULL. */
export function readHeaders(text: string | null): { headers: Record<string, string> } | { problem: string } {
  if (text === null) return { headers: {} };
  const parsed = readJson(text);
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return { headers: {} };
  const problem = expected(
    isOptions(value) && Object.values(value).every((one) => typeof one === 'string'),
    'an object of texts',
    value,
  );
  return problem === undefined ? { headers: value as Record<string, string> } : { problem };
}

/** How a run failed; null for any text that says no such thing, which is no reason not to run a job. */
export function readError(text: unknown): StoredError | null {
  if (text === null) return null;
  const parsed = readJson(text);
  if ('problem' in parsed || !isOptions(parsed.value)) return null;
  const { name, message, code, stack } = parsed.value as Record<keyof StoredError, unknown>;
  if (typeof name !== 'string' || typeof message !== 'string') return null;
  return {
    ...{ name, message },
    ...(typeof code === 'string' && { code }),
    ...(typeof stack === 'string' && { stack }),
  };
}

/** A list of ids; undefined for any text that is none. */
export function readIds(text: unknown): number[] | undefined {
  const parsed = text === null ? { value: [] } : readJson(text);
  if ('problem' in parsed || !Array.isArray(parsed.value)) return undefined;
  return parsed.value.every((id) => Number.isSafeInteger(id)) ? (parsed.value as number[]) : undefined;
}

/** A list of names; none for any text that is no such list. */
export function readNames(text: unknown): string[] {
  const parsed = readJson(text);
  if ('problem' in parsed || !Array.isArray(parsed.value)) return [];
  return parsed.value.filter((name): name is string => typeof name === 'string');
}

/** A JSON text. */
export function readJson(text: unknown): { value: unknown } | { problem: string } {
  if (typeof text !== 'string') return { problem: expected(false, 'a text', text)! };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: expected(false, 'JSON', text)! };
  }
}

function isKeyUntil(keyUntil: unknown): boolean {
  return ['started', 'finished', undefined].includes(keyUntil as undefined) || isWhole(keyUntil, 0, LARGEST_DATE);
}

/** Milliseconds since 1970; none if they make no date. */
export function readDate(ms: unknown): number | null {
  return ms !== null && isWhole(Number(ms), -LARGEST_DATE, LARGEST_DATE) ? Number(ms) : null;
}

function refused(column: string, what: string, value: unknown): ColumnProblem {
  return { column, problem: expected(false, what, value)! };
}
