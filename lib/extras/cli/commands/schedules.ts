import type { Call, Command } from '../command.js';
import { UsageError } from '../errors.js';
import { table, time } from '../output.js';

const VERBS = ['pause', 'resume', 'run'] as const;
type Verb = (typeof VERBS)[number];

const QUESTIONS: Readonly<Record<Verb, string>> = { pause: 'Pause', resume: 'Resume', run: 'Enqueue a job of' };

export const schedules: Command = {
  usage: '[pause | resume | run <name>]',
  args: [0, 2],
  async run(call) {
    const [verb, name] = call.args;
    if (verb === undefined) return list(call);
    if (!isVerb(verb) || name === undefined)
      throw new UsageError(`expected ${VERBS.join(', ')} and the name of a schedule, got "${call.args.join(' ')}"`);
    await change(call, verb, name);
  },
};

async function list({ engine, output }: Call): Promise<void> {
  const found = await engine.schedules.list();
  const rows = found.map((one) => [
    ...[one.name, one.queue, one.cron ?? `every ${one.everyMs} ms`, one.tz],
    ...[
      one.isPaused ? 'paused' : `${time(one.nextAt)}${one.isLate ? ' (late)' : ''}`,
      time(one.lastAt),
      one.lastJobId,
      one.source,
    ],
  ]);
  const titles = ['NAME', 'QUEUE', 'TIMES', 'ZONE', 'NEXT', 'LAST', 'LAST JOB', 'SOURCE'];
  output.result(found, () => table(titles, rows, 'No schedules.'));
}

async function change({ engine, output, confirm }: Call, verb: Verb, name: string): Promise<void> {
  await confirm(`${QUESTIONS[verb]} the schedule ${name}?`);
  if (verb === 'run') {
    const id = await engine.schedules.runNow(name);
    output.result({ name, id }, () => `Job ${id} of the schedule ${name} is enqueued.`);
    return;
  }
  await engine.schedules[verb](name);
  output.result({ name, paused: verb === 'pause' }, () => `The schedule ${name} is ${verb}d.`);
}

function isVerb(verb: string): verb is Verb {
  return (VERBS as readonly string[]).includes(verb);
}
