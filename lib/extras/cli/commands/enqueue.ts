import type { AdminEnqueueOptions } from '../../../admin/enqueue-job.js';
import type { Duration } from '../../../common/units.js';
import { requireUnlessCreated } from '../existing-queue.js';
import type { CallOptions, Command } from '../command.js';
import { jsonArgument } from '../json-argument.js';

export const enqueue: Command = {
  usage: '<queue> <json | -> [--name N] [--delay 5m] [--priority N] [--key K] [--group G] [--create]',
  args: [2, 2],
  async run({ engine, args: [queue, given], options, output, terminal, confirm }) {
    const payload = await jsonArgument({ options, terminal }, 'payload', given!);
    await requireUnlessCreated({ engine, options }, queue!);
    await confirm(`Enqueue a job into ${queue}?`);
    const { id } = await engine.admin.enqueue(queue!, payload, enqueueOptionsOf(options));
    output.result({ id }, () => `Job ${id} is in ${queue}.`);
  },
};

/** Another owner of the key is an error: the user wants a new job. */
function enqueueOptionsOf(options: CallOptions): AdminEnqueueOptions {
  const [name, delay, priority] = [options.text('name'), options.text('delay'), options.text('priority')];
  const [key, group] = [options.text('key'), options.text('group')];
  return {
    ...(name !== undefined && { name }),
    ...(delay !== undefined && { delay: delay as Duration }),
    // Anything else stays a text, which the producer refuses by name.
    ...(priority !== undefined && { priority: /^-?\d+$/.test(priority) ? Number(priority) : (priority as never) }),
    ...(key !== undefined && { key, onConflict: 'reject' }),
    ...(group !== undefined && { group }),
    create: options.flag('create'),
  };
}
