import {
  executeAll,
  READ_TIME,
  statement,
  type StatementResult,
  type Values,
  type Work,
} from '../../core/statement.js';
import { pageSize } from '../../../common/lists.js';
import { restEndOf } from '../limits/rest.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { LOCKED_GROUP_COLUMNS, type GroupPosition, type LockedGroup } from './group-row.js';
import type { Lock } from '../../core/template.js';

// Reads the candidates without locks, because both servers would lock entries of an index that moves. Other claims may
// have locked some of them, so there are more candidates than groups to lock.
const candidates = (columns: string, limit: string) => `
  SELECT ${columns}
  FROM {groups} {by groups.turn}
  WHERE queue = :queue AND state = 'ready' AND turn >= :turn AND (turn > :turn OR group_key > :group)
  ORDER BY queue, state, turn, group_key
  LIMIT ${limit}`;

const lockReady = (lock: Lock) => `
  SELECT {join in order} ${LOCKED_GROUP_COLUMNS}
  FROM (${candidates('queue, group_key', ':candidates')}) AS c
  JOIN {groups} g {by primary} ON g.queue = c.queue AND g.group_key = c.group_key
  WHERE g.state = 'ready'
  LIMIT :groups {${lock}}`;

const LOCK_READY = { lock: lockReady('lock'), 'lock free': lockReady('lock free') } as const;

const LAST_CANDIDATE = candidates('turn, group_key', '1 OFFSET :skipped');

const CANDIDATES_PER_GROUP = 4;
const CANDIDATES_PER_PAGE = 500;

/** The part of the rotation that a claim reads. */
export interface TurnRange {
  /** Groups with an earlier turn are in no index entry that is not deleted, except for late commits. */
  readonly earliestTurn: number;
  /**
   * Whether the claim reads all ready groups until it has enough. Otherwise it reads the first ones, because other claims
   * rarely have the locks of all of them.
   */
  readonly readsAll: boolean;
}

/** Locks up to `wanted` groups in the order of their turns. */
export function* lockNextGroups(
  queue: string,
  wanted: number,
  { earliestTurn, readsAll }: TurnRange,
  lock: Lock,
): Work<LockedGroup[]> {
  const most = wanted * CANDIDATES_PER_GROUP;
  const size = pageSize(readsAll ? Math.max(most, CANDIDATES_PER_PAGE) : most);
  const locked: LockedGroup[] = [];
  // Each name of a group is longer than none.
  let after: GroupPosition | undefined = { turn: earliestTurn, group: '' };
  while (after && locked.length < wanted) {
    const page: Values = { queue, ...after };
    const [found, time, last]: readonly StatementResult[] = yield* executeAll([
      statement(LOCK_READY[lock], { ...page, candidates: size, groups: wanted - locked.length }),
      statement(READ_TIME),
      ...(readsAll ? [statement(LAST_CANDIDATE, { ...page, skipped: size - 1 })] : []),
    ]);
    const at = Number(time!.rows[0]!['at']);
    for (const row of found!.rows as unknown as readonly TableRow<'groups'>[])
      locked.push({ ...row, rest_until: restEndOf(row, at), at });
    const end: StatementResult['rows'][number] | undefined = last?.rows[0];
    after = end && { turn: Number(end['turn']), group: end['group_key'] as string };
  }
  return locked;
}
