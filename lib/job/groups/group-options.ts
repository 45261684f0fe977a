import { isOptions } from '../expectation.js';
import { isWhole } from '../identifiers.js';
import { applyChange, changeProblems, RATE, readLimits, type Rate, type RateOptions } from '../limits/limit-options.js';
import { either, group, oneOf, option, orNull, whole, type Option, type SchemaOf } from '../option-schema.js';

/** How the groups of a queue share it. Each job with the option `group` belongs to a group, the others to `default`. */
export interface GroupOptions {
  /**
   * The limit of active jobs of one group in all processes together, 1 to 1,000,000. With 1 the jobs of a group run one
   * after the other, in their order. Workers do not prefetch jobs of groups with a limit. Default false: no limit.
   */
  concurrency?: number | false;
  /** How many jobs of one group may start in a time, in all processes together. Default false: no limit. */
  rate?: RateOptions | false;
  /** The jobs of a group that start in its turn, 1 to 1,000. A group with a weight starts that many times more. Default 1. */
  quantum?: number;
  /**
   * Whether a job that waits for its next attempt, or snoozes or sleeps, keeps its place in the limit of its group.
   * `wait`: it does, so with a concurrency of 1 the later jobs of the group wait for it. `pass`: other jobs of the group
   * run in the meantime. Default: `wait` with a concurrency of 1, else `pass`.
   */
  onRetry?: 'wait' | 'pass';
}

/** A change of the limits of one group. */
export interface GroupLimitChange {
  /** Active jobs of the group, 1 to 1,000,000. False: no limit. Null: as in the options of the queue. */
  concurrency?: number | false | null;
  /** False: no limit. Null: as in the options of the queue. */
  rate?: RateOptions | false | null;
  /** How many times the share of a group with weight 1 it gets, 1 to 1,000. Null: 1. */
  weight?: number | null;
}

/** The resolved options. Null: no limit. */
export interface GroupRules {
  readonly concurrency: number | null;
  readonly rate: Rate | null;
  readonly quantum: number;
  readonly onRetry: 'wait' | 'pass';
}

/** The limits of one group that the administrator has set. A missing one is as in the options of the queue. */
export type GroupOverrides = Partial<Pick<GroupRules, 'concurrency' | 'rate'> & { readonly weight: number }>;

/** For a queue that has jobs with groups, but no options for them in this process. */
export const DEFAULT_GROUP_RULES: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };

const CONCURRENCY = option(either(false, whole(1, 1_000_000)), false);

const GROUP_OPTIONS = group(
  {
    concurrency: CONCURRENCY,
    rate: RATE,
    quantum: option(whole(1, 1_000), 1),
    onRetry: option(oneOf('wait', 'pass')),
  } satisfies SchemaOf<GroupOptions>,
  'groups.',
);

/** Null: the queue has no groups. */
export const GROUPS: Option<GroupRules | null> = {
  problems: GROUP_OPTIONS.problems,
  resolve: (value) => (value === undefined ? null : resolveGroups(value)),
};

const GROUP_LIMIT_CHANGE = {
  concurrency: orNull(CONCURRENCY),
  rate: orNull(RATE),
  weight: orNull(option(whole(1, 1_000))),
} satisfies SchemaOf<GroupLimitChange>;

function resolveGroups(given: unknown): GroupRules {
  const { concurrency, rate, quantum, onRetry } = GROUP_OPTIONS.resolve(given);
  return {
    concurrency: concurrency || null,
    rate: rate || null,
    quantum,
    onRetry: onRetry ?? (concurrency === 1 ? 'wait' : 'pass'),
  };
}

export function groupLimitChangeProblems(change: unknown): (string | undefined)[] {
  return changeProblems(GROUP_LIMIT_CHANGE, change);
}

/** The change has been checked. Null: none are left. */
export function groupOverridesAfter(before: GroupOverrides, change: GroupLimitChange | null): GroupOverrides | null {
  if (change === null) return null;
  const after = applyChange(GROUP_LIMIT_CHANGE, before, change);
  return Object.keys(after).length === 0 ? null : after;
}

/** The parts of a stored JSON text that are valid. */
export function readGroupOverrides(value: unknown): GroupOverrides {
  if (!isOptions(value)) return {};
  const { concurrency, weight } = value as Readonly<Record<string, unknown>>;
  const { rate } = readLimits(value);
  return {
    ...((concurrency === null || isWhole(concurrency, 1, 1_000_000)) && { concurrency }),
    ...(rate !== undefined && { rate }),
    ...(isWhole(weight, 1, 1_000) && { weight }),
  };
}
