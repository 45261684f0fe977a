import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, unknownKeys } from './expectation.js';

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

/** A delay, its rule, or a function of the attempt that failed (1 = first); false from it gives up: the job is dead. */
export type Backoff = Duration | BackoffOptions | ((attempt: number, error: Error) => Duration | false);

/** Milliseconds before the next attempt; false: there shall be none. */
export type BackoffMs = (attempt: number, error: Error, random: () => number) => number | false;

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

/** The checked backoff as a function. A function of the user's that throws or answers nonsense counts as the default. */
export function backoffMs(backoff: Backoff = {}): BackoffMs {
  if (typeof backoff === 'function') {
    return (attempt, error, random) => {
      const answer = answerOf(backoff, attempt, error);
      return answer === false ? false : (toMs(answer) ?? ofOptions({}, attempt, random));
    };
  }
  const options = typeof backoff === 'object' ? backoff : ({ type: 'fixed', delay: backoff } as const);
  return (attempt, _error, random) => ofOptions(options, attempt, random);
}

// The job has to go on whatever the function does: nobody could settle or rescue it otherwise.
function answerOf(backoff: Extract<Backoff, (...args: never) => unknown>, attempt: number, error: Error): unknown {
  try {
    return backoff(attempt, error);
  } catch {
    return undefined;
  }
}

function ofOptions(options: BackoffOptions, attempt: number, random: () => number): number {
  const { type = 'exponential', delay = '1s', max = '10m', jitter = type === 'fixed' ? 0 : 0.2 } = options;
  const delayMs = toMs(delay) ?? 1_000;
  const spread = 1 + jitter * (2 * random() - 1);
  if (type === 'fixed') return Math.round(delayMs * spread);
  return Math.round(Math.min(toMs(max) ?? 600_000, delayMs * 2 ** Math.min(attempt - 1, 50) * spread));
}
