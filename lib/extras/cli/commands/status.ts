import type { Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { requireExisting } from '../existing-queue.js';
import { problemsText, readProblems } from '../problem-lines.js';
import { statusTable } from './queue-table.js';
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
