import { groupBy } from '../../common/lists.js';
import type { ClaimedJob } from '../../job/job.js';
import { execute, executeAll, statement, type Statement, type Work, type StatementResult } from '../core/statement.js';

// Writes each row, although most states stay: the lock keeps a claim from counting a job that ends in this transaction. The
// turn comes first, because the server assigns from left to right.
const WAKE = `
  UPDATE {groups} {by primary}
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = :queue AND group_key IN (:groups)`;

/**
 * The statements that make groups claimable in which these jobs end. They come before those for claims and jobs, and are in
 * the order of the primary key, in which every transaction locks groups.
 */
export function wakeGroups(completions: readonly JobInGroup[]): readonly Statement[] {
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

// Reads the state, which is unused here: if the index alone could answer the query, MySQL would scan the whole index of a
// small table.
const LOCK = `
  SELECT group_key, state
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key IN (:groups)
  ORDER BY group_key {lock free}`;

const EXISTING = `
  SELECT group_key
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key IN (:groups)`;

/** The statements that lock those of the groups that no other transaction has locked, and read which groups exist. */
export function lockFreeGroups(queue: string, groups: readonly string[]): [Statement, Statement] {
  return [statement(LOCK, { queue, groups }), statement(EXISTING, { queue, groups })];
}

/** The groups that other transactions have locked, from the answers to these statements. */
export function lockedGroupsOf([free, existing]: readonly StatementResult[]): ReadonlySet<unknown> {
  const locked = new Set(existing!.rows.map((row) => row['group_key']));
  for (const row of free!.rows) locked.delete(row['group_key']);
  return locked;
}

/** The order of the primary key, in which every transaction locks the groups of a queue. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
