import type { JobRecord } from '../../../job/job.js';
import type { JobState } from '../../../job/job-state.js';
import type { PageOrder } from '../../../job/page-options.js';
import type { CallOptions, Command } from '../command.js';
import { UsageError } from '../errors.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';
import { FILTER_USAGE, filterOf, stateOf } from './filter.js';

export const list: Command = {
  usage: `[queue] [state] ${FILTER_USAGE} [--oldest | --newest] [--limit N] [--after CURSOR]`,
  args: [0, 2],
  async run({ engine, args: [queue, state], options, output }) {
    requireOne('queue', queue, options);
    requireOne('state', state, options);
    const filter = {
      ...filterOf(options),
      ...(queue !== undefined && { queue }),
      ...(state !== undefined && { state: stateOf(state) }),
    };
    await requireExisting({ engine }, filter.queue);
    const page = { order: orderOf(options, filter.state), ...options.page() };
    const { jobs, next } = await engine.admin.find(filter, page);
    const listed = jobs.map(({ payload: _payload, headers: _headers, result: _result, ...job }) => job);
    output.page({ jobs: listed, next }, () => jobTable(jobs));
  },
};

function requireOne(name: string, argument: string | undefined, options: CallOptions): void {
  const option = options.text(name);
  if (argument !== undefined && option !== undefined)
    throw new UsageError(`expected either the ${name} "${argument}" or --${name} ${option}`);
}

/** The newest jobs are of interest, but of the scheduled ones those that are due first. */
function orderOf(options: CallOptions, state: JobState | undefined): PageOrder {
  const [oldest, newest] = [options.flag('oldest'), options.flag('newest')];
  if (oldest && newest) throw new UsageError('expected either --oldest or --newest');
  return oldest || (state === 'scheduled' && !newest) ? 'oldest' : 'newest';
}

function jobTable(jobs: readonly JobRecord[]): string {
  const rows = jobs.map((job) => {
    const { error } = job;
    return [
      ...[job.id, job.queue, job.name, job.state, job.attempt],
      ...[time(job.createdAt), time(job.finishedAt ?? job.runAt)],
      ...[job.owner ?? job.worker, error ? `${error.code ?? error.name}: ${error.message}`.slice(0, 60) : ''],
    ];
  });
  const titles = ['ID', 'QUEUE', 'NAME', 'STATE', 'ATTEMPT', 'ENQUEUED', 'DUE OR FINISHED', 'HELD BY', 'ERROR'];
  return table(titles, rows, 'No jobs.');
}
