import type { AdminEnqueueOptions } from '../../../admin/enqueue-job.js';
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
  const { priority, ...texts } = options.given('name', 'delay', 'priority', 'key', 'group');
  return {
    ...texts,
    // Anything else stays a text, which the producer refuses by name.
    ...(priority !== undefined && { priority: /^-?\d+$/.test(priority) ? Number(priority) : priority }),
    ...(texts.key !== undefined && { onConflict: 'reject' }),
    create: options.flag('create'),
  } as AdminEnqueueOptions;
}
