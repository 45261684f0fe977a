import type { Clock } from '../time/clock.js';
import { seen } from './expectation.js';
import { storedError } from './stored-error.js';

/** What it takes to ask the rules of a queue: chance, a clock, and a log for a function of the user's that is broken. */
export interface RuleParts {
  readonly random: () => number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: { warn(message: string): void };
}

/** A function of the options, and how its answer is read. */
export interface UserRule<T> {
  /** What it is called in the options. */
  readonly name: string;
  readonly ask: () => unknown;
  /** What the answer means; undefined if it is none of the expected ones. */
  readonly read: (answer: unknown) => T | undefined;
  readonly expected: string;
  /** What applies if the function fails. */
  readonly otherwise: () => T;
}

export type MaybeLater<T> = T | Promise<T>;

// Nobody can settle or rescue the job until its rules have answered.
const RULE_TIMEOUT_MS = 5_000;

/**
 * Asks a function of the options, which may answer with a promise. If it throws, rejects, takes longer than 5 s or answers
 * something else than expected, that is logged and the default applies: the job has to go on. Never rejects.
 */
export function askRule<T>(rule: UserRule<T>, parts: RuleParts): MaybeLater<T> {
  try {
    const answer = rule.ask();
    return isPromiseLike(answer) ? readLater(answer, rule, parts) : readNow(answer, rule, parts);
  } catch (error) {
    return instead(rule, `threw ${errorLine(error)}`, parts);
  }
}

/** Goes on with a value: at once if it is there. */
export function after<T, U>(value: MaybeLater<T>, goOn: (value: T) => MaybeLater<U>): MaybeLater<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

async function readLater<T>(answer: PromiseLike<unknown>, rule: UserRule<T>, parts: RuleParts): Promise<T> {
  const over = new AbortController();
  const late = Symbol('late');
  try {
    const first = await Promise.race([answer, parts.clock.sleep(RULE_TIMEOUT_MS, over.signal).then(() => late)]);
    if (first !== late) return readNow(first, rule, parts);
    return instead(rule, `has not answered within ${RULE_TIMEOUT_MS} ms`, parts);
  } catch (error) {
    return instead(rule, `rejected with ${errorLine(error)}`, parts);
  } finally {
    over.abort();
  }
}

function readNow<T>(answer: unknown, rule: UserRule<T>, parts: RuleParts): T {
  const read = rule.read(answer);
  return read === undefined ? instead(rule, `answered ${seen(answer)}`, parts) : read;
}

function instead<T>({ name, expected, otherwise }: UserRule<T>, problem: string, { logger }: RuleParts): T {
  logger.warn(`The function \`${name}\` ${problem}, expected ${expected}: the default applies.`);
  return otherwise();
}

function errorLine(thrown: unknown): string {
  const { name, message } = storedError(thrown);
  return `${name}: ${message}`;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
