import type { Call, Command } from '../command.js';
import { UsageError } from '../errors.js';
import { requireExisting, requireUnlessCreated } from '../existing-queue.js';

export const pause: Command = {
  usage: '<queue> [--create] | --all',
  args: [0, 1],
  run: (call) => setPaused(call, true),
};

export const resume: Command = {
  usage: '<queue> [--create] | --all',
  args: [0, 1],
  run: (call) => setPaused(call, false),
};

export const obliterate: Command = {
  usage: '<queue> [--dry-run]',
  args: [1, 1],
  run: async ({ engine, args: [queue], options, output, confirm }) => {
    await requireExisting({ engine }, queue);
    const count = await engine.admin.obliterate(queue!, { dryRun: true });
    if (options.flag('dry-run')) return output.result({ wouldRemove: count }, () => `It has ${count} jobs.`);
    await confirm(`Delete queue ${queue} and its ${count} jobs?`);
    const removed = await engine.admin.obliterate(queue!, { confirm: queue! });
    output.result({ queue, removed }, () => `Deleted queue ${queue} and ${removed} jobs.`);
  },
};

async function setPaused(call: Call, paused: boolean): Promise<void> {
  const {
    engine,
    args: [queue],
    options,
    output,
    confirm,
  } = call;
  const all = options.flag('all');
  if ((queue === undefined) !== all) throw new UsageError('expected either the name of a queue or --all');
  if (queue !== undefined) await requireUnlessCreated(call, queue);
  const which = queue ?? ({ all: true } as const);
  const [verb, done] = paused ? ['Pause', 'Paused'] : ['Resume', 'Resumed'];
  const name = queue ?? 'all queues';
  await confirm(`${verb} ${name}?`);
  const created = { create: options.flag('create') };
  await (paused ? engine.admin.pause(which, created) : engine.admin.resume(which, created));
  output.result({ queue: queue ?? null, paused }, () => `${done} ${name}.`);
}
