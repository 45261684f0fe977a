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
  /** The failed attempts after which the job was retried, and those after which it was dead. */
  readonly retried: number;
  readonly died: number;
  readonly course: readonly number[];
  /** The dead jobs that are left. Null: not known. */
  readonly dead: number | null;
  /** The number of dead jobs is a lower bound. */
  readonly hasMoreDead: boolean;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
}

/** The dead jobs that were read. */
export interface DeadJobsRead {
  readonly groups: readonly DeadJobs[];
  /** Undefined: all queues. */
  readonly examined: readonly string[] | undefined;
}

/** The errors that fail now first, and then those of which only dead jobs are left. */
export function errorRows(counts: readonly ErrorCount[], read: DeadJobsRead | undefined): ErrorRow[] {
  const groups = read?.groups ?? [];
  const left = new Map(groups.map((group) => [keyOf(group), group]));
  const moreIn = new Set(groups.filter(({ hasMore }) => hasMore).map(({ queue }) => queue));
  const isKnown = (queue: string) => read !== undefined && (read.examined?.includes(queue) ?? true);
  const now = counts.map((count) => {
    const group = left.get(keyOf(count));
    const dead = group?.count ?? (isKnown(count.queue) ? 0 : null);
    return { ...countRow(count, group), dead, hasMoreDead: moreIn.has(count.queue) };
  });
  const counted = new Set(counts.map(keyOf));
  return [...now, ...groups.filter((group) => !counted.has(keyOf(group))).map(deadRow)];
}

export const keyOf = ({ queue, error }: Pick<ErrorRow, 'queue' | 'error'>) => JSON.stringify([queue, error]);

export const ORDERS = [
  ['failed', 'Failed'],
  ['retried', 'Retried'],
  ['died', 'Died'],
  ['dead', 'Dead now'],
  ['last', 'Last seen'],
] as const;

export type Order = (typeof ORDERS)[number][0];

/** Equal rows stay in their order. */
export function sorted(rows: readonly ErrorRow[], order: Order): ErrorRow[] {
  const value = (row: ErrorRow) =>
    order === 'last' ? (row.lastAt === null ? 0 : Date.parse(row.lastAt)) : (row[order] ?? -1);
  return [...rows].sort((a, b) => value(b) - value(a));
}

function countRow(count: ErrorCount, group: DeadJobs | undefined) {
  const { queue, error, jobName, jobId, failed, dead: died, course, firstAt, lastAt } = count;
  return {
    ...{ queue, error, jobId, failed, died, retried: failed - died, course, lastAt },
    message: count.message || (group?.message ?? ''),
    names: group?.names ?? (jobName === null ? [] : [jobName]),
    firstAt: group?.oldestAt && group.oldestAt < firstAt ? group.oldestAt : firstAt,
  };
}

function deadRow({ count, newestId, oldestAt, newestAt, hasMore, ...others }: DeadJobs): ErrorRow {
  const times = { firstAt: oldestAt, lastAt: newestAt };
  const none = { failed: 0, retried: 0, died: 0, course: [] };
  return { ...others, ...none, ...times, jobId: newestId, dead: count, hasMoreDead: hasMore };
}
