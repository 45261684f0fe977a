import { age } from '../../../common/units.js';
import type { JobCount, QueueStats } from '../../../store/features/stats/stats-store.js';
import type { Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { requireExisting } from '../existing-queue.js';
import { table } from '../output.js';
import { problemsText, readProblems } from '../problem-lines.js';
import { readStats } from './read-stats.js';

export const status: Command = {
  usage: '[queue] [--problems]',
  args: [0, 1],
  async run({ engine, args: [queue], options, output }) {
    await requireExisting({ engine }, queue);
    const stats = await readStats(engine, queue === undefined ? {} : { queue });
    const onlyProblems = options.flag('problems');
    // Programs that read the statistics need not wait for the problems.
    const problems = output.isJson && !onlyProblems ? [] : await readProblems(engine, stats, queue);
    if (!onlyProblems) {
      const added = () => (problems.length > 0 ? [problemsText(problems)] : []);
      return output.result(stats, () => [statusTable(stats), ...added()].join('\n\n'));
    }
    output.result(problems, () => problemsText(problems));
    const broken = problems.filter(({ severity }) => severity === 'broken').length;
    if (broken > 0) throw new CommandFailedError(`${broken} of ${problems.length} problems: jobs do not run, or fail.`);
  },
};

const TITLES = [
  'QUEUE',
  'WAITING',
  'SCHEDULED',
  'BLOCKED',
  'STAGED',
  'ACTIVE',
  'DEAD',
  'OLDEST',
  'NEXT DUE',
  'WORKERS',
];

export function statusTable(stats: readonly QueueStats[]): string {
  const rows = stats.map((one) => [
    one.paused ? `${one.queue} (paused)` : one.queue,
    ...[one.waiting, one.scheduled, one.blocked, one.staged].map(count),
    one.active + one.prefetched,
    count(one.dead),
    ...[one.oldestWaitingMs, one.nextDueInMs].map(age),
    one.workers,
  ]);
  return table(TITLES, rows, 'No queues.');
}

function count({ value, atLeast }: JobCount): string | number {
  return atLeast ? `${value}+` : value;
}
