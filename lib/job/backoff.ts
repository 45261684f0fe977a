import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, unknownKeys } from './expectation.js';
import { askRule, type MaybeLater, type RuleParts } from './user-rule.js';

/** How long to wait before a failed attempt is tried again. */
export interface BackoffOptions {
  /** `fixed`: always `delay`. `exponential`: `delay`, 2 × `delay`, 4 × `delay` … Default `exponential`. */
  type?: 'fixed' | 'exponential';
  /** Before the second attempt. Default 1s. */
  delay?: Duration;
  /** Never longer than this. Default 10m. */
  max?: Duration;
  /**
   * 0 to 1: how far chance may move the delay, either way, so that jobs that failed together do not retry together. Default
   * 0.2 if the backoff is exponential, 0 if it is fixed.
   */
  jitter?: number;
}

/**
 * A delay, its rule, or a function of the attempt that failed (1 = first); false from it gives up: the job is dead. The function
 * may be async. If it fails, answers something else or takes longer than 5 s, that is logged, and the default backoff applies.
 */
export type Backoff =
  Duration | BackoffOptions | ((attempt: number, error: Error) => Duration | false | Promise<Duration | false>);

/** Milliseconds before the next attempt; false: there shall be none. */
export type BackoffMs = (attempt: number, error: Error, parts: RuleParts) => MaybeLater<number | false>;

const KNOWN = ['type', 'delay', 'max', 'jitter'] as const;

/** What is wrong with a backoff, one line a problem; none where it is fine. */
export function backoffProblems(backoff: unknown): (string | undefined)[] {
  if (typeof backoff === 'function') return [];
  if (typeof backoff !== 'object' || backoff === null) {
    return [
      expected(toMs(backoff) !== undefined, `backoff to be ${DURATION_EXPECTED}, options or a function`, backoff),
    ];
  }
  const { type = 'exponential', delay = 0, max = 0, jitter = 0 } = backoff as BackoffOptions;
  return [
    ...unknownKeys(backoff, KNOWN),
    expected(type === 'fixed' || type === 'exponential', `backoff.type to be 'fixed' or 'exponential'`, type),
    expected(toMs(delay) !== undefined, `backoff.delay to be ${DURATION_EXPECTED}`, delay),
    expected(toMs(max) !== undefined, `backoff.max to be ${DURATION_EXPECTED}`, max),
    expected(typeof jitter === 'number' && jitter >= 0 && jitter <= 1, 'backoff.jitter to be 0 to 1', jitter),
  ];
}

/**
 * The checked backoff as a function. A function of the user's that fails, or answers something else than a duration or false,
 * counts as the default.
 */
export function backoffMs(backoff: Backoff = {}): BackoffMs {
  if (typeof backoff === 'function') {
    return (attempt, error, parts) => {
      const rule = {
        name: 'backoff',
        ask: () => backoff(attempt, error),
        read: (answer: unknown) => (answer === false ? false : toMs(answer)),
        expected: `${DURATION_EXPECTED} or false`,
        otherwise: () => ofOptions({}, attempt, parts.random),
      };
      return askRule<number | false>(rule, parts);
    };
  }
  const options = typeof backoff === 'object' ? backoff : ({ type: 'fixed', delay: backoff } as const);
  return (attempt, _error, { random }) => ofOptions(options, attempt, random);
}

function ofOptions(options: BackoffOptions, attempt: number, random: () => number): number {
  const { type = 'exponential', delay = '1s', max = '10m', jitter = type === 'fixed' ? 0 : 0.2 } = options;
  const delayMs = toMs(delay) ?? 1_000;
  const spread = 1 + jitter * (2 * random() - 1);
  if (type === 'fixed') return Math.round(delayMs * spread);
  return Math.round(Math.min(toMs(max) ?? 600_000, delayMs * 2 ** Math.min(attempt - 1, 50) * spread));
}
