import { readGroupOverrides, type GroupOverrides, type GroupRules } from '../../job/groups/group-options.js';
import { readIds } from '../../job/read-columns.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import type { Dialect } from '../core/sql-database.js';

/**
 * `idle`: no job waits, as far as known. `ready`: the group takes part in the rotation. `blocked`: it has reached a limit
 * or rests, until `turn` or until one of its jobs ends. `paused`: by an administrator.
 */
export type GroupState = 'idle' | 'ready' | 'blocked' | 'paused';

export const GROUP_COLUMNS =
  'group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, rest_until';

export interface GroupRow {
  readonly group_key: string;
  readonly state: GroupState;
  /** `ready`: the time of the last turn. `blocked`: the time of the next look. In milliseconds since 1970. */
  readonly turn: number;
  /** No job waits in the group up to this position. */
  readonly head_priority: number;
  readonly head_id: number;
  /** JSON: the jobs that count against the limit. Some of them may have ended. */
  readonly active_ids: string | null;
  /** JSON: the limits and the weight that the administrator has set. */
  readonly overrides: string | null;
  readonly rate_until_us: number;
  readonly rate_used: number;
  readonly rest_until: number;
}

/** An INSERT of groups that changes existing ones, for each kind of database. `given` is the value to insert. */
export function onDialects(
  sqlOf: (onDuplicate: string, given: (column: string) => string) => string,
): Readonly<Record<Dialect['name'], string>> {
  const mysql = sqlOf('ON DUPLICATE KEY UPDATE', (column) => `VALUES(${column})`);
  const sqlite = sqlOf('ON CONFLICT (queue, group_key) DO UPDATE SET', (column) => `excluded.${column}`);
  return { mysql, mariadb: mysql, sqlite };
}

export function groupOverridesOf({ overrides }: Pick<GroupRow, 'overrides'>): GroupOverrides {
  return readGroupOverrides(parseJsonOrNull(overrides));
}

export type GroupLimits = Pick<GroupRules, 'concurrency' | 'rate'> & { readonly weight: number };

export function groupLimitsOf(row: Pick<GroupRow, 'overrides'>, { concurrency, rate }: GroupRules): GroupLimits {
  return { concurrency, rate, weight: 1, ...groupOverridesOf(row) };
}

export function activeIdsOf({ active_ids }: Pick<GroupRow, 'active_ids'>): readonly number[] {
  return readIds(active_ids) ?? [];
}

/** The order of the primary key, in which every transaction locks the groups of a queue. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
