import { groupBy } from '../../common/group-by.js';
import type { GroupRules } from '../../job/groups/group-options.js';
import type { ClaimedJob } from '../../job/job.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from '../jobs/claimed-row.js';
import { claimLocked } from '../jobs/claim/write-claim.js';
import type { ClaimRequest } from '../jobs/job-store.js';
import { idsOf } from '../core/safe-id.js';
import type { Dialect } from '../core/sql-database.js';
import { executeAll, executeFinal, Ids, query, type SqlValue, type Work } from '../core/statement.js';
import { activeIdsOf, groupLimitsOf, type GroupRow } from './group-row.js';
import { roomOf, shareOut, updateOf, type Position, type Turn } from './turn.js';
import { IN_GROUP, RETURNED } from '../runnable.js';

// Reads the candidates without locks, because both servers would lock entries of an index that moves. Other claims may
// have locked some of them, so there are more candidates than groups to lock.
const candidates = `
  SELECT queue, group_key
  FROM {groups} /*! FORCE INDEX ({groups}_turn) */
  WHERE queue = :queue AND state = 'ready' AND turn >= :earliestTurn
  ORDER BY queue, state, turn
  LIMIT :candidates`;

const lockReady = (skipLocked: string) => `
  SELECT /*! STRAIGHT_JOIN */ g.group_key, g.state, g.turn, g.head_priority, g.head_id, g.active_ids, g.overrides,
         g.rate_until_us, g.rate_used, g.rest_until, :now AS at
  FROM (${candidates}) AS c
  JOIN {groups} g /*! FORCE INDEX (PRIMARY) */ ON g.queue = c.queue AND g.group_key = c.group_key
  WHERE g.state = 'ready'
  LIMIT :groups /*! FOR UPDATE ${skipLocked} */`;

const LOCK_READY_SKIP_LOCKED = lockReady('SKIP LOCKED');
const LOCK_READY = lockReady('');

// Without locks: after a commit the server frees the row of a group before those of its jobs. The next claim of the group
// would pass over a job that is still locked.
const headOf = (index: number) => `
  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM {jobs} /*! FORCE INDEX ({jobs}_queue) */
    WHERE queue = :queue AND runnable = ${IN_GROUP} AND run_at IS NULL AND group_key = :group${index} AND state = 'waiting'
      AND ((priority = :priority${index} AND id > :id${index}) OR priority > :priority${index})
    ORDER BY priority, id
    LIMIT :limit${index}
  ) AS head_${index}`;

const RETURNED_JOBS = `
  SELECT group_key, priority, id
  FROM {jobs} /*! FORCE INDEX ({jobs}_queue) */
  WHERE queue = :queue AND runnable = ${RETURNED} AND run_at IS NULL AND group_key IN (:groups) AND state = 'waiting'`;

const COUNTED = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND queue = :queue AND (state = 'active' OR (state = 'scheduled' AND :keepsPlace = 1))`;

const lockJobs = (skipLocked: string) => `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND queue = :queue AND state = 'waiting' AND run_at IS NULL /*! FOR UPDATE ${skipLocked} */`;

const LOCK_JOBS_SKIP_LOCKED = lockJobs('SKIP LOCKED');
const LOCK_JOBS = lockJobs('');

// With few groups a claim takes several jobs of each, and some groups have fewer jobs than their share.
const SPARE_SHARE = 2;

type HeadRow = Position & Pick<GroupRow, 'group_key'>;

/** The turns of the groups, as this process knows them. */
export interface Rotation {
  readonly dialect: Dialect['name'];
  /** Groups with an earlier turn are in no index entry that is not deleted, except for late commits. */
  readonly earliestTurn: number;
  /** Called with the earliest turn that the claim has seen, and whether it examined as many groups as it may. */
  onTurn(turn: number, mayHaveMore: boolean): void;
}

/**
 * Claims jobs of the groups whose last turn is the longest ago: the quantum of each, in the order of priority and id. The
 * lock of a group makes its limits and its order exact: claims of one group take turns, claims of different groups do not
 * meet.
 */
export function* claimInTurn(request: ClaimRequest, rules: GroupRules, rotation: Rotation): Work<ClaimedJob[]> {
  const { queue, limit } = request;
  const skipsLocked = request.strategy === 'skip-locked' || request.strategy === 'lock';
  const wanted = Math.ceil(limit / rules.quantum);
  const { earliestTurn } = rotation;
  const values = { queue, earliestTurn, candidates: wanted * 4, groups: wanted };
  const rows = yield* query<GroupRow & { at: number }>(skipsLocked ? LOCK_READY_SKIP_LOCKED : LOCK_READY, values);
  if (rows.length === 0) return [];
  const inOrder = [...rows].sort((a, b) => Number(a.turn) - Number(b.turn));
  rotation.onTurn(Number(inOrder[0]!.turn), rows.length === wanted);
  const turns = yield* readTurns(request, rules, inOrder);
  const chosen = shareOut(turns, limit, rules.quantum);
  const ids = new Ids(idsOf(chosen.map(({ position }) => position)));
  const lockJobsOf = skipsLocked ? LOCK_JOBS_SKIP_LOCKED : LOCK_JOBS;
  const locked = chosen.length === 0 ? [] : yield* query<ClaimedRow>(lockJobsOf, { queue, ids });
  const byId = new Map(locked.map((row) => [Number(row.id), row]));
  const jobs = chosen.flatMap(({ turn, position }) => takeLocked(turn, position, byId));
  request.onLocked?.(jobs.length);
  const updates = () => [updateOf(queue, turns, rotation.dialect)];
  if (jobs.length === 0) {
    yield* executeFinal(updates());
    return [];
  }
  const claimed = yield* claimLocked(
    { ...request, alsoWrites: (count) => [...(request.alsoWrites?.(count) ?? []), ...updates()] },
    jobs,
  );
  const unlimited = new Set(turns.filter(({ limits }) => limits.concurrency === null).map(({ row }) => row.group_key));
  return claimed.map((job) => (unlimited.has(job.group!) ? { ...job, countsInGroup: false } : job));
}

/** Reads the first jobs of each group, and counts its active jobs. */
function* readTurns(
  { queue, limit }: ClaimRequest,
  rules: GroupRules,
  rows: readonly (GroupRow & { at: number })[],
): Work<Turn[]> {
  const wanted = Math.ceil(limit / rules.quantum);
  const share = rows.length < wanted ? Math.ceil(limit / rows.length) * SPARE_SHARE : 1;
  const all = rows.map((row) => {
    const limits = groupLimitsOf(row, rules);
    // One more than its share, to see whether more jobs wait.
    const toRead = Math.min(limit, Math.max(share, rules.quantum * limits.weight)) + 1;
    return { row, limits, toRead, listed: activeIdsOf(row) };
  });
  const values: Record<string, SqlValue | readonly string[]> = { queue, groups: rows.map((row) => row.group_key) };
  all.forEach(({ row, toRead }, index) => {
    values[`group${index}`] = row.group_key;
    values[`priority${index}`] = row.head_priority;
    values[`id${index}`] = row.head_id;
    values[`limit${index}`] = toRead;
  });
  const readHeads = { sql: [...rows.map((_, index) => headOf(index)), RETURNED_JOBS].join(' UNION ALL '), values };
  const listed = all.flatMap((group) => group.listed);
  const keepsPlace = rules.onRetry === 'wait' ? 1 : 0;
  const counted = listed.length === 0 ? [] : [{ sql: COUNTED, values: { ids: new Ids(listed), queue, keepsPlace } }];
  // Counts before it reads the heads: a job that returns in between has its place still, or is the first one.
  const answers = yield* executeAll([...counted, readHeads]);
  const found = answers.at(-1);
  const activeIds = new Set(counted.length === 0 ? [] : answers[0]!.rows.map(({ id }) => Number(id)));
  const heads = groupBy(found!.rows as unknown as readonly HeadRow[], ({ group_key }) => group_key);
  return all.map(({ row, limits, toRead, listed: ids }) => {
    const ofGroup = ids.filter((id) => activeIds.has(id));
    const nowMs = Number(row.at);
    const waiting = (heads.get(row.group_key) ?? []).sort((a, b) => a.priority - b.priority || a.id - b.id);
    return {
      ...{ row, limits, nowMs, activeIds: ofGroup, room: roomOf(row, limits, ofGroup.length, nowMs) },
      // A group whose share is small may take the shares of others that are at their limits.
      ...{ waiting, mayHaveMore: waiting.length >= toRead, taken: [], isHeadLocked: false },
    };
  });
}

/** No job of a group is taken before one that stands in front of it. */
function takeLocked(turn: Turn, position: Position, byId: ReadonlyMap<number, ClaimedRow>): ClaimedRow[] {
  const row = byId.get(Number(position.id));
  turn.isHeadLocked ||= !row;
  if (turn.isHeadLocked) return [];
  turn.taken.push(position);
  return [row!];
}
