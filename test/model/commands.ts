import * as fc from 'fast-check';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import { MINUTE, type Actor } from './actor.js';
import { checkAwake, goOn, leftOf } from './checks.js';
import type { Hold } from './gate.js';
import { ModelJob } from './model.js';
import { CHILDREN, KEYS, SIGNAL, signalOf, type Op } from './script.js';
import { TABLES, type World } from './world.js';
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
const group = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c');
const GROUPS = ['a', 'b', 'c', 'd', 'e'];
const TURNS = 'turns';
const GROUPED = [TURNS, 'pairs'];
const priority = fc.integer({ min: -1, max: 1 });
const key = fc.constantFrom(...KEYS);
const delay = fc.constantFrom(0, 0, 0, 20);
const SCHEDULES = ['s0', 's1', 's2', 's3'] as const;

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

type KeyedJob = NewJob & { actor: number; hold: number | undefined; key: string };

const enqueueKeyed = (ops: readonly Op[]) =>
  command<KeyedJob>('replace', { actor, hold, key, ...newJob(ops) }, (world, args) =>
    // A key belongs to its queue, so most commands with one key meet.
    replace(world, { ...args, queue: args.key === KEYS[0] ? 'plain' : 'turns' }),
  );

async function replace(world: World, args: KeyedJob): Promise<void> {
  const { model } = world;
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
}

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

type Places = readonly { group: string; priority: number }[];

/** Several jobs of one queue and payload at once: more than a page has. */
const enqueueMany = (queues: readonly string[], script: readonly Op[]) =>
  command<{ actor: number; queue: string; jobs: Places }>(
    'enqueue many',
    {
      actor,
      queue: fc.constantFrom(...queues),
      jobs: fc.array(fc.record({ group, priority }), { minLength: 3, maxLength: 4 }),
    },
    (world, { actor: by, queue: name, jobs }) => putMany(world, by, name, jobs, script),
  );

async function putMany(world: World, by: number, name: string, jobs: Places, script: readonly Op[]): Promise<void> {
  const v = world.model.nextPayload++;
  await world.call(by, 'enqueue many', async ({ engine }) => {
    const payload = { v, script };
    const options = jobs.map((job) => ({ payload, options: optionsOf({ ...job, queue: name, delay: 0 }) }));
    const enqueued = await engine.producer.enqueueMany(name, options);
    for (const [nth, { id }] of enqueued.entries())
      world.model.jobs.set(id, new ModelJob(id, name, groupOf({ ...jobs[nth]!, queue: name }), v, script, undefined));
  });
}

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

/** An actor does all that it finds, one job after the other. */
const runAll = command<{ actor: number }>('run all', { actor }, (world, args) => goOn(world, args.actor));

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

/** The signal that a job may wait for. */
const signal = command<{ actor: number; like: number; hold: number | undefined }>(
  'signal',
  { actor, like: index, hold },
  (world, args) => sendSignal(world, args.actor, args.like, args.hold),
  (world) => world.model.jobs.size > 0,
);

async function sendSignal(world: World, by: number, like: number, held?: Hold | number): Promise<void> {
  const sent = signalOf(world.model.at(like)!.v);
  world.model.signal(sent);
  await world.call(
    by,
    'signal',
    async ({ engine }, begun) => {
      await engine.producer.signal(SIGNAL, sent, 1);
      world.model.signal(sent);
      if (begun === world.model.now && world.isAlone(by) && !world.isLocking) await checkAwake(world, sent);
    },
    { hold: held, mustNotWait: true },
  );
}

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
      const free = () => (name === 'retry' ? job.revive(world.model.now) : job.free(world.model.now));
      if (frees && !job.run) free();
      const mayHaveEnded = job.mayHaveEnded;
      job.mayHaveEnded = true;
      await world.call(
        args.actor,
        `${name} of job ${job.id}`,
        async (administrator, begun, sinceMs) => {
          await act(administrator, job, world, begun, sinceMs);
          job.mayHaveEnded = mayHaveEnded || begun !== world.model.now;
          // It may have ended a wait that began meanwhile.
          if (frees && begun !== world.model.now && !job.run) free();
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
  (world, args) => changePriority(world, args.actor, world.model.at(args.job)!.id, args.priority),
  (world) => world.model.jobs.size > 0,
);

async function changePriority(world: World, by: number, id: number, to: number): Promise<void> {
  await world.call(by, `reprioritise of job ${id}`, async ({ engine }) => {
    await engine.admin.reprioritise(id, to);
  });
}

const administer = [
  onJob('retry', async ({ engine }, job, world, begun) => {
    // A job that has waited for its end may run beside it.
    for (const { needs } of world.model.jobs.values()) needs.delete(job.id);
    const state = (await engine.admin.get(job.id))?.state;
    const count = await engine.admin.retry([job.id], { completed: true });
    // It may have ended after the read.
    const mayHaveBeen = (...states: readonly string[]) => states.includes(state!) || begun !== world.model.now;
    if (count === 0) return;
    // The jobs that it needs may have ended once more since its own end.
    if (mayHaveBeen('completed', 'dead', 'cancelled')) world.ledger.forgetChildren(job.id);
    // A completed job starts anew.
    if (!mayHaveBeen('completed')) return;
    world.ledger.forget(job.id, begun !== world.model.now);
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
  (world, args) => {
    const { queue: name, group: of } = world.model.at(args.like)!;
    return setPaused(world, args.actor, name, of, args.isPaused);
  },
  (world, args) => Boolean(ofGroup(world, args)),
);

async function setPaused(world: World, by: number, name: string, of: string, isPaused: boolean): Promise<void> {
  const setting = world.model.isPaused(`${name} ${of}`);
  await world.call(by, 'pause group', async ({ engine }, begun) => {
    const paused = engine.admin.group(name, of);
    await (isPaused ? paused.pause() : paused.resume());
    setting.change(isPaused, begun, world.model.now);
  });
}

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

interface Race {
  actor: number;
  by: number;
  passes: number;
  limit: number;
  job: number;
  priority: number;
}

/** A claim is held between a read and a lock while another actor changes a job, and goes on. */
const race = (
  name: string,
  begin: (world: World, args: Race) => Promise<{ queue: string; change: () => Promise<void> }>,
) =>
  command<Race>(
    name,
    {
      ...{ actor, by: actor, passes: fc.nat({ max: 4 }), limit: fc.integer({ min: 1, max: 3 }) },
      ...{ job: index, priority: fc.integer({ min: -3, max: 3 }) },
    },
    async (world, args) => {
      const { actor: claimer, by, passes, limit } = args;
      const { queue: from, change } = await begin(world, args);
      world.model.now++;
      await claim(world, claimer, from, limit, { passes, onlyAfterReads: true });
      world.model.now++;
      if (world.isBusy(claimer) && !world.isBusy(by)) await change();
      world.model.now++;
      if (world.isBusy(claimer)) await world.release(claimer);
    },
    (world, args) => world.model.jobs.size > 0 && args.actor !== args.by && !world.isBusy(args.by),
  );

const reprioritiseDuringClaim = race('reprioritise during claim', async (world, { by, job, priority: to }) => {
  const { id, queue: of } = world.model.at(job)!;
  return { queue: of, change: () => changePriority(world, by, id, to) };
});

/** A job with a key moves to a group that runs another one. */
const moveDuringClaim = race('move during claim', async (world, { by, priority: to }) => {
  const running = () => [...world.model.jobs.values()].find((job) => job.run && job.queue === TURNS)?.group;
  if (running() === undefined) await claim(world, by, TURNS, 1);
  const into = running() ?? 'a';
  const from = GROUPS.find((other) => other !== into)!;
  const put = async (of: string) => {
    world.model.now++;
    const place = { queue: TURNS, group: of, priority: to, delay: 0, script: [] };
    if (!world.isBusy(by)) await replace(world, { ...place, actor: by, hold: undefined, key: KEYS[1]! });
  };
  await put(from);
  return { queue: TURNS, change: () => put(into) };
});

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

const schedule = command<{ actor: number; names: readonly string[]; hold: number | undefined }>(
  'schedule',
  { actor, names: fc.subarray([...SCHEDULES], { minLength: 2 }), hold },
  (world, args) => putSchedules(world, args.actor, args.names, args.hold),
);

async function putSchedules(world: World, by: number, names: readonly string[], held?: number): Promise<void> {
  await world.call(
    by,
    'schedule',
    async ({ engine }) => {
      const definition = { queue: CHILDREN, every: 10 * MINUTE, payload: { v: 0, script: [] } };
      for (const name of names) await engine.schedules.upsert(name, definition);
    },
    { hold: held },
  );
}

const lock = command<{ table: 'jobs' | 'groups' | 'schedules'; mask: number }>(
  'lock',
  { table: fc.constantFrom('jobs', 'jobs', 'groups', 'schedules'), mask: fc.integer({ min: 1, max: 1023 }) },
  async (world, { table, mask }) => {
    const ids = [...world.model.jobs.keys()].filter((_, position) => mask & (1 << position));
    const some = (names: readonly string[]) => names.filter((_, position) => mask & (1 << position));
    const list = (names: readonly string[]) => ["''", ...names.map((name) => `'${name}'`)].join(', ');
    if (table === 'jobs') await world.lock(table, `id IN (${[0, ...ids].join(', ')})`);
    else if (table === 'groups')
      await world.lock(table, `queue IN ('turns', 'pairs') AND group_key IN (${list(some(GROUPS))})`);
    else await world.lock(table, `name IN (${list(some(SCHEDULES))})`);
  },
  (world) => !world.isLocking && world.server.name !== 'sqlite',
);

interface LockedRows {
  actor: number;
  job: number;
  name: string;
  isOthers: boolean;
  signals: boolean;
}

/** An application has locked the row of one job, group or schedule, or those of all others, and the rest goes on. */
const besideLock = (table: 'jobs' | 'groups' | 'schedules') =>
  command<LockedRows>(
    `lock ${table} and go on`,
    {
      ...{ actor, job: index, name: fc.constantFrom(...SCHEDULES, 's3') },
      ...{ isOthers: fc.constantFrom(true, true, false), signals: fc.boolean() },
    },
    async (world, { actor: by, job, name, isOthers, signals }) => {
      const { id = 0, queue: of = '' } = world.model.at(job) ?? {};
      const is = isOthers ? '<>' : '=';
      const where = { jobs: `id ${is} ${id}`, groups: '', schedules: `name ${is} '${name}'` };
      if (table === 'schedules') await putSchedules(world, by, SCHEDULES);
      if (table === 'schedules') await world.advance(11 * MINUTE);
      freeLapsed(world);
      if (table === 'groups') {
        if (GROUPED.includes(of)) await fillGroups(world, by, of);
        where.groups = `queue = '${of}' AND group_key ${is} '${await lastInTurn(world, of)}'`;
      }
      await world.lock(table, where[table]);
      if (!world.isLocking) return;
      if (signals && id > 0) await sendSignal(world, by, job);
      await goOn(world, by);
      await world.unlock();
    },
    (world) =>
      !world.isLocking && world.server.name !== 'sqlite' && (table === 'schedules' || world.model.jobs.size > 0),
  );

/** More groups than a page has. One that an administrator resumes is ready before a job joins it. */
async function fillGroups(world: World, by: number, name: string): Promise<void> {
  const places = GROUPS.map((of) => ({ group: of, priority: 0 }));
  await putMany(world, by, name, places, []);
  for (const of of GROUPS) {
    world.model.now++;
    if (!world.isBusy(by)) await setPaused(world, by, name, of, false);
  }
  world.model.now++;
}

async function lastInTurn(world: World, name: string): Promise<string> {
  const [last] = await world.sql<{ group_key: string }>(
    `SELECT group_key FROM ${TABLES.groups} WHERE queue = '${name}' AND state = 'ready' ORDER BY turn DESC, group_key DESC LIMIT 1`,
  );
  return last?.group_key ?? '';
}

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
  signals: {
    ops: ['wait', 'wait', 'flaky', 'doze'],
    commands: () => [signal, signal, enqueueMany(['plain'], ['wait']), runAll],
  },
  flows: { ops: ['fan', 'fan', 'children'], commands: (ops) => [flow(ops)] },
  groups: {
    ops: [],
    commands: () => [
      ...[enqueueMany(GROUPED, []), enqueueMany(GROUPED, []), claimCommand, limitGroup, limitGroup, pauseGroup],
      ...[reprioritiseDuringClaim, reprioritiseDuringClaim, moveDuringClaim, moveDuringClaim, besideLock('groups')],
    ],
  },
  queues: { ops: [], commands: () => [enqueueMany(GROUPED, []), claimCommand, limitQueue, pause] },
  jobs: { ops: [], commands: () => administer },
  schedules: { ops: [], commands: () => [schedule, schedule, besideLock('schedules')] },
  locks: { ops: [], commands: () => [lock, unlock, besideLock('jobs'), besideLock('jobs')] },
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
