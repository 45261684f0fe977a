import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { JobRecord } from '../../job/job.js';
import { errorKey } from '../../job/stored-error.js';
import { shownError } from '../dashboard/shown-error.js';
import type { Redactor } from '../dashboard/redactor.js';

/** The most dead jobs of a queue that are grouped. */
export const MAX_EXAMINED = 500;
const PAGE = 100;

export interface DeadGroup {
  /** The code of the error, or its name: the value of the filter `error`. Empty: the job has no error. */
  error: string;
  count: number;
  /** Of the newest job. */
  message: string;
  names: string[];
  newestId: number;
  newestAt: Date | null;
  oldestAt: Date | null;
}

export interface DeadGroups {
  readonly queue: string;
  readonly groups: readonly DeadGroup[];
  readonly examined: number;
  /** The queue has more dead jobs than those. */
  readonly hasMore: boolean;
}

/** The newest 500 dead jobs of a queue, grouped by their errors, largest group first. */
export async function groupDeadJobs(
  admin: Pick<QueueAdmin, 'find'>,
  redactor: Redactor,
  queue: string,
): Promise<DeadGroups> {
  const groups = new Map<string, DeadGroup>();
  let examined = 0;
  let after: string | undefined;
  do {
    const { jobs, next } = await admin.find({ queue, state: 'dead' }, { order: 'newest', limit: PAGE, after });
    for (const job of jobs) addTo(groups, job, redactor);
    examined += jobs.length;
    after = next;
  } while (after !== undefined && examined < MAX_EXAMINED);
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  return { queue, groups: sorted, examined, hasMore: after !== undefined };
}

function addTo(groups: Map<string, DeadGroup>, job: JobRecord, redactor: Redactor): void {
  const error = errorKey(job.error);
  let group = groups.get(error);
  if (!group) groups.set(error, (group = newGroup(error, job, redactor)));
  group.count += 1;
  group.oldestAt = job.finishedAt;
  if (!group.names.includes(job.name) && group.names.length < 10) group.names.push(job.name);
}

function newGroup(error: string, job: JobRecord, redactor: Redactor): DeadGroup {
  const message = job.error ? shownError(job.error, job, redactor, 300).message : '';
  const at = job.finishedAt;
  return { error, count: 0, message, names: [], newestId: job.id, newestAt: at, oldestAt: at };
}
