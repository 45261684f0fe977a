import * as fc from 'fast-check';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import { MINUTE, type Actor } from './actor.js';
import { leftOf } from './checks.js';
import { ModelJob } from './model.js';
import { CHILDREN, KEYS, SIGNAL, type Op } from './script.js';
import type { World } from './world.js';
import { claim, freeLapsed, work } from './worker-calls.js';

type Command = fc.AsyncCommand<World, World>;

/** A command of a history: its name, its arguments, whether it is possible now, and what it does. */
function command<Args extends object>(
  name: string,
  args: { [Name in keyof Args]: fc.Arbitrary<Args[Name]> },
  run: (world: World, args: Args) => Promise<void>,
  isPossible: (world: World, args: Args) => boolean = () => true,
): fc.Arbitrary<Command> {
  return fc.record(args).map((given) => {
    const chosen = given as Args;
    return {
      check: (world) => isFree(world as World, chosen) && isPossible(world as World, chosen),
      run: async (world) => {
        world.model.now++;
        await run(world, chosen);
        world.model.now++;
        world.check();
      },
      toString: () => `${name} ${JSON.stringify(chosen)}`,
    } satisfies Command;
  });
}

/** An actor does one thing at a time. */
function isFree(world: World, args: object): boolean {
  return !('actor' in args) || !world.isBusy(args.actor as number);
}

const actor = fc.nat({ max: 2 });
/** Mostly none: the number of statements that pass before one is held. */
const hold = fc.option(fc.nat({ max: 9 }), { freq: 3, nil: undefined });
const index = fc.nat({ max: 11 });
const queue = fc.constantFrom('plain', 'turns', 'pairs');
const group = fc.constantFrom('a', 'a', 'b');
const priority = fc.integer({ min: -1, max: 1 });
const key = fc.constantFrom(...KEYS);
const delay = fc.constantFrom(0, 0, 0, 20);

interface NewJob {
  queue: string;
  group: string;
  priority: number;
  delay: number;
  script: readonly Op[];
}

function optionsOf({
  queue: name,
  group: of,
  priority: first,
  delay: minutes,
}: Omit<NewJob, 'script'>): EnqueueOptions {
  const grouped = name === 'turns' || name === 'pairs';
  return { priority: first, ...(grouped && { group: of }), ...(minutes > 0 && { delay: minutes * MINUTE }) };
}

function groupOf({ queue: name, group: of }: Pick<NewJob, 'queue' | 'group'>): string {
  return name === 'turns' || name === 'pairs' ? of : '';
}

const newJob = (ops: readonly Op[]) => ({ queue, group, priority, delay, script: scripts(ops) });

function scripts(ops: readonly Op[]): fc.Arbitrary<readonly Op[]> {
  return fc.array(fc.constantFrom(...ops), { maxLength: 4, size: 'max' });
}

const enqueue = (ops: readonly Op[]) =>
  command<NewJob & { actor: number; hold: number | undefined }>(
    'enqueue',
    { actor, hold, ...newJob(ops) },
    async (world, args) => {
      const v = world.model.nextPayload++;
      await world.call(
        args.actor,
        'enqueue',
        async ({ engine }, begun, sinceMs) => {
          const { id } = await engine.producer.enqueue(args.queue, { v, script: args.script }, optionsOf(args));
          const job = new ModelJob(id, args.queue, groupOf(args), v, args.script, undefined);
          world.model.jobs.set(id, job);
          if (args.delay > 0) job.restrict(sinceMs() + args.delay * MINUTE, begun, world.model.now);
        },
        { hold: args.hold },
      );
    },
  );

const enqueueKeyed = (ops: readonly Op[]) =>
  command<NewJob & { actor: number; hold: number | undefined; key: string }>(
    'replace',
    { actor, hold, key, ...newJob(ops) },
    async (world, given) => {
      const { model } = world;
      // A key belongs to its queue, so most commands with one key meet.
      const args = { ...given, queue: given.key === KEYS[0] ? 'plain' : 'turns' };
      const v = model.nextPayload++;
      const options = { key: args.key, onConflict: 'replace', ...optionsOf(args) } as const;
      for (const job of model.jobs.values())
        if (job.key === args.key && job.queue === args.queue && !job.run && !job.hasEnded) job.free(model.now);
      await world.call(
        args.actor,
        'replace',
        async ({ engine }, begun, sinceMs) => {
          const payload = { v, script: args.script };
          const { id, outcome } = await engine.producer
            .enqueue(args.queue, payload, options)
            .catch(refused('DUPLICATE_KEY', { id: 0, outcome: 'existing' as const }));
          if (outcome === 'existing') return;
          if (outcome === 'created')
            model.jobs.set(id, new ModelJob(id, args.queue, groupOf(args), v, args.script, args.key));
          const job = model.jobs.get(id)!;
          if (outcome === 'replaced') {
            // It may have ended a wait that began meanwhile.
            if (begun !== model.now && !job.run) job.free(model.now);
            Object.assign(job, { v, script: args.script, group: groupOf(args), needs: new Set(), isWaiting: false });
            // A claim that came meanwhile may have begun the new payload.
            const left = begun === model.now ? await leftOf(world, id) : '';
            if (left !== '') world.problem(`job ${id} was replaced, and ${left} of its old payload are left`);
          }
          if (args.delay > 0) job.restrict(sinceMs() + args.delay * MINUTE, begun, model.now);
        },
        { hold: args.hold },
      );
    },
  );

function refused<Value>(code: string, value: Value): (error: unknown) => Value {
  return (error) => {
    if ((error as { code?: string }).code === code) return value;
    throw error;
  };
}

const flow = (ops: readonly Op[]) =>
  command<{ actor: number; queue: string; script: readonly Op[]; needs: readonly (readonly Op[])[] }>(
    'flow',
    {
      ...{ actor, queue, script: scripts(ops) },
      needs: fc.array(fc.constantFrom<readonly Op[]>([], [], ['fail'], ['step']), { minLength: 1, maxLength: 3 }),
    },
    async (world, args) => {
      const v = world.model.nextPayload++;
      await world.call(args.actor, 'flow', async ({ engine }) => {
        const { jobs } = await engine.producer.flow((builder) => {
          const first = args.needs.map((script) => builder.add(CHILDREN, { v, script }));
          builder.add(
            args.queue,
            { v, script: args.script, needs: first.length },
            { after: first, onFailure: 'run', ...optionsOf({ ...args, group: 'a', priority: 0, delay: 0 }) },
          );
        });
        await world.discover();
        await world.discover(jobs.at(-1)!.id);
      });
    },
  );

/** Several jobs of one queue at once: more than a page has. */
const enqueueMany = command<{ actor: number; queue: string; group: string; priorities: readonly number[] }>(
  'enqueue many',
  {
    actor,
    queue: fc.constantFrom('turns', 'pairs'),
    group,
    priorities: fc.array(priority, { minLength: 3, maxLength: 4 }),
  },
  async (world, args) => {
    const v = world.model.nextPayload++;
    await world.call(args.actor, 'enqueue many', async ({ engine }) => {
      const jobs = args.priorities.map((first) => ({
        payload: { v, script: [] },
        options: { group: args.group, priority: first },
      }));
      for (const { id } of await engine.producer.enqueueMany(args.queue, jobs))
        world.model.jobs.set(id, new ModelJob(id, args.queue, args.group, v, [], undefined));
    });
  },
);

const claimCommand = command<{ actor: number; like: number; limit: number; hold: number | undefined }>(
  'claim',
  { actor, like: index, limit: fc.integer({ min: 1, max: 3 }), hold },
  (world, args) => claim(world, args.actor, world.model.at(args.like)!.queue, args.limit, args.hold),
  (world) => world.model.jobs.size > 0,
);

/** A claim from the queue of a job, and the handler. */
const run = command<{ actor: number; like: number; hold: number | undefined }>(
  'run',
  { actor, like: index, hold },
  async (world, args) => {
    await claim(world, args.actor, world.model.at(args.like)!.queue, 1);
    world.model.now++;
    if (!world.isBusy(args.actor) && world.heldBy(args.actor).length > 0) await work(world, args.actor, 0, args.hold);
  },
  (world) => world.model.jobs.size > 0,
);

const workCommand = command<{ actor: number; nth: number; hold: number | undefined }>(
  'work',
  { actor, nth: fc.nat({ max: 2 }), hold },
  (world, args) => work(world, args.actor, args.nth, args.hold),
  (world, args) => world.heldBy(args.actor).length > 0,
);

const sweep = command<{ actor: number; hold: number | undefined }>('sweep', { actor, hold }, async (world, args) => {
  freeLapsed(world);
  await world.call(args.actor, 'sweep', (sweeper) => sweeper.sweep(), { hold: args.hold, mustNotWait: true });
});

const prune = command<{ actor: number }>('prune', { actor }, async (world, args) => {
  freeLapsed(world);
  await world.call(args.actor, 'prune', (pruner) => pruner.prune(), { mustNotWait: true });
});

const advance = command<{ minutes: number }>('advance', { minutes: fc.constantFrom(1, 11, 31) }, (world, { minutes }) =>
  world.advance(minutes * MINUTE),
);

const release = command<{ held: number }>(
  'release',
  { held: actor },
  (world, { held }) => world.release(held),
  (world, { held }) => world.isBusy(held),
);

const signal = command<{ actor: number; key: string; hold: number | undefined }>(
  'signal',
  { actor, key, hold },
  async (world, args) => {
    world.model.signal(args.key);
    await world.call(
      args.actor,
      'signal',
      async ({ engine }) => {
        await engine.producer.signal(SIGNAL, args.key, 1);
        world.model.signal(args.key);
      },
      { hold: args.hold, mustNotWait: true },
    );
  },
);

/** A verb of an administrator on one job. It begins to let the job run before it is sent. */
function onJob(
  name: string,
  act: (actor: Actor, job: ModelJob, world: World, begun: number, sinceMs: () => number) => Promise<void>,
  { frees = true }: { frees?: boolean } = {},
): fc.Arbitrary<Command> {
  return command<{ actor: number; job: number; hold: number | undefined }>(
    name,
    { actor, job: index, hold },
    async (world, args) => {
      const job = world.model.at(args.job)!;
      job.touch(world.model.now);
      if (frees && !job.run) job.free(world.model.now);
      await world.call(
        args.actor,
        `${name} of job ${job.id}`,
        async (administrator, begun, sinceMs) => {
          await act(administrator, job, world, begun, sinceMs);
          if (begun !== world.model.now) job.mayHaveEnded = true;
          // It may have ended a wait that began meanwhile.
          if (frees && begun !== world.model.now && !job.run) job.free(world.model.now);
          job.touch(world.model.now);
        },
        { hold: args.hold },
      );
    },
    (world) => world.model.jobs.size > 0,
  );
}

const reprioritise = command<{ actor: number; job: number; priority: number }>(
  'reprioritise',
  { actor, job: index, priority: fc.integer({ min: -3, max: 3 }) },
  async (world, args) => {
    const { id } = world.model.at(args.job)!;
    await world.call(args.actor, `reprioritise of job ${id}`, async ({ engine }) => {
      await engine.admin.reprioritise(id, args.priority);
    });
  },
  (world) => world.model.jobs.size > 0,
);

const administer = [
  onJob('retry', async ({ engine }, job, world, begun) => {
    // A job that has waited for its end may run beside it.
    for (const { needs } of world.model.jobs.values()) needs.delete(job.id);
    const wasCompleted = (await engine.admin.get(job.id))?.state === 'completed';
    const count = await engine.admin.retry([job.id], { completed: true });
    // A completed job starts anew. It may have completed after the read.
    if (count === 0 || (!wasCompleted && begun === world.model.now)) return;
    world.ledger.forget(job.id);
    job.isReplayed = true;
  }),
  onJob('cancel', async ({ engine }, job, world, begun) => {
    await engine.admin.cancel(job.id);
    if ((await engine.admin.get(job.id))?.state === 'cancelled') job.end('cancelled', begun, world.model.now);
  }),
  onJob('remove', async ({ engine }, job, world, begun) => {
    const isGone = (await engine.admin.remove([job.id])) > 0;
    if (isGone) job.end('removed', begun, world.model.now);
  }),
  onJob('promote', async ({ engine }, job) => {
    await engine.admin.promote([job.id]);
  }),
  onJob('reschedule', async ({ engine }, job, world, begun, sinceMs) => {
    const isDone = await engine.admin.reschedule(job.id, 20 * MINUTE);
    if (!isDone) return;
    // A signal ends only the wait that its step has begun.
    job.isWaiting = false;
    job.restrict(sinceMs() + 20 * MINUTE, begun, world.model.now);
  }),
  reprioritise,
];

const pause = command<{ actor: number; queue: string; isPaused: boolean }>(
  'pause',
  { actor, queue, isPaused: fc.boolean() },
  async (world, args) => {
    const setting = world.model.isPaused(args.queue);
    await world.call(args.actor, 'pause', async ({ engine }, begun) => {
      await (args.isPaused ? engine.admin.pause(args.queue) : engine.admin.resume(args.queue));
      setting.change(args.isPaused, begun, world.model.now);
    });
  },
);

/** The group of a job. */
const ofGroup = (world: World, { like }: { like: number }) => world.model.at(like)?.group;

const pauseGroup = command<{ actor: number; like: number; isPaused: boolean }>(
  'pause group',
  { actor, like: index, isPaused: fc.boolean() },
  async (world, args) => {
    const { queue: name, group: of } = world.model.at(args.like)!;
    const setting = world.model.isPaused(`${name} ${of}`);
    await world.call(args.actor, 'pause group', async ({ engine }, begun) => {
      const paused = engine.admin.group(name, of);
      await (args.isPaused ? paused.pause() : paused.resume());
      setting.change(args.isPaused, begun, world.model.now);
    });
  },
  (world, args) => Boolean(ofGroup(world, args)),
);

const limitGroup = command<{ actor: number; like: number; concurrency: number }>(
  'limit group',
  { actor, like: index, concurrency: fc.integer({ min: 1, max: 2 }) },
  async (world, args) => {
    const { queue: name, group: of } = world.model.at(args.like)!;
    const setting = world.model.limitOfGroup(name, of);
    await world.call(args.actor, 'limit group', async ({ engine }, begun) => {
      await engine.admin.group(name, of).limit({ concurrency: args.concurrency });
      setting.change(args.concurrency, begun, world.model.now);
    });
  },
  (world, args) => Boolean(ofGroup(world, args)),
);

/** A claim is held while an administrator changes a job, and goes on. */
const race = command<{ actor: number; by: number; passes: number; limit: number; job: number; priority: number }>(
  'race',
  {
    ...{ actor, by: fc.nat({ max: 2 }), passes: fc.nat({ max: 12 }), limit: fc.integer({ min: 1, max: 3 }) },
    ...{ job: index, priority: fc.integer({ min: -3, max: 3 }) },
  },
  async (world, args) => {
    const { id, queue: name } = world.model.at(args.job)!;
    await claim(world, args.actor, name, args.limit, args.passes);
    world.model.now++;
    if (world.isBusy(args.actor) && !world.isBusy(args.by))
      await world.call(args.by, `reprioritise of job ${id}`, async ({ engine }) => {
        await engine.admin.reprioritise(id, args.priority);
      });
    world.model.now++;
    if (world.isBusy(args.actor)) await world.release(args.actor);
  },
  (world, args) => world.model.jobs.size > 0 && args.actor !== args.by,
);

const limitQueue = command<{ actor: number; queue: string; maxRunning: number }>(
  'limit queue',
  { actor, queue, maxRunning: fc.integer({ min: 1, max: 2 }) },
  async (world, args) => {
    const setting = world.model.limitOfQueue(args.queue);
    await world.call(args.actor, 'limit queue', async ({ engine }, begun) => {
      await engine.admin.limit(args.queue, { maxRunning: args.maxRunning });
      setting.change(args.maxRunning, begun, world.model.now);
    });
  },
);

const schedule = command<{ actor: number; name: string; hold: number | undefined }>(
  'schedule',
  { actor, name: fc.constantFrom('s0', 's1', 's2', 's3'), hold },
  async (world, args) => {
    await world.call(
      args.actor,
      'schedule',
      async ({ engine }) => {
        const definition = { queue: CHILDREN, every: 10 * MINUTE, payload: { v: 0, script: [] } };
        await engine.schedules.upsert(args.name, definition);
      },
      { hold: args.hold },
    );
  },
);

const lock = command<{ table: 'jobs' | 'groups' | 'schedules'; mask: number }>(
  'lock',
  { table: fc.constantFrom('jobs', 'jobs', 'groups', 'schedules'), mask: fc.integer({ min: 1, max: 1023 }) },
  async (world, { table, mask }) => {
    const ids = [...world.model.jobs.keys()].filter((_, position) => mask & (1 << position));
    const some = (names: readonly string[]) => names.filter((_, position) => mask & (1 << position));
    const list = (names: readonly string[]) => ["''", ...names.map((name) => `'${name}'`)].join(', ');
    if (table === 'jobs') await world.lock(table, `id IN (${[0, ...ids].join(', ')})`);
    else if (table === 'groups')
      await world.lock(table, `queue IN ('turns', 'pairs') AND group_key IN (${list(some(['a', 'b']))})`);
    else await world.lock(table, `name IN (${list(some(['s0', 's1', 's2', 's3']))})`);
  },
  (world) => !world.isLocking && world.server.name !== 'sqlite',
);

const unlock = command<object>(
  'unlock',
  {},
  (world) => world.unlock(),
  (world) => world.isLocking,
);

const kill = command<{ killed: number }>('kill', { killed: actor }, async (world, { killed }) => world.kill(killed));

const jump = command<{ minutes: number }>('jump', { minutes: fc.constantFrom(60, -60) }, async (world, { minutes }) =>
  world.jump(minutes * MINUTE),
);

export const PLAIN: readonly Op[] = ['step', 'tx', 'sleep', 'fail', 'flaky', 'snooze', 'doze', 'log', 'transaction'];

/** What a history may use beside plain jobs. One with few of them meets their interplays sooner. */
export const FEATURES = {
  keys: { ops: [], commands: (ops) => [enqueueKeyed(ops), enqueueKeyed(ops)] },
  signals: { ops: ['wait', 'wait', 'flaky'], commands: () => [signal] },
  flows: { ops: ['fan', 'fan'], commands: (ops) => [flow(ops)] },
  groups: {
    ops: [],
    commands: () => [enqueueMany, enqueueMany, claimCommand, limitGroup, limitGroup, pauseGroup, race, race, race],
  },
  queues: { ops: [], commands: () => [enqueueMany, claimCommand, limitQueue, pause] },
  jobs: { ops: [], commands: () => administer },
  schedules: { ops: [], commands: () => [schedule, schedule] },
  locks: { ops: [], commands: () => [lock, unlock] },
  kills: { ops: [], commands: () => [kill] },
  clocks: { ops: [], commands: () => [jump] },
  mistakes: { ops: ['forgetSleep', 'forgetWait', 'forgetFan', 'forgetTx', 'late'], commands: () => [] },
} satisfies Record<string, { ops: readonly Op[]; commands: (ops: readonly Op[]) => fc.Arbitrary<Command>[] }>;

export type Feature = keyof typeof FEATURES;

/** A history: commands in any order. Few kinds of them, and of parts of scripts, meet more often. */
export function histories(
  features: readonly Feature[],
  plain: readonly Op[],
  maxCommands: number,
  replayPath?: string,
) {
  const ops = [...plain, ...features.flatMap((feature): readonly Op[] => FEATURES[feature].ops)];
  const more = features.flatMap((feature) => FEATURES[feature].commands(ops));
  const each = [enqueue(ops), enqueue(ops), claimCommand, workCommand, run, run, run, sweep, advance, release, prune];
  return fc.commands([...each, ...more], { maxCommands, size: 'max', ...(replayPath && { replayPath }) });
}
