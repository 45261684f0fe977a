import { DURATION_EXPECTED, type Duration } from '../common/units.js';
import { expected, isOptions } from './expectation.js';
import { duration, either, group, option, type Option, type SchemaOf } from './option-schema.js';

/** How long finished jobs stay in the history. */
export interface RetentionOptions {
  /** For completed jobs; false: they are not kept. Default 1d. */
  completed?: Duration | false;
  /** For dead and cancelled jobs; false: they are not kept. Default 30d. */
  dead?: Duration | false;
}

export interface ResolvedRetention {
  readonly completedMs: number | false;
  readonly deadMs: number | false;
}

const RETAINED = either(false, duration);

const FIELDS = group(
  {
    completed: option(RETAINED, '1d'),
    dead: option(RETAINED, '30d'),
  } satisfies SchemaOf<RetentionOptions>,
  'retention.',
);

export const RETENTION: Option<ResolvedRetention> = {
  problems: FIELDS.problems,
  resolve: (given) => {
    const { completed, dead } = FIELDS.resolve(given);
    return { completedMs: completed, deadMs: dead };
  },
};

/** For both ends if it is a duration or false. */
export const JOB_RETENTION: Option<Partial<ResolvedRetention> | undefined> = {
  problems: (name, given) =>
    isOptions(given)
      ? FIELDS.problems(name, given)
      : [
          expected(
            RETAINED.parse(given) !== undefined,
            `${name} to be false, ${DURATION_EXPECTED}, or { completed, dead }`,
            given,
          ),
        ],
  resolve: (given) => {
    if (given === undefined) return undefined;
    if (!isOptions(given)) return { completedMs: RETAINED.parse(given)!, deadMs: RETAINED.parse(given)! };
    const { completed, dead } = given as RetentionOptions;
    return {
      ...(completed !== undefined && { completedMs: RETAINED.parse(completed)! }),
      ...(dead !== undefined && { deadMs: RETAINED.parse(dead)! }),
    };
  },
};
