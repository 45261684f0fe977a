import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

type Call = (job: JobContext) => Promise<unknown>;

const CALLS: [title: string, call: Call][] = [
  ['step("a")', (job) => job.step('a', () => 1)],
  ['step("a")', (job) => job.step('a', { transaction: true }, (manager) => manager.query('SELECT 1'))],
  ['sleep("a")', (job) => job.sleep('a', '1h')],
  ['waitFor("a")', (job) => job.waitFor('a', { key: 'k' })],
  ['fanOut("child")', (job) => job.fanOut('child', [1])],
  ['transaction()', (job) => job.transaction((manager) => manager.query('INSERT INTO effects VALUES (1)'))],
  ['handOff()', (job) => job.handOff()],
];

const FAILING: [title: string, call: Call][] = [
  ['step("a")', (job) => job.step('a', fail)],
  ['sleep("a")', (job) => job.sleep('a', '1h')],
  ['waitFor("a")', (job) => job.waitFor('a', { key: 'k' })],
  ['fanOut("child")', (job) => job.fanOut('child', [1])],
  ['transaction()', (job) => job.transaction(fail)],
  ['handOff()', (job) => job.handOff({ lease: 'long' as never })],
];

describeEngines('a call that the handler does not await', (setup) => {
  it.each(CALLS)('fails the attempt if it runs at the end of the handler: %s', async (name, call) => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events } = await world.start({
      handlers: { q: (job) => void call(job) },
      queues: { q: { retry: 1 } },
    });

    await producer.enqueue('q', 0);

    const { error } = await events.until('dead');
    expect(error).toMatchObject({ code: 'STEP_NOT_ALLOWED', message: expect.stringContaining(`job.${name}`) });
    expect(await world.sql('SELECT id FROM effects')).toEqual([]);
  });

  it.each(FAILING)('fails the attempt if it was rejected before the end of the handler: %s', async (name, call) => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          await rejectionOf(call(job));
        },
      },
      queues: { q: { retry: 1 } },
    });

    await producer.enqueue('q', 0);

    const { error } = await events.until('dead');
    expect(error).toMatchObject({ code: 'STEP_NOT_ALLOWED', message: expect.stringContaining(`job.${name}`) });
  });

  it.each(CALLS)('does nothing after the end of the run: %s', async (_, call) => {
    const world = await withoutUnhandledRejections(await setup());
    const jobs: JobContext[] = [];
    const { producer, events } = await world.start({ handlers: { q: (job) => void jobs.push(job) } });
    await producer.enqueue('q', 0);
    await events.until('completed');

    const late = call(jobs[0]!);

    await expect(late).rejects.toMatchObject({ code: 'STEP_NOT_ALLOWED' });
    expect(await world.sql('SELECT name FROM sql_queue_steps')).toEqual([]);
    expect(await world.sql('SELECT id FROM effects')).toEqual([]);
  });

  it('leaves the error of its handler the error of the attempt', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          await rejectionOf(job.sleep('a', '1h'));
          throw new Error('broken');
        },
      },
      queues: { q: { retry: 1 } },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('dead')).toMatchObject({ error: { message: 'broken' } });
  });

  it('fails only its own job of a batch', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events, runner } = await world.start({
      handlers: { q: { batch: 2, handle: (jobs) => void jobs[0]!.sleep('a', '1h') } },
      queues: { q: { retry: 1 } },
      autoStart: false,
    });
    const [first, second] = await producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }]);

    await runner.start();

    expect(await events.until('dead')).toMatchObject({ jobId: first!.id, error: { code: 'STEP_NOT_ALLOWED' } });
    expect(await events.until('completed')).toMatchObject({ jobId: second!.id });
  });

  it('lets other jobs of the process run on', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { open, opened } = gate();
    const { producer, events } = await world.start({
      handlers: {
        long: () => opened,
        q: async (job) => {
          await rejectionOf(job.sleep('a', '1h'));
        },
      },
      queues: { q: { retry: 1 } },
    });
    await producer.enqueue('long', 0);
    await events.until('started');

    await producer.enqueue('q', 0);
    await events.until('dead');
    open();

    expect(await events.until('completed')).toMatchObject({ queue: 'long' });
  });
});

describeEngines('a call that the handler handles', (setup) => {
  it('ends the run if it is awaited later', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          const sleeping = job.sleep('a', '1h');
          await rejectionOf(sleeping);
          await sleeping;
        },
      },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('snoozed')).toMatchObject({ attempt: 1 });
    expect(events.of('failed')).toEqual([]);
  });

  it('may fail without an effect on the attempt', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: { q: (job) => job.step('a', fail).catch((error: Error) => error.message) },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('completed')).toMatchObject({ result: 'no' });
  });

  it('fails the attempt if it begins beside a sleep', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { producer, events } = await world.start({
      handlers: { q: (job) => Promise.all([job.sleep('a', '1h'), job.step('b', () => 1)]) },
      queues: { q: { retry: 1 } },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('dead')).toMatchObject({ error: { code: 'STEP_NOT_ALLOWED' } });
  });
});

describeEngines('job.transaction() without await', (setup) => {
  it('is rolled back if its work ends after the handler', async () => {
    const world = await withoutUnhandledRejections(await setup());
    const { open, opened } = gate();
    let late: Promise<unknown> | undefined;
    const { producer, events, admin } = await world.start({
      handlers: {
        q: (job) => {
          late = job.transaction(async (manager) => {
            await opened;
            await manager.query('INSERT INTO effects VALUES (1)');
          });
        },
      },
      queues: { q: { retry: 1 } },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    open();

    await expect(late).rejects.toMatchObject({ code: 'STEP_NOT_ALLOWED' });
    expect(await world.sql('SELECT id FROM effects')).toEqual([]);
    expect(await admin.get(id)).toMatchObject({ state: 'dead', error: { code: 'STEP_NOT_ALLOWED' } });
  });
});

function fail(): never {
  throw new Error('no');
}

/** Waits until the promise is rejected, without a listener on it. */
async function rejectionOf(promise: Promise<unknown>): Promise<void> {
  const { inspect } = await import('node:util');
  await eventually(() => inspect(promise).includes('<rejected>'));
}

/** Also creates the table `effects`. */
async function withoutUnhandledRejections(world: World): Promise<World> {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', note);
  world.afterTest(() => {
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });
  await world.sql('CREATE TABLE effects (id INT)');
  return world;
}
