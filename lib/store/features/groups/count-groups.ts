import { batchesOf, groupBy } from '../../../common/lists.js';
import { idsInClaims } from '../../reads/live-candidates.js';
import { ARRIVING, IN_GROUP, IN_QUEUE, RETURNED, SCHEDULED } from '../../tables/runnable.js';
import { query, queryInBatches, type Work } from '../../core/statement.js';
import type { GroupCounts, MaxGroupCounts } from './group-store.js';

// One range of index queue each. With `runnable IN` and a LIMIT, MySQL reads the whole index.
const countWaiting = (groups: number) =>
  Array.from({ length: groups }, (_, index) =>
    UNCLAIMED.map(
      (runnable) => `
  SELECT :group${index} AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND runnable = ${runnable} AND run_at IS NULL AND group_key = :group${index}
    LIMIT :most
  ) AS range_${index}_${runnable}`,
    ),
  )
    .flat()
    .join(' UNION ALL ');

// Reads only index queue, which has the jobs by their due times.
const COUNT_SCHEDULED = `
  SELECT group_key, COUNT(*) AS jobs
  FROM (
    SELECT group_key
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND runnable IN (${SCHEDULED}, ${IN_QUEUE}) AND run_at IS NOT NULL
    LIMIT :mostScheduled
  ) AS scheduled
  WHERE group_key IN (:groups)
  GROUP BY group_key`;

const COUNT_ACTIVE = `
  SELECT group_key, COUNT(*) AS jobs
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id <> 0 AND queue = :queue AND group_key IN (:groups)
  GROUP BY group_key`;

// The values of `runnable` of jobs that are due. A plain INSERT on SQLite leaves a job of a group at 1.
const UNCLAIMED = [1, 2, IN_GROUP, ARRIVING, RETURNED];

const ID_BATCH_SIZE = 1_000;
const GROUP_BATCH_SIZE = 10;

const UNBOUNDED: MaxGroupCounts = { waiting: Number.MAX_SAFE_INTEGER, scheduled: Number.MAX_SAFE_INTEGER };

/** The jobs of each group that are not finished, in the order of the groups. */
export function* countGroups(
  queue: string,
  groups: readonly string[],
  { waiting: most, scheduled: mostScheduled }: MaxGroupCounts = UNBOUNDED,
): Work<GroupCounts[]> {
  if (groups.length === 0) return [];
  const unclaimed: CountRow[] = [];
  for (const batch of batchesOf(groups, GROUP_BATCH_SIZE)) {
    const names = Object.fromEntries(batch.map((group, index) => [`group${index}`, group]));
    unclaimed.push(...(yield* query<CountRow>(countWaiting(batch.length), { queue, most, ...names })));
  }
  const scheduled = yield* query<CountRow>(COUNT_SCHEDULED, { queue, groups, mostScheduled });
  const claimed = [...new Set(yield* idsInClaims({ queue }))];
  const active = yield* queryInBatches<CountRow>(COUNT_ACTIVE, claimed, ID_BATCH_SIZE, { queue, groups });
  const [waitingOf, scheduledOf, activeOf] = [unclaimed, scheduled, active].map(sumsOf);
  return groups.map((group) => ({
    // The index counts active jobs as waiting. The reads are not one snapshot.
    waiting: Math.max(0, Math.min(most, waitingOf!(group)) - activeOf!(group)),
    scheduled: scheduledOf!(group),
    active: activeOf!(group),
  }));
}

interface CountRow {
  readonly group_key: string;
  readonly jobs: number;
}

function sumsOf(rows: readonly CountRow[]): (group: string) => number {
  const byGroup = groupBy(rows, ({ group_key }) => group_key);
  return (group) => (byGroup.get(group) ?? []).reduce((sum, { jobs }) => sum + Number(jobs), 0);
}
