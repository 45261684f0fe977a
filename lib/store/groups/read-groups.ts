import { readIds } from '../../job/read-columns.js';
import { query, type Work } from '../core/statement.js';
import { batchesOf } from '../../common/batches-of.js';
import type { GroupCounts, GroupRecord, GroupSearch } from './group-store.js';
import { GROUP_COLUMNS, groupOverridesOf, type GroupRow } from './group-row.js';

const LIST = `
  SELECT ${GROUP_COLUMNS}, :now AS at
  FROM {groups} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND group_key > :after AND (:state IS NULL OR state = :state)
  ORDER BY group_key
  LIMIT :limit`;

// Both read only index queue.
const COUNT_WAITING = `
  SELECT COUNT(*) AS jobs
  FROM {jobs} /*! FORCE INDEX ({jobs}_queue) */
  WHERE queue = :queue AND runnable IN (1, 2, 3, 4, 5) AND run_at IS NULL AND group_key = :group`;

const COUNT_SCHEDULED = `
  SELECT COUNT(*) AS jobs
  FROM {jobs} /*! FORCE INDEX ({jobs}_queue) */
  WHERE queue = :queue AND runnable IN (0, 1) AND run_at IS NOT NULL AND group_key = :group`;

const CLAIMS = `
  SELECT job_ids
  FROM {claims}
  WHERE queue = :queue`;

const COUNT_ACTIVE = `
  SELECT COUNT(*) AS jobs
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id <> 0 AND queue = :queue AND group_key = :group`;

const ID_BATCH_SIZE = 1_000;

export function* listGroups({ queue, state, after, limit }: GroupSearch): Work<GroupRecord[]> {
  const values = { queue, after, limit, state: state ?? null };
  return (yield* query<GroupRow & { at: number }>(LIST, values)).map((row) => {
    const { weight = 1, ...limits } = groupOverridesOf(row);
    const restsUntil = Number(row.rest_until) > Number(row.at) ? new Date(Number(row.rest_until)) : null;
    return { queue, group: row.group_key, state: row.state, ...limits, weight, restsUntil };
  });
}

export function* countGroup(queue: string, group: string): Work<GroupCounts> {
  const values = { queue, group };
  const unclaimed = yield* count(COUNT_WAITING, values);
  const scheduled = yield* count(COUNT_SCHEDULED, values);
  const claims = yield* query<{ job_ids: string }>(CLAIMS, { queue });
  const claimed = claims.flatMap(({ job_ids }) => readIds(job_ids) ?? []);
  let active = 0;
  for (const ids of batchesOf(claimed, ID_BATCH_SIZE)) active += yield* count(COUNT_ACTIVE, { ...values, ids });
  // The reads are not one snapshot.
  return { waiting: Math.max(0, unclaimed - active), scheduled, active };
}

function* count(sql: string, values: Record<string, string | readonly number[]>): Work<number> {
  const [row] = yield* query<{ jobs: number }>(sql, values);
  return Number(row!.jobs);
}
