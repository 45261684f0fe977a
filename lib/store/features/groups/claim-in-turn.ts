import type { GroupRules } from '../../../job/groups/group-options.js';
import type { ClaimedJob } from '../../../job/job.js';
import { CLAIMED_COLUMNS, claimLocked, type ClaimedRow } from '../../rows/claimed-row.js';
import type { ClaimRequest } from '../../rows/claim.js';
import { idsOf } from '../../../job/identifiers.js';
import { executeFinal, Ids, query, type Work } from '../../core/statement.js';
import { lockNextGroups, type TurnRange } from './lock-groups.js';
import { readTurns } from './read-turns.js';
import { blockedMs, shareOut, updatesOf, type Position, type Turn } from './turn.js';
import { IN_GROUP, RETURNED } from '../../tables/runnable.js';
import type { Lock } from '../../core/template.js';

const lockJobs = (lock: Lock) => `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} {by primary}
  WHERE :ids AND queue = :queue AND state = 'waiting' AND run_at IS NULL AND runnable IN (${IN_GROUP}, ${RETURNED})
  {${lock}}`;

const LOCK_JOBS = { lock: lockJobs('lock'), 'lock free': lockJobs('lock free') } as const;

/** The turns of the groups, as this process knows them. */
export interface Rotation extends TurnRange {
  /** Called with the earliest turn that the claim has seen, and whether it examined as many groups as it may. */
  onTurn(turn: number, mayHaveMore: boolean): void;
}

/**
 * Claims jobs of the groups whose last turn is the longest ago: the quantum of each, in the order of priority and id. The
 * lock of a group makes its limits and its order exact: claims of one group take turns, claims of different groups do not
 * meet.
 *
 * @param lock `lock free`: the claim waits for no group and no job
 */
export function* claimInTurn(
  request: ClaimRequest,
  rules: GroupRules,
  rotation: Rotation,
  lock: Lock,
): Work<ClaimedJob[]> {
  const { queue, limit } = request;
  const wanted = Math.ceil(limit / rules.quantum);
  const rows = yield* lockNextGroups(queue, wanted, rotation, lock);
  if (rows.length === 0) return [];
  const inOrder = [...rows].sort((a, b) => Number(a.turn) - Number(b.turn));
  rotation.onTurn(Number(inOrder[0]!.turn), rows.length === wanted);
  const turns = yield* readTurns(request, rules, inOrder);
  const chosen = shareOut(turns, limit, rules.quantum);
  const ids = new Ids(idsOf(chosen.map(({ position }) => position)));
  const locked = chosen.length === 0 ? [] : yield* query<ClaimedRow>(LOCK_JOBS[lock], { queue, ids });
  const byId = new Map(locked.map((row) => [Number(row.id), row]));
  const jobs = chosen.flatMap(({ turn, position }) => takeLocked(turn, position, byId));
  request.onLocked?.(jobs.length);
  const dueInMs = blockedMs(turns);
  if (dueInMs < Infinity) request.onMoreIn?.(dueInMs);
  const updates = () => updatesOf(queue, turns);
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

/** No job of a group is taken before one that stands in front of it. The position was read without a lock. */
function takeLocked(turn: Turn, position: Position, byId: ReadonlyMap<number, ClaimedRow>): ClaimedRow[] {
  const row = byId.get(Number(position.id));
  if (!row) turn.stoppedBy ??= 'lock';
  else if (row.group_key !== turn.row.group_key || row.priority !== position.priority) turn.stoppedBy ??= 'change';
  if (turn.stoppedBy) return [];
  turn.taken.push(position);
  return [row!];
}
