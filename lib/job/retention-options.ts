import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, unknownKeys } from './expectation.js';

export interface RetentionOptions {
  /** How long a completed job stays in the history; false: it is not kept at all. Default 1d. */
  completed?: Duration | false;
  /** The same for dead and cancelled jobs. Default 30d. */
  dead?: Duration | false;
}

export interface ResolvedRetention {
  readonly completedMs: number | false;
  readonly deadMs: number | false;
}

/** Fills in the defaults. The options have been checked. */
export function resolveRetention({ completed = '1d', dead = '30d' }: RetentionOptions = {}): ResolvedRetention {
  return {
    completedMs: completed === false ? false : toMs(completed)!,
    deadMs: dead === false ? false : toMs(dead)!,
  };
}

export function retentionProblems(retention: unknown): (string | undefined)[] {
  if (retention === undefined) return [];
  if (typeof retention !== 'object' || retention === null) {
    return [expected(false, 'retention to be { completed?, dead? }', retention)];
  }
  const { completed = false, dead = false } = retention as RetentionOptions;
  return [
    ...unknownKeys(retention, ['completed', 'dead']),
    ...Object.entries({ completed, dead }).map(([key, value]) =>
      expected(
        value === false || toMs(value) !== undefined,
        `retention.${key} to be false or ${DURATION_EXPECTED}`,
        value,
      ),
    ),
  ];
}
