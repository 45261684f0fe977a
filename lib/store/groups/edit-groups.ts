import { groupOverridesAfter, type GroupLimitChange } from '../../job/groups/group-options.js';
import type { Delay } from '../../job/outcome.js';
import type { Dialect } from '../core/sql-database.js';
import { execute, Ids, query, type Work } from '../core/statement.js';
import { activeIdsOf, GROUP_COLUMNS, groupOverridesOf, type GroupRow, type GroupState } from './group-row.js';

// The position before the first job of any group.
const ADD = (ifMissing: string) => `
  INSERT INTO {groups} (queue, group_key, state, turn, head_priority, head_id)
  VALUES (:queue, :group, 'ready', :now, -32769, 0)
  ${ifMissing}`;

const IF_MISSING = {
  mysql: 'ON DUPLICATE KEY UPDATE queue = queue',
  sqlite: 'ON CONFLICT (queue, group_key) DO NOTHING',
};

const LOCK = `
  SELECT ${GROUP_COLUMNS}, :now AS at
  FROM {groups} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND group_key = :group /*! FOR UPDATE */`;

const SET_STATE = `
  UPDATE {groups} /*! FORCE INDEX (PRIMARY) */
  SET state = :state, turn = :turn
  WHERE queue = :queue AND group_key = :group`;

// Another rate starts unused: the times of the old one could block the group for as long as that rate.
const SET_OVERRIDES = `
  UPDATE {groups} /*! FORCE INDEX (PRIMARY) */
  SET overrides = :overrides, rate_until_us = CASE WHEN :keepsUse = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN :keepsUse = 1 THEN rate_used ELSE 0 END
  WHERE queue = :queue AND group_key = :group`;

const SET_REST = `
  UPDATE {groups} /*! FORCE INDEX (PRIMARY) */
  SET rest_until = :restUntil
  WHERE queue = :queue AND group_key = :group`;

const IDLE_MS = 3_600_000;

// Without an index: the pruner reads the groups of all queues once per round.
const UNUSED = `
  SELECT queue, group_key
  FROM {groups}
  WHERE state = 'idle' AND turn < :now - ${IDLE_MS} AND overrides IS NULL AND rest_until < :now AND rate_until_us < :now * 1000
  LIMIT :limit`;

const LOCK_UNUSED = `
  SELECT active_ids
  FROM {groups} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND group_key = :group AND state = 'idle' AND turn < :now - ${IDLE_MS} AND overrides IS NULL
  /*! FOR UPDATE SKIP LOCKED */`;

const STILL_ACTIVE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND queue = :queue`;

const DELETE = `
  DELETE /*! {groups} */ FROM {groups} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND group_key = :group`;

export interface GroupName {
  readonly queue: string;
  readonly group: string;
}

type LockedGroup = GroupRow & { readonly at: number };

export function* setGroupPaused(dialect: Pick<Dialect, 'name'>, name: GroupName, paused: boolean): Work<void> {
  const row = yield* lockGroup(dialect, name);
  if (paused) yield* setState(name, 'paused', Number(row.turn));
  else if (row.state === 'paused') yield* setState(name, 'ready', Number(row.at));
}

export function* changeGroupLimits(
  dialect: Pick<Dialect, 'name'>,
  name: GroupName,
  change: GroupLimitChange | null,
): Work<void> {
  const row = yield* lockGroup(dialect, name);
  const before = groupOverridesOf(row);
  const after = groupOverridesAfter(before, change);
  const keepsUse = JSON.stringify(before.rate) === JSON.stringify(after?.rate) ? 1 : 0;
  yield* execute(SET_OVERRIDES, { ...name, overrides: after && JSON.stringify(after), keepsUse });
  yield* examineSoon(name, row);
}

export function* restGroup(dialect: Pick<Dialect, 'name'>, name: GroupName, rest: Delay | null): Work<void> {
  const row = yield* lockGroup(dialect, name);
  const restUntil = rest === null ? 0 : (rest.untilMs ?? Number(row.at) + rest.delayMs);
  if (rest !== null && restUntil <= Number(row.rest_until)) return;
  yield* execute(SET_REST, { ...name, restUntil });
  // The next claim of the group blocks it until the rest ends.
  yield* examineSoon(name, row);
}

/** Reads without locks. */
export function* findUnusedGroups(limit: number): Work<GroupName[]> {
  const rows = yield* query<{ queue: string; group_key: string }>(UNUSED, { limit });
  return rows.map(({ queue, group_key }) => ({ queue, group: group_key }));
}

export function* deleteUnusedGroup(name: GroupName): Work<void> {
  const [row] = yield* query<Pick<GroupRow, 'active_ids'>>(LOCK_UNUSED, { ...name });
  if (!row) return;
  const ids = activeIdsOf(row);
  // A job that runs for an hour keeps the place in its group.
  if (ids.length > 0 && (yield* query(STILL_ACTIVE, { queue: name.queue, ids: new Ids(ids) })).length > 0) return;
  yield* deleteGroup(name);
}

export function* deleteGroup(name: GroupName): Work<void> {
  yield* execute(DELETE, { ...name });
}

function* lockGroup(dialect: Pick<Dialect, 'name'>, name: GroupName): Work<LockedGroup> {
  yield* execute(ADD(IF_MISSING[dialect.name === 'sqlite' ? 'sqlite' : 'mysql']), { ...name });
  return (yield* query<LockedGroup>(LOCK, { ...name }))[0]!;
}

/** A claim examines the group with its new limits. */
function* examineSoon(name: GroupName, { state, at }: LockedGroup): Work<void> {
  if (state === 'blocked' || state === 'idle') yield* setState(name, 'ready', Number(at));
}

function setState(name: GroupName, state: GroupState, turn: number): Work<number> {
  return execute(SET_STATE, { ...name, state, turn });
}
