import { createHash } from 'node:crypto';
import type { Duration } from '../common/units.js';
import { InvalidOptionsError } from './errors.js';
import { expected, requireOptions } from './expectation.js';
import { isName, NAME_EXPECTED } from './identifiers.js';
import {
  kind,
  option,
  optionProblems,
  positiveDuration,
  problemOf,
  resolveOptions,
  type SchemaOf,
} from './option-schema.js';

/** The options of `job.waitFor`. */
export interface SignalOptions {
  /** The key of the signal, 1 to 255 characters, compared exactly: for example the id of the order. */
  key: string;
  /** How long the job waits, above 0. Default 30d. */
  timeout?: Duration;
}

export const SIGNAL_KEY = kind(
  'a text of 1 to 255 characters',
  (value): value is string => typeof value === 'string' && value.length > 0 && value.length <= 255,
);

const SIGNAL_OPTIONS = {
  key: option(SIGNAL_KEY),
  timeout: option(positiveDuration, '30d'),
} satisfies SchemaOf<SignalOptions>;

export function signalProblems(name: unknown, key: unknown): (string | undefined)[] {
  return [
    expected(isName(name), `the name of the signal to be ${NAME_EXPECTED}`, name),
    problemOf('key', SIGNAL_KEY, key),
  ];
}

export function resolveSignalOptions(name: string, given: SignalOptions): { key: string; timeout: number } {
  const where = 'Cannot wait for a signal';
  requireOptions(where, given);
  InvalidOptionsError.throwIfAny(where, [...optionProblems(SIGNAL_OPTIONS, given), ...signalProblems(name, given.key)]);
  const { key, timeout } = resolveOptions(SIGNAL_OPTIONS, given);
  return { key: key!, timeout };
}

/** Compares exactly under any collation of the column. */
export function signalHash(name: string, key: string): string {
  return createHash('sha256').update(`${name}\n${key}`).digest('hex');
}
