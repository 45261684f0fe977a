import { batchesOf, groupBy } from '../../../common/lists.js';
import type { GroupRules } from '../../../job/groups/group-options.js';
import { readIds } from '../../../job/read-columns.js';
import {
  executeInBatches,
  Ids,
  statement,
  type SqlValue,
  type Statement,
  type StatementResult,
  type Work,
} from '../../core/statement.js';
import type { ClaimRequest } from '../../rows/claim.js';
import { IN_GROUP, RETURNED } from '../../tables/runnable.js';
import { findActiveJobs } from './active-jobs.js';
import { groupLimitsOf, KEEPS_PLACE, type GroupLimits, type GroupRow, type LockedGroup } from './group-row.js';
import { roomOf, type Position, type Turn } from './turn.js';

// Without locks: after a commit the server frees the row of a group before those of its jobs. The next claim of the group
// would pass over a job that is still locked.
const headOf = (index: number) => `
  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND runnable = ${IN_GROUP} AND run_at IS NULL AND group_key = :group${index} AND state = 'waiting'
      AND ((priority = :priority${index} AND id > :id${index}) OR priority > :priority${index})
    ORDER BY priority, id
    LIMIT :limit${index}
  ) AS head_${index}`;

const RETURNED_JOBS = `
  SELECT group_key, priority, id
  FROM {jobs} {by jobs.queue}
  WHERE queue = :queue AND runnable = ${RETURNED} AND run_at IS NULL AND group_key IN (:groups) AND state = 'waiting'`;

const COUNTED = `
  SELECT id, group_key
  FROM {jobs} {by primary}
  WHERE :ids AND queue = :queue AND (state = 'active' OR (${KEEPS_PLACE} AND :keepsPlace = 1))`;

// With few groups a claim takes several jobs of each, and some groups have fewer jobs than their share.
const SPARE_SHARE = 2;

// SQLite accepts 500 parts of a UNION. Longer ones cost the servers more for each part.
const GROUPS_PER_STATEMENT = 100;
const IDS_PER_STATEMENT = 1_000;
const STATEMENTS_PER_STEP = 20;

type HeadRow = Position & Pick<GroupRow, 'group_key'>;

interface GroupToRead {
  readonly row: LockedGroup;
  readonly limits: GroupLimits;
  readonly toRead: number;
  /** The jobs that may count against the limit of the group. */
  readonly mayCount: readonly number[];
}

/** Reads the first jobs of each group, and counts its active jobs. */
export function* readTurns(
  { queue, limit }: ClaimRequest,
  rules: GroupRules,
  rows: readonly LockedGroup[],
): Work<Turn[]> {
  const groups = yield* groupsToRead(queue, limit, rules, rows);
  const toCount = groups.flatMap(({ mayCount }) => mayCount);
  const keepsPlace = rules.onRetry === 'wait' ? 1 : 0;
  const counts = inBatches(toCount, IDS_PER_STATEMENT, (ids) =>
    statement(COUNTED, { ids: new Ids(ids), queue, keepsPlace }),
  );
  const heads = inBatches(groups, GROUPS_PER_STATEMENT, (batch) => readHeads(queue, batch));
  // Counts before it reads the heads: a job that returns in between has its place still, or is the first one.
  const answers = yield* executeInBatches([...counts, ...heads], STATEMENTS_PER_STEP);
  const counted = rowsOf<HeadRow>(answers.slice(0, counts.length));
  const waitingOf = groupBy(rowsOf<HeadRow>(answers.slice(counts.length)), ({ group_key }) => group_key);
  // `replace` may have moved a job to another group since the row of its group listed it.
  const groupOf = new Map(counted.map(({ id, group_key }) => [Number(id), group_key]));
  return groups.map(({ row, limits, toRead, mayCount }) => {
    const activeIds = mayCount.filter((id) => groupOf.get(id) === row.group_key);
    const nowMs = Number(row.at);
    const found = (waitingOf.get(row.group_key) ?? []).sort((a, b) => a.priority - b.priority || a.id - b.id);
    return {
      ...{ row, limits, nowMs, activeIds, room: roomOf(row, limits, activeIds.length, nowMs) },
      // A group whose share is small may take the shares of others that are at their limits.
      // Returned jobs may stand behind jobs that were not read.
      ...{ waiting: found.slice(0, toRead), mayHaveMore: found.length >= toRead, taken: [], stoppedBy: undefined },
    };
  });
}

function* groupsToRead(
  queue: string,
  limit: number,
  rules: GroupRules,
  rows: readonly LockedGroup[],
): Work<GroupToRead[]> {
  const wanted = Math.ceil(limit / rules.quantum);
  const share = rows.length < wanted ? Math.ceil(limit / rows.length) * SPARE_SHARE : 1;
  const groups = rows.map((row) => {
    const listed = row.active_ids === null ? undefined : readIds(row.active_ids);
    return { row, limits: groupLimitsOf(row, rules), listed };
  });
  const isUncounted = ({ limits, listed }: (typeof groups)[number]) => limits.concurrency !== null && !listed;
  const uncounted = groups.filter(isUncounted).map(({ row }) => row.group_key);
  const activeOf = yield* findActiveJobs(queue, uncounted);
  return groups.map(({ row, limits, listed }) => ({
    ...{ row, limits },
    // One more than its share, to see whether more jobs wait.
    toRead: Math.min(limit, Math.max(share, rules.quantum * limits.weight)) + 1,
    mayCount: limits.concurrency === null ? [] : (listed ?? activeOf.get(row.group_key) ?? []),
  }));
}

function readHeads(queue: string, groups: readonly GroupToRead[]): Statement {
  const values: Record<string, SqlValue | readonly string[]> = {
    queue,
    groups: groups.map(({ row }) => row.group_key),
  };
  groups.forEach(({ row, toRead }, index) => {
    values[`group${index}`] = row.group_key;
    values[`priority${index}`] = row.head_priority;
    values[`id${index}`] = row.head_id;
    values[`limit${index}`] = toRead;
  });
  return statement([...groups.map((_, index) => headOf(index)), RETURNED_JOBS].join(' UNION ALL '), values);
}

function inBatches<Item>(items: readonly Item[], size: number, toStatement: (batch: Item[]) => Statement): Statement[] {
  return Array.from(batchesOf(items, size), toStatement);
}

function rowsOf<Row>(results: readonly StatementResult[]): Row[] {
  return results.flatMap(({ rows }) => rows as unknown as readonly Row[]);
}
