import { groupBy } from '../../common/group-by.js';
import type { ClaimedJob } from '../../job/job.js';
import { execute, executeAll, statement, type Statement, type Work } from '../core/statement.js';
import { compareKeys, lockedGroupsOf, lockFreeGroups } from './locked-groups.js';

// Writes each row, although most states stay: the lock keeps a claim from counting a job that ends in this transaction. The
// turn comes first, because the server assigns from left to right.
const WAKE = `
  UPDATE {groups} {by primary}
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = :queue AND group_key IN (:groups)`;

const NONE: readonly Statement[] = [];

/**
 * The statements that make groups claimable in which these jobs end. They come before those for claims and jobs, and are in
 * the order of the primary key, in which every transaction locks groups.
 */
export function wakeGroups(completions: readonly JobInGroup[]): readonly Statement[] {
  if (!completions.some(isCounted)) return NONE;
  return groupsByQueue(completions).map(([queue, groups]) => statement(WAKE, { queue, groups }));
}

/** The completions that wait for a group which another transaction has locked. The locks end with each statement. */
export function* findInLockedGroups<Each extends JobInGroup>(completions: readonly Each[]): Work<Each[]> {
  const locked = new Map<string, ReadonlySet<unknown>>();
  for (const [queue, groups] of groupsByQueue(completions))
    locked.set(queue, lockedGroupsOf(yield* executeAll(lockFreeGroups(queue, groups))));
  return completions.filter((one) => isCounted(one) && locked.get(one.job.queue)!.has(one.job.group));
}

type JobInGroup = Readonly<{
  claimId: number;
  job: Pick<ClaimedJob, 'queue'> & Partial<Pick<ClaimedJob, 'group' | 'countsInGroup'>>;
}>;

/** A group counts its active jobs. */
function isCounted({ claimId, job: { group, countsInGroup } }: JobInGroup): boolean {
  return claimId !== 0 && typeof group === 'string' && countsInGroup !== false;
}

function groupsByQueue(completions: readonly JobInGroup[]): [queue: string, groups: string[]][] {
  const queues = groupBy(completions.filter(isCounted), ({ job }) => job.queue);
  return [...queues.keys()].sort().map((queue) => {
    const groups = new Set(queues.get(queue)!.map(({ job }) => job.group!));
    return [queue, [...groups].sort(compareKeys)];
  });
}

export function* wakeGroup({ queue, group }: { readonly queue: string; readonly group: string }): Work<void> {
  yield* execute(WAKE, { queue, groups: [group] });
}
