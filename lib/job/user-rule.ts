import type { Clock } from '../common/clock.js';
import { isPromiseLike, type MaybePromise } from '../common/maybe-promise.js';
import { withTimeout } from '../common/abort.js';
import type { ContentCodec } from './codec/content-codec.js';
import { formatValue } from '../common/message-text.js';
import { storedError } from './stored-error.js';

export interface RuleParts {
  readonly random: () => number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: { warn(message: string): void };
  /** Decodes the payload for the functions of the options. Undefined: payloads are not encoded. */
  readonly codec?: ContentCodec | undefined;
}

/** A function of the options, with the parser of its result. */
export interface UserRule<T> {
  /** The name of the option. */
  readonly name: string;
  readonly call: () => unknown;
  /** Returns undefined for an unexpected result. */
  readonly parse: (answer: unknown) => T | undefined;
  readonly expected: string;
  readonly fallback: () => T;
}

// The job cannot end, and cannot be rescued, until its rules have returned.
const RULE_TIMEOUT_MS = 5_000;

/** Never rejects. If the function fails, the default applies and a warning is logged, because the job must continue. */
export function evaluateRule<T>(rule: UserRule<T>, parts: RuleParts): MaybePromise<T> {
  try {
    const answer = rule.call();
    return isPromiseLike(answer) ? parseLater(answer, rule, parts) : parseNow(answer, rule, parts);
  } catch (error) {
    return applyDefault(rule, `threw ${errorLine(error)}`, parts);
  }
}

async function parseLater<T>(answer: PromiseLike<unknown>, rule: UserRule<T>, parts: RuleParts): Promise<T> {
  let value: unknown;
  const answered = Promise.resolve(answer).then((answer) => (value = answer));
  try {
    if (await withTimeout(parts.clock, RULE_TIMEOUT_MS, answered)) return parseNow(value, rule, parts);
    return applyDefault(rule, `has not answered within ${RULE_TIMEOUT_MS} ms`, parts);
  } catch (error) {
    return applyDefault(rule, `rejected with ${errorLine(error)}`, parts);
  }
}

function parseNow<T>(answer: unknown, rule: UserRule<T>, parts: RuleParts): T {
  const read = rule.parse(answer);
  return read === undefined ? applyDefault(rule, `answered ${formatValue(answer)}`, parts) : read;
}

function applyDefault<T>({ name, expected, fallback }: UserRule<T>, problem: string, { logger }: RuleParts): T {
  logger.warn(`The function \`${name}\` ${problem}, expected ${expected}: the default applies.`);
  return fallback();
}

function errorLine(thrown: unknown): string {
  const { name, message } = storedError(thrown);
  return `${name}: ${message}`;
}
