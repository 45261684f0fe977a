import { readGroupOverrides, type GroupOverrides, type GroupRules } from '../../../job/groups/group-options.js';
import { restUntil } from '../limits/rest.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { TableRow } from '../../tables/table-schemas.js';

const STORED_COLUMNS = [
  'group_key',
  'state',
  'turn',
  'head_priority',
  'head_id',
  'active_ids',
  'overrides',
  'rate_until_us',
  'rate_used',
];

/** @param row such as `g.` */
export function groupColumns(row = ''): string {
  return `${STORED_COLUMNS.map((column) => row + column).join(', ')}, ${restUntil(row)} AS rest_until`;
}

/** From `g`. Instead of the end of the rest, what restEndOf needs. */
export const LOCKED_GROUP_COLUMNS = [...STORED_COLUMNS, 'rest_until', 'rest_ms']
  .map((column) => `g.${column}`)
  .join(', ');

/**
 * In a statement: the job waits between two of its runs, so it keeps its place in the limit of its group. A job that starts
 * anew, by `replace` or a retry, may be listed as active still. It has no attempt and no due time until it is promoted.
 */
export const KEEPS_PLACE = `state = 'scheduled' AND (attempt > 0 OR due_at IS NOT NULL)`;

export type GroupRow = Omit<TableRow<'groups'>, 'queue' | 'rest_ms'>;

export type LockedGroup = GroupRow & { readonly at: number };

export interface GroupName {
  readonly queue: string;
  readonly group: string;
}

/** The place of a group among the groups of a queue in one state. */
export type GroupPosition = Readonly<{ turn: number; group: string }>;

export function groupOverridesOf({ overrides }: Pick<GroupRow, 'overrides'>): GroupOverrides {
  return readGroupOverrides(parseJsonOrNull(overrides));
}

export type GroupLimits = Pick<GroupRules, 'concurrency' | 'rate'> & { readonly weight: number };

export function groupLimitsOf(row: Pick<GroupRow, 'overrides'>, { concurrency, rate }: GroupRules): GroupLimits {
  return { concurrency, rate, weight: 1, ...groupOverridesOf(row) };
}
