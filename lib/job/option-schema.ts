import { BYTE_SIZE_EXPECTED, toBytes, DURATION_EXPECTED, toMs } from '../common/units.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, requireOptions, unknownKeys } from './expectation.js';
import { isWhole } from './identifiers.js';

export interface Option<Resolved = unknown> {
  /** The problems of a value that is not undefined, one line each; undefined lines are no problem. */
  readonly problems: (name: string, value: unknown) => readonly (string | undefined)[];
  /** The value of a checked option, or the default if it is undefined. */
  readonly resolve: (value: unknown) => Resolved;
}

export type Schema = Readonly<Record<string, Option>>;

/** A schema that declares each option of the interface. */
export type SchemaOf<Options> = { readonly [Name in keyof Options]-?: Option };

export type Resolved<Declared extends Schema> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Option<infer Value> ? Value : never;
};

/** A kind of value: the words for it in a message, and its parser, which returns undefined for any other value. */
export interface Kind<Value> {
  readonly expected: string;
  readonly parse: (value: unknown) => Value | undefined;
}

/** `unset` is the default in the form that a caller writes. */
export function option<Value>(kind: Kind<Value>): Option<Value | undefined>;
export function option<Value>(kind: Kind<Value>, unset: unknown): Option<Value>;
export function option<Value>(kind: Kind<Value>, unset?: unknown): Option<Value | undefined> {
  return {
    problems: (name, value) => [problemOf(name, kind, value)],
    resolve: (value) => kind.parse(value === undefined ? unset : value),
  };
}

/** The problem of a value that must be given. */
export function problemOf(name: string, kind: Kind<unknown>, value: unknown): string | undefined {
  return expected(kind.parse(value) !== undefined, `${name} to be ${kind.expected}`, value);
}

/** The user of the option fills in the default. */
export function checked<Value = unknown>(problems: (value: unknown) => readonly (string | undefined)[]): Option<Value> {
  return { problems: (_name, value) => problems(value), resolve: (value) => value as Value };
}

/** The option, or null. */
export function orNull<Value>({ problems, resolve }: Option<Value>): Option<Value | null> {
  return {
    problems: (name, value) => (value === null ? [] : problems(name, value)),
    resolve: (value) => (value === null ? null : resolve(value)),
  };
}

/** Options inside of an option. Messages name them with the prefix. */
export function group<Declared extends Schema>(schema: Declared, prefix = ''): Option<Resolved<Declared>> {
  return {
    problems: (name, value) =>
      isOptions(value)
        ? optionProblems(schema, value, { prefix })
        : [expected(false, `${name} to be options (known: ${Object.keys(schema).join(', ')})`, value)],
    resolve: (value) => resolveOptions(schema, value ?? {}),
  };
}

export const whole = (min: number, max: number) =>
  kind(`a whole number from ${min} to ${max}`, (value) => isWhole(value, min, max));
export const flag = kind('true or false', (value) => typeof value === 'boolean');
export const func = <Func>() => kind('a function', (value): value is Func => typeof value === 'function');
export const date = kind(
  'a Date between 1970 and 9999',
  (value): value is Date => value instanceof Date && value.getTime() >= 0 && value.getUTCFullYear() <= 9999,
);
/** By its methods, because a polyfill has a class of its own. */
export const abortSignal = kind('an AbortSignal', (value): value is AbortSignal => {
  const { addEventListener, throwIfAborted } = (value ?? {}) as Partial<AbortSignal>;
  return typeof addEventListener === 'function' && typeof throwIfAborted === 'function';
});
/** In bytes. */
export const byteSize: Kind<number> = { expected: BYTE_SIZE_EXPECTED, parse: toBytes };
export const duration = durationOf(DURATION_EXPECTED, 0);
export const positiveDuration = durationOf(`${DURATION_EXPECTED} above 0`, 1);

export function durationOf(text: string, minMs: number, maxMs = Infinity): Kind<number> {
  return {
    expected: text,
    parse: (value) => {
      const ms = toMs(value);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  };
}

export function oneOf<const Values extends readonly (string | false)[]>(...values: Values): Kind<Values[number]> {
  const words = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const text = [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ');
  return kind(text, (value): value is Values[number] => (values as readonly unknown[]).includes(value));
}

export function either<const Literal extends string | false, Value>(
  literal: Literal,
  other: Kind<Value>,
): Kind<Literal | Value> {
  return {
    expected: `${oneOf(literal).expected} or ${other.expected}`,
    parse: (value) => (value === literal ? literal : other.parse(value)),
  };
}

export function kind<Value>(text: string, isOne: (value: unknown) => value is Value): Kind<Value> {
  return { expected: text, parse: (value) => (isOne(value) ? value : undefined) };
}

interface Place {
  readonly prefix?: string;
  /** Known options that the caller handles. */
  readonly also?: readonly string[];
  /** Options that belong to another place, with the advice. */
  readonly misplaced?: Readonly<Record<string, string>>;
}

/** Misplaced and unknown names first, then the values. */
export function optionProblems(schema: Schema, given: object, place: Place = NO_PLACE): string[] {
  const values = given as Readonly<Record<string, unknown>>;
  const problems = nameProblems(schema, values, place);
  if (!isOptions(values)) return problems;
  // Runs for every job with options, so it builds no lists of names.
  for (const name in schema) {
    const value = values[name];
    if (value === undefined) continue;
    for (const line of schema[name]!.problems((place.prefix ?? '') + name, value)) if (line) problems.push(line);
  }
  return problems;
}

const NO_PLACE: Place = {};

function nameProblems(schema: Schema, values: Readonly<Record<string, unknown>>, place: Place): string[] {
  let areKnown = true;
  for (const name in values) areKnown &&= Object.hasOwn(schema, name);
  if (areKnown && isOptions(values)) return [];
  const { also = [], misplaced = {} } = place;
  const elsewhere = Object.keys(misplaced);
  return [
    ...elsewhere.filter((name) => name in values).map((name) => `"${name}" ${misplaced[name]}`),
    ...unknownKeys(values, [...Object.keys(schema), ...also, ...elsewhere]),
  ];
}

/** The options that are not undefined. */
export function defined<T extends object>(options: T | undefined): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined)) as never;
}

/** The transaction in the options of a verb that has no others. Throws InvalidOptionsError. */
export function managerOf<Manager>(where: string, given: { readonly manager?: Manager }): Manager | undefined {
  InvalidOptionsError.throwIfAny(where, unknownKeys(requireOptions(where, given), ['manager']));
  return given.manager;
}

/** Throws InvalidOptionsError with all problems. */
export function checkAndResolve<Declared extends Schema>(
  where: string,
  schema: Declared,
  given: object,
): Resolved<Declared> {
  InvalidOptionsError.throwIfAny(where, optionProblems(schema, requireOptions(where, given)));
  return resolveOptions(schema, given);
}

/** The options have been checked. */
export function resolveOptions<Declared extends Schema>(schema: Declared, given: object): Resolved<Declared> {
  const values = given as Readonly<Record<string, unknown>>;
  const resolved: Record<string, unknown> = {};
  for (const name in schema) resolved[name] = schema[name]!.resolve(values[name]);
  return resolved as Resolved<Declared>;
}
