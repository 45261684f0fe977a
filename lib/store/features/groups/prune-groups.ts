import { groupBy, pageSize } from '../../../common/lists.js';
import { readIds } from '../../../job/read-columns.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { deleteFrom, execute, query, queryInBatches, type Work } from '../../core/statement.js';
import { findActiveJobs } from './active-jobs.js';
import type { GroupName, GroupRow } from './group-row.js';

const IDLE_MS = 3_600_000;

const IS_UNUSED = `state = 'idle' AND turn < :now - ${IDLE_MS} AND overrides IS NULL AND rest_until < :now AND rate_until_us < :now * 1000`;

// Without an index: the pruner reads the groups of all queues once per round.
const UNUSED = `
  SELECT queue, group_key
  FROM {groups} {by primary}
  WHERE queue >= :queue AND (queue > :queue OR group_key > :group) AND ${IS_UNUSED}
  ORDER BY queue, group_key
  LIMIT :limit`;

const LOCK_UNUSED = `
  SELECT active_ids
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key = :group AND ${IS_UNUSED}
  {lock free}`;

const REMAINING = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND queue = :queue`;

const DELETE = deleteFrom('groups', 'queue = :queue AND group_key = :group');

const PAGE_SIZE = 500;
const IDS_PER_STATEMENT = 1_000;

/**
 * Deletes at most `limit` groups that were idle for an hour, and returns their number. A group with a job that has run for
 * as long stays, and so does one that another transaction has locked.
 */
export async function pruneGroups(
  database: Pick<SqlDatabase, 'runIdempotent' | 'transaction'>,
  limit: number,
): Promise<number> {
  let deleted = 0;
  for (let after: GroupName | undefined = FIRST; after && deleted < limit;) {
    const page: UnusedPage = await database.runIdempotent(() => readUnused(after!));
    for (const name of page.groups.slice(0, limit - deleted))
      deleted += await database.transaction(() => deleteUnused(name));
    after = page.next;
  }
  return deleted;
}

interface UnusedPage {
  readonly groups: readonly GroupName[];
  readonly next: GroupName | undefined;
}

const FIRST: GroupName = { queue: '', group: '' };

/** Reads without locks. Nothing can claim a job of these groups before the group is ready again. */
function* readUnused({ queue, group }: GroupName): Work<UnusedPage> {
  const limit = pageSize(PAGE_SIZE);
  const rows = yield* query<{ queue: string; group_key: string }>(UNUSED, { queue, group, limit });
  const unused = rows.map((row): GroupName => ({ queue: row.queue, group: row.group_key }));
  const groups: GroupName[] = [];
  for (const [name, ofQueue] of groupBy(unused, (each) => each.queue)) {
    const keys = ofQueue.map((each) => each.group);
    const active = yield* findActiveJobs(name, keys);
    groups.push(...ofQueue.filter((each) => !active.has(each.group)));
  }
  return { groups, next: rows.length < limit ? undefined : unused.at(-1) };
}

function* deleteUnused({ queue, group }: GroupName): Work<number> {
  const [row] = yield* query<Pick<GroupRow, 'active_ids'>>(LOCK_UNUSED, { queue, group });
  if (!row) return 0;
  // A job that waits for its next attempt keeps the place in its group.
  const listed = readIds(row.active_ids) ?? [];
  if ((yield* queryInBatches(REMAINING, listed, IDS_PER_STATEMENT, { queue })).length > 0) return 0;
  return yield* execute(DELETE, { queue, group });
}
