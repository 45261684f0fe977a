import { groupOverridesAfter, type GroupLimitChange } from '../../../job/groups/group-options.js';
import type { Delay } from '../../../job/snooze.js';
import { runChange } from '../audit/run-change.js';
import type { Dialect } from '../../core/sql-database.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { execute, query, type Work } from '../../core/statement.js';
import { countGroups } from './count-groups.js';
import { pruneGroups } from './prune-groups.js';
import { wakeGroup } from '../../ends/wake-groups.js';
import type { GroupStore, GroupRecord, GroupSearch } from './group-store.js';
import { groupColumns, groupOverridesOf, type GroupName, type GroupRow, type LockedGroup } from './group-row.js';

// The position before the first job of any group. A new group has no active jobs: see prune-groups.ts.
const ADD = (lockDuplicate: string) => `
  INSERT INTO {groups} (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (:queue, :group, 'ready', :now, -32769, 0, '[]')
  ${lockDuplicate}`;

const LOCK = `
  SELECT ${groupColumns()}, :now AS at
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key = :group {lock}`;

const SET_STATE = `
  UPDATE {groups} {by primary}
  SET state = :state, turn = :turn
  WHERE queue = :queue AND group_key = :group`;

// Another rate starts unused: the times of the old one could block the group for as long as that rate.
const SET_OVERRIDES = `
  UPDATE {groups} {by primary}
  SET overrides = :overrides, rate_until_us = CASE WHEN :keepsUse = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN :keepsUse = 1 THEN rate_used ELSE 0 END
  WHERE queue = :queue AND group_key = :group`;

const SET_REST = `
  UPDATE {groups} {by primary}
  SET rest_until = :restUntil, rest_ms = :restMs
  WHERE queue = :queue AND group_key = :group`;

const LIST = `
  SELECT ${groupColumns()}, :now AS at
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key > :after AND (:state IS NULL OR state = :state)
  ORDER BY group_key
  LIMIT :limit`;

export function sqlGroupStore({ database, dialect }: StoreParts): GroupStore {
  return {
    list: (search) => database.runIdempotent(() => listGroups(search)),
    counts: (queue, groups, most) => database.runIdempotent(() => countGroups(queue, groups, most)),
    setPaused: (queue, group, paused, change) =>
      runChange(database, change, () => setGroupPaused(dialect, { queue, group }, paused)),
    setLimits: (queue, group, limits, change) =>
      runChange(database, change, () => changeGroupLimits(dialect, { queue, group }, limits)),
    rest: (queue, group, rest, change) => runChange(database, change, () => restGroup(dialect, { queue, group }, rest)),

    async wake(queue, group) {
      await database.transaction(() => wakeGroup({ queue, group })).catch(() => undefined);
    },

    prune: (limit) => pruneGroups(database, limit),
  };
}

function* setGroupPaused(dialect: Dialect, name: GroupName, paused: boolean): Work<void> {
  const row = yield* lockGroup(dialect, name);
  if (paused) yield* setState(name, 'paused', Number(row.turn));
  else if (row.state === 'paused') yield* setState(name, 'ready', Number(row.at));
}

function* changeGroupLimits(dialect: Dialect, name: GroupName, change: GroupLimitChange | null): Work<void> {
  const row = yield* lockGroup(dialect, name);
  const before = groupOverridesOf(row);
  const after = groupOverridesAfter(before, change);
  const keepsUse = JSON.stringify(before.rate) === JSON.stringify(after?.rate) ? 1 : 0;
  yield* execute(SET_OVERRIDES, { ...name, overrides: after && JSON.stringify(after), keepsUse });
  yield* examineSoon(name, row);
}

function* restGroup(dialect: Dialect, name: GroupName, rest: Delay | null): Work<void> {
  const row = yield* lockGroup(dialect, name);
  const restUntil = rest === null ? 0 : (rest.untilMs ?? Number(row.at) + rest.delayMs);
  if (rest !== null && restUntil <= Number(row.rest_until)) return;
  const restMs = rest === null || rest.untilMs !== undefined ? 0 : rest.delayMs;
  yield* execute(SET_REST, { ...name, restUntil, restMs });
  // The next claim of the group blocks it until the rest ends.
  yield* examineSoon(name, row);
}

function* lockGroup(dialect: Dialect, name: GroupName): Work<LockedGroup> {
  yield* execute(ADD(dialect.lockDuplicate('queue', 'group_key')), { ...name });
  return (yield* query<LockedGroup>(LOCK, { ...name }))[0]!;
}

/** A claim examines the group with its new limits. */
function* examineSoon(name: GroupName, { state, at }: LockedGroup): Work<void> {
  if (state === 'blocked' || state === 'idle') yield* setState(name, 'ready', Number(at));
}

function setState(name: GroupName, state: GroupRow['state'], turn: number): Work<number> {
  return execute(SET_STATE, { ...name, state, turn });
}

function* listGroups({ queue, state, after, limit }: GroupSearch): Work<GroupRecord[]> {
  const values = { queue, after, limit, state: state ?? null };
  return (yield* query<GroupRow & { at: number }>(LIST, values)).map((row) => {
    const { weight = 1, ...limits } = groupOverridesOf(row);
    const restsUntil = Number(row.rest_until) > Number(row.at) ? new Date(Number(row.rest_until)) : null;
    return { queue, group: row.group_key, state: row.state, ...limits, weight, restsUntil };
  });
}
