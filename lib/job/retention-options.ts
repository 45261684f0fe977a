import type { Duration } from '../common/duration.js';
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

const FIELDS = group(
  {
    completed: option(either(false, duration), '1d'),
    dead: option(either(false, duration), '30d'),
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
