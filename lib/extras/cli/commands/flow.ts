import { wholeNumber, type Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { table } from '../output.js';

export const flow: Command = {
  usage: '<id>',
  args: [1, 1],
  async run({ engine, args: [text], output }) {
    const id = wholeNumber('the id of a flow', text!, 1, Number.MAX_SAFE_INTEGER);
    const found = await engine.admin.flow(id);
    if (!found) throw new CommandFailedError(`There is no flow ${id}. Its jobs may have been pruned.`);
    const rows = found.jobs.map((job) => [
      ...[job.id, job.queue, job.name, job.state],
      job.needs.map(({ id: needed, state }) => `${needed} (${state ?? 'not ended'})`).join(', '),
    ]);
    output.result(found, () => table(['ID', 'QUEUE', 'NAME', 'STATE', 'NEEDS'], rows));
  },
};
