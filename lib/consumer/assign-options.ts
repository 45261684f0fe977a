import { flag, option, type SchemaOf } from '../job/option-schema.js';

export interface AssignOptions {
  /** Whether to take the job from another claim holder. Default true. */
  reassign?: boolean;
}

export const ASSIGN_OPTIONS = { reassign: option(flag, true) } satisfies SchemaOf<AssignOptions>;
