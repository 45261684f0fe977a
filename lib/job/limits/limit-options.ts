import type { Duration } from '../../common/units.js';
import { expected, isOptions } from '../expectation.js';
import { isWhole } from '../identifiers.js';
import {
  durationOf,
  either,
  oneOf,
  option,
  optionProblems,
  orNull,
  resolveOptions,
  whole,
  type Option,
  type Schema,
  type SchemaOf,
} from '../option-schema.js';
import { snoozeProblem, type SnoozeUntil } from '../snooze.js';

/** How many jobs of a queue may start in a time, in all processes together. */
export interface RateOptions {
  /** Jobs per time, 1 to 1,000,000. */
  limit: number;
  /** The time, from 10ms to 366d. */
  per: Duration;
  /**
   * Jobs that may start at once after a pause, 1 to `limit`. In no time of the length `per` do more than `limit + burst`
   * jobs start. Default: a tenth of `limit`, at least 1. Not with `window: 'fixed'`.
   */
  burst?: number;
  /**
   * `sliding` (default): the jobs are spread over the time. `fixed`: for quotas. Up to `limit` jobs start in each window.
   * The windows are multiples of `per` since 1970 in UTC, so '1d' starts at midnight.
   */
  window?: 'sliding' | 'fixed';
}

/** A change of the limits of a queue. */
export interface LimitChange {
  /** Jobs that may run at once, 1 to 1,000,000. False: no limit. Null: as in the options of the queue. */
  maxRunning?: number | false | null;
  /** False: no limit. Null: as in the options of the queue. */
  rate?: RateOptions | false | null;
  /** No job of the queue starts before: a duration from now, or a date. False: the rest ends. */
  rest?: SnoozeUntil | false;
}

export interface Rate {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
  readonly window: 'sliding' | 'fixed';
}

/** The limits of a queue over all processes. Null: no limit. */
export interface Limits {
  readonly maxRunning: number | null;
  readonly rate: Rate | null;
}

/** The limits that the administrator has set. A missing one is as in the options of the queue. */
export type LimitOverrides = Partial<Limits>;

export const NO_LIMITS: Limits = { maxRunning: null, rate: null };

const MIN_PER_MS = 10;
const MAX_PER_MS = 366 * 86_400_000;

const RATE_OPTIONS = {
  limit: option(whole(1, 1_000_000)),
  per: option(durationOf(`a duration from '10ms' to '366d'`, MIN_PER_MS, MAX_PER_MS)),
  burst: option(whole(1, 1_000_000)),
  window: option(oneOf('sliding', 'fixed'), 'sliding'),
} satisfies SchemaOf<RateOptions>;

export const MAX_RUNNING = option(either(false, whole(1, 1_000_000)), false);

export const RATE: Option<Rate | false> = {
  problems: (name, value) => (value === false ? [] : rateProblems(name, value)),
  resolve: (value) => (value === undefined || value === false ? false : resolveRate(value)),
};

const OVERRIDES = { maxRunning: orNull(MAX_RUNNING), rate: orNull(RATE) };

const LIMIT_CHANGE = {
  ...OVERRIDES,
  rest: {
    problems: (_, value) => (value === false ? [] : [snoozeProblem(value)]),
    resolve: (value) => value,
  },
} satisfies SchemaOf<LimitChange>;

export function limitChangeProblems(change: unknown): (string | undefined)[] {
  return changeProblems(LIMIT_CHANGE, change);
}

export function changeProblems(schema: Schema, change: unknown): (string | undefined)[] {
  if (change === null) return [];
  const known = Object.keys(schema).join(', ');
  if (!isOptions(change)) return [expected(false, `the limits to be options (known: ${known}) or null`, change)];
  const changesSomething = Object.values(change).some((value) => value !== undefined);
  return [...optionProblems(schema, change), expected(changesSomething, `at least one of ${known}`, change)];
}

/** The change has been checked. */
export function overridesAfter(overrides: LimitOverrides, change: LimitChange): LimitOverrides {
  return applyChange(OVERRIDES, overrides, change);
}

/** Null removes an override, and false sets it to no limit. */
export function applyChange<Overrides extends object>(schema: Schema, before: Overrides, change: object): Overrides {
  const after = { ...before } as Record<string, unknown>;
  for (const [name, { resolve }] of Object.entries(schema)) {
    const value = (change as Readonly<Record<string, unknown>>)[name];
    if (value === null) delete after[name];
    else if (value !== undefined) after[name] = resolve(value) || null;
  }
  return after as Overrides;
}

/** The parts of a stored JSON text that are valid. */
export function readLimits(value: unknown): LimitOverrides {
  if (!isOptions(value)) return {};
  const { maxRunning, rate } = value as Readonly<Record<string, unknown>>;
  return {
    ...((maxRunning === null || isWhole(maxRunning, 1, 1_000_000)) && { maxRunning }),
    ...((rate === null || isRate(rate)) && { rate }),
  };
}

function rateProblems(name: string, value: unknown): (string | undefined)[] {
  if (!isOptions(value)) return [expected(false, `${name} to be false or { limit, per, burst?, window? }`, value)];
  const { limit, per, burst, window } = value as Readonly<Record<string, unknown>>;
  const problems = optionProblems(RATE_OPTIONS, value, { prefix: `${name}.` });
  if (problems.length > 0) return problems;
  return [
    expected(limit !== undefined, `${name}.limit to be set`, limit),
    expected(per !== undefined, `${name}.per to be set`, per),
    burst === undefined || limit === undefined
      ? undefined
      : expected((burst as number) <= (limit as number), `${name}.burst to be at most ${name}.limit`, burst),
    expected(window !== 'fixed' || burst === undefined, `${name}.burst to be unset with window: 'fixed'`, burst),
  ];
}

function resolveRate(given: unknown): Rate {
  const { limit, per, burst, window } = resolveOptions(RATE_OPTIONS, given as object);
  return { limit: limit!, perMs: per!, burst: burst ?? Math.max(1, Math.floor(limit! / 10)), window };
}

function isRate(value: unknown): value is Rate {
  if (!isOptions(value)) return false;
  const { limit, perMs, burst, window } = value as Readonly<Record<string, unknown>>;
  return (
    isWhole(limit, 1, 1_000_000) &&
    isWhole(perMs, MIN_PER_MS, MAX_PER_MS) &&
    isWhole(burst, 1, 1_000_000) &&
    (window === 'sliding' || window === 'fixed')
  );
}
