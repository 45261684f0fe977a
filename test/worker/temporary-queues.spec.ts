import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

const EXPIRES_MS = 44_000;
// The random number of these engines is 0.5.
const FIRST_PRUNED_MS = 30_000;
const USED_EVERY_MS = EXPIRES_MS / 4;

// The lease is too long for the heartbeats of the workers to keep the queue alive.
const temporary = {
  defaults: { lease: '10m' },
  queues: { live: { expiresAfter: EXPIRES_MS } },
  subscriptions: { live: { topic: 'user.*' } },
  handlers: { live: () => 'done', stays: () => 'done' },
} as const;

describeEngines('a temporary queue', (setup) => {
  it('stays while its worker runs, even without jobs', async () => {
    const world = await setup();
    const clock = new FakeClock();
    await world.start({ ...temporary, clock });
    const other = await world.start({ clock, autoStart: false });

    for (let ms = 0; ms < 3 * EXPIRES_MS; ms += USED_EVERY_MS) {
      await clock.untilSleeping(USED_EVERY_MS);
      await clock.advance(USED_EVERY_MS);
    }
    await other.admin.prune();

    expect(await other.admin.subscriptions()).toMatchObject([{ queue: 'live' }]);
    expect(await readQueueNames(world)).toEqual(['live', 'stays']);
  });

  it('is deleted the set time after its worker has stopped', async () => {
    const world = await setup();
    const { runner, admin } = await world.start(temporary);
    world.advance(EXPIRES_MS - 1_000);
    await runner.stop();

    world.advance(EXPIRES_MS - 20_000);
    await admin.prune();
    const before = await readQueueNames(world);
    world.advance(20_000);
    await admin.prune();

    expect(before).toEqual(['live', 'stays']);
    expect(await readQueueNames(world)).toEqual(['stays']);
    expect(await admin.subscriptions()).toEqual([]);
  });

  it('is created again with its subscription if it expired while its worker was absent', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { admin, events, producer } = await world.start({ ...temporary, clock });
    const other = await world.start({ skewMs: () => 2 * EXPIRES_MS, autoStart: false });
    await other.admin.prune();
    expect(await readQueueNames(world)).toEqual(['stays']);

    await clock.untilSleeping(USED_EVERY_MS);
    await clock.advance(USED_EVERY_MS);
    await eventually(async () => (await admin.subscriptions()).length > 0);
    await producer.publish('user.created', 7);
    await events.until('completed', { queue: 'live' });

    expect(await readQueueNames(world)).toEqual(['live', 'stays']);
  });

  it('is deleted by a worker of another queue when it has expired', async () => {
    const world = await setup();
    const { runner } = await world.start(temporary);
    await runner.stop();
    const clock = new FakeClock();
    await world.start({ handlers: { stays: () => 'done' }, clock, skewMs: () => 2 * EXPIRES_MS + clock.elapsedMs });

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await eventually(async () => (await readQueueNames(world)).length === 1);

    expect(await readQueueNames(world)).toEqual(['stays']);
  });

  it('has its worker log once the subscriptions that the worker does not declare', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    await admin.subscribe('live', { topic: ['order.*', 'user.*'] });
    await admin.subscribe('elsewhere', { topic: '*' });

    const { log } = await world.start(temporary);

    expect(log).toEqual([
      expect.stringMatching(
        /^log: Queues have subscriptions that no handler .* declares: live of "order\.\*"\. .*QueueAdmin\.unsubscribe/,
      ),
    ]);
  });
});

async function readQueueNames({ sql }: World): Promise<string[]> {
  const rows = await sql<{ queue: string }>('SELECT queue FROM sql_queue_queues ORDER BY queue');
  return rows.map(({ queue }) => queue);
}
