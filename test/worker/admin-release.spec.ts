import type { JobContext } from '../../lib/worker/run/job-context.js';
import { eventually } from '../support/eventually.js';
import { describeEngines, gate, untilAborted, type World } from '../support/engines.js';

/** A worker whose handler of the first run ignores its signal until the gate opens. */
async function hanging(world: World, settings: object = {}) {
  const [started, ended] = [gate(), gate()];
  world.afterTest(() => ended.open());
  const signals: AbortSignal[] = [];
  const engine = await world.start({
    handlers: {
      q: async ({ signal }: JobContext) => {
        signals.push(signal);
        if (signals.length > 1) return 'second';
        started.open();
        await ended.opened;
        return 'first';
      },
    },
    ...settings,
  });
  const { id } = await engine.producer.enqueue('q', 1);
  await started.opened;
  return { ...engine, id, signals, end: () => ended.open() };
}

describeEngines('admin.release', (setup) => {
  it('takes a job from a worker that hangs, and another run completes it with the same attempt', async () => {
    const world = await setup();
    const { admin, id, events, signals, end } = await hanging(world);

    const released = await admin.release(id);
    await untilAborted(signals[0]!);
    const completed = await events.until('completed');
    end();
    await events.until('lost');

    expect([released, completed.jobId, completed.attempt, completed.result]).toEqual([true, id, 1, 'second']);
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, result: 'second' });
  });

  it('does not abort the next run of the job by the same worker, while the first one still hangs', async () => {
    const world = await setup();
    const [started, ended] = [gate(), gate()];
    world.afterTest(() => ended.open());
    const signals: AbortSignal[] = [];
    const { producer, admin, events } = await world.start({
      defaults: { lease: '6s' },
      queues: { q: { concurrency: 2 } },
      handlers: {
        q: async ({ signal }: JobContext) => {
          signals.push(signal);
          started.open();
          await ended.opened;
        },
      },
    });
    const { id } = await producer.enqueue('q', 1);
    await started.opened;
    const renewals = async () => {
      const [row] = await world.sql<{ until: string }>('SELECT MIN(lease_until) AS until FROM sql_queue_claims');
      return Number(row!.until);
    };

    await admin.release(id);
    await events.untilCount(2, 'started');
    // Two heartbeats later, both of which have read the request of the first claim.
    for (let times = 0; times < 2; times++) {
      const before = await renewals();
      await eventually(async () => (await renewals()) > before);
    }

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    ended.open();
    expect(await events.until('completed')).toMatchObject({ jobId: id, attempt: 1 });
  });

  it('reaches the worker of another process, whose later outcome does not count', async () => {
    const world = await setup();
    const { id, runner, signals, events, end } = await hanging(world);
    const other = await world.start({ handlers: { q: () => 'other' } });
    runner.pause();

    await other.admin.release(id);
    const completed = await other.events.until('completed');
    await untilAborted(signals[0]!);
    end();
    await events.until('lost');

    expect(completed).toMatchObject({ jobId: id, result: 'other' });
    expect(await other.admin.get(id)).toMatchObject({ state: 'completed', result: 'other' });
  });

  it('leaves the other jobs of the claim to their worker', async () => {
    const world = await setup();
    const [started, ended] = [gate(), gate()];
    world.afterTest(() => ended.open());
    let running = 0;
    const { producer, admin, events, runner } = await world.start({
      autoStart: false,
      queues: { q: { concurrency: 3 } },
      handlers: {
        q: async () => {
          if (++running === 3) started.open();
          await ended.opened;
        },
      },
    });
    const [first, second, third] = await producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await runner.start();
    await started.opened;
    runner.pause();

    await admin.release(second!.id);
    ended.open();
    await events.untilCount(2, 'completed');

    expect(events.jobs('completed').sort((a, b) => a - b)).toEqual([first!.id, third!.id]);
    expect(await admin.get(second!.id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('gives the limit of its queue back to a job that it takes', async () => {
    const world = await setup();
    const { admin, id, events } = await hanging(world, { queues: { q: { maxRunning: 1, concurrency: 2 } } });

    await admin.release(id);

    expect(await events.until('completed')).toMatchObject({ jobId: id, result: 'second' });
  });

  it('takes a job from the person who has it', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 1);
    await consumer.claim('q', { owner: 'ann' });

    const released = await admin.release(id);

    expect([released, await admin.get(id)]).toMatchObject([true, { state: 'waiting', owner: null }]);
    await expect(consumer.complete(id, { owner: 'ann' })).rejects.toMatchObject({ code: 'JOB_NOT_ASSIGNED' });
  });

  it('changes no waiting, finished or unknown job', async () => {
    const world = await setup();
    const { producer, admin, runner } = await world.start({ handlers: { q: () => undefined } });
    const done = await producer.enqueue('q', 1);
    await runner.whenIdle();
    await runner.stop();
    const waiting = await producer.enqueue('q', 1);

    expect([await admin.release(done.id), await admin.release(waiting.id), await admin.release(4_711)]).toEqual([
      ...[false, false, false],
    ]);
    expect(await admin.counts('q')).toMatchObject({ completed: 1, waiting: 1 });
  });
});
