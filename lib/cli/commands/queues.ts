import { UsageError, type Call, type Command } from '../command.js';

const ALL = { all: { type: 'boolean' } } as const;

export const pause: Command = {
  usage: '<queue> | --all',
  summary: 'let all processes claim no job of the queue; running jobs continue',
  args: [0, 1],
  options: ALL,
  run: (call) => setPaused(call, true),
};

export const resume: Command = {
  usage: '<queue> | --all',
  summary: 'end the pause of a queue',
  args: [0, 1],
  options: ALL,
  run: (call) => setPaused(call, false),
};

export const obliterate: Command = {
  usage: '<queue> [--dry-run]',
  summary: 'delete a queue with all its jobs, in all states',
  args: [1, 1],
  options: { 'dry-run': { type: 'boolean' } },
  run: async ({ engine, args: [queue], options, output, confirm }) => {
    const count = await engine.admin.obliterate(queue!, { dryRun: true });
    if (options.flag('dry-run')) return output.result({ wouldRemove: count }, () => `It has ${count} jobs.`);
    await confirm(`Delete queue ${queue} and its ${count} jobs?`);
    const removed = await engine.admin.obliterate(queue!, { confirm: queue! });
    output.result({ queue, removed }, () => `Deleted queue ${queue} and ${removed} jobs.`);
  },
};

async function setPaused({ engine, args: [queue], options, output, confirm }: Call, paused: boolean): Promise<void> {
  const all = options.flag('all');
  if ((queue === undefined) !== all) throw new UsageError('expected either the name of a queue or --all');
  const which = queue ?? ({ all: true } as const);
  const [verb, done] = paused ? ['Pause', 'Paused'] : ['Resume', 'Resumed'];
  const name = queue ?? 'all queues';
  await confirm(`${verb} ${name}?`);
  await (paused ? engine.admin.pause(which) : engine.admin.resume(which));
  output.result({ queue: queue ?? null, paused }, () => `${done} ${name}.`);
}
