import type { DeadJobs, ErrorCount } from '../../answers.js';

/** An error of a queue: its attempts in the range of the page, and the dead jobs that it has left. */
export interface ErrorRow {
  readonly queue: string;
  /** Null: all errors beyond the first hundred. Empty: jobs without an error. */
  readonly error: string | null;
  readonly message: string;
  readonly names: readonly string[];
  readonly jobId: number;
  readonly failed: number;
  readonly lastHour: readonly number[];
  readonly dead: number;
  /** The number of dead jobs is a lower bound. */
  readonly hasMoreDead: boolean;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
}

const NO_HOUR: readonly number[] = Array.from({ length: 60 }, () => 0);

/** The errors that fail now first, and then those of which only dead jobs are left. */
export function errorRows(counts: readonly ErrorCount[], groups: readonly DeadJobs[]): ErrorRow[] {
  const left = new Map(groups.map((group) => [keyOf(group), group]));
  const moreIn = new Set(groups.filter(({ hasMore }) => hasMore).map(({ queue }) => queue));
  const now = counts.map((count) => countRow(count, left.get(keyOf(count)), moreIn.has(count.queue)));
  const counted = new Set(counts.map(keyOf));
  return [...now, ...groups.filter((group) => !counted.has(keyOf(group))).map(deadRow)];
}

export const keyOf = ({ queue, error }: Pick<ErrorRow, 'queue' | 'error'>) => JSON.stringify([queue, error]);

function countRow(count: ErrorCount, group: DeadJobs | undefined, hasMoreDead: boolean): ErrorRow {
  const { jobName } = count;
  return {
    ...{ ...count, hasMoreDead, dead: group?.count ?? 0 },
    message: count.message || (group?.message ?? ''),
    names: group?.names ?? (jobName === null ? [] : [jobName]),
    firstAt: group?.oldestAt && group.oldestAt < count.firstAt ? group.oldestAt : count.firstAt,
  };
}

function deadRow({ count, newestId, oldestAt, newestAt, hasMore, ...others }: DeadJobs): ErrorRow {
  const times = { firstAt: oldestAt, lastAt: newestAt };
  return { ...others, jobId: newestId, failed: 0, lastHour: NO_HOUR, dead: count, hasMoreDead: hasMore, ...times };
}
