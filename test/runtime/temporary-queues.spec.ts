import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

const EXPIRES_MS = 44_000;
// The random number of these engines is 0.5.
const FIRST_PRUNED_MS = 30_000;
const USED_EVERY_MS = EXPIRES_MS / 4;

// With leases so long that the heartbeats of its workers do not keep it.
const temporary = {
  defaults: { lease: '10m' },
  queues: { live: { expiresAfter: EXPIRES_MS } },
  subscriptions: { live: { topic: 'user.*' } },
  handlers: { live: () => 'done', stays: () => 'done' },
} as const;

describeEngines('a worker of a temporary queue', (setup) => {
  it('keeps it in being while it works, however little there is to do', async () => {
    const world = await setup();
    const clock = new FakeClock();
    await world.start({ ...temporary, clock });
    const other = await world.start({ clock, autoStart: false });

    for (let ms = 0; ms < 3 * EXPIRES_MS; ms += USED_EVERY_MS) {
      await clock.resting(USED_EVERY_MS);
      await clock.advance(USED_EVERY_MS);
    }
    await other.admin.prune();

    expect(await other.admin.subscriptions()).toMatchObject([{ queue: 'live' }]);
    expect(await lives(world)).toEqual(['live', 'stays']);
  });

  it('lets it go, when it is stopped, as long after that as it says', async () => {
    const world = await setup();
    const { runner, admin } = await world.start(temporary);
    world.advance(EXPIRES_MS - 1_000);
    await runner.stop();

    world.advance(EXPIRES_MS - 1_000);
    await admin.prune();
    const before = await lives(world);
    world.advance(1_000);
    await admin.prune();

    expect(before).toEqual(['live', 'stays']);
    expect(await lives(world)).toEqual(['stays']);
    expect(await admin.subscriptions()).toEqual([]);
  });

  it('has it back with its subscription after an absence so long that it went', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { admin, events, producer } = await world.start({ ...temporary, clock });
    const other = await world.start({ skewMs: () => 2 * EXPIRES_MS, autoStart: false });
    await other.admin.prune();
    expect(await lives(world)).toEqual(['stays']);

    await clock.resting(USED_EVERY_MS);
    await clock.advance(USED_EVERY_MS);
    await eventually(async () => (await admin.subscriptions()).length > 0);
    await producer.publish('user.created', 7);
    await events.until('completed', { queue: 'live' });

    expect(await lives(world)).toEqual(['live', 'stays']);
  });

  it('of another queue removes it by itself once nobody uses it', async () => {
    const world = await setup();
    const { runner } = await world.start(temporary);
    await runner.stop();
    const clock = new FakeClock();
    await world.start({ handlers: { stays: () => 'done' }, clock, skewMs: () => 2 * EXPIRES_MS + clock.elapsedMs });

    await clock.resting(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await eventually(async () => (await lives(world)).length === 1);

    expect(await lives(world)).toEqual(['stays']);
  });

  it('says once what its queues get besides what it asks for', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    await admin.subscribe('live', { topic: ['order.*', 'user.*'] });
    await admin.subscribe('elsewhere', { topic: '*' });

    const { log } = await world.start(temporary);

    expect(log).toEqual([
      expect.stringMatching(
        /^log: Queues get copies .* do not ask for: live of "order\.\*"\. .*QueueAdmin\.unsubscribe/,
      ),
    ]);
  });
});

async function lives({ sql }: World): Promise<string[]> {
  const rows = await sql<{ queue: string }>('SELECT queue FROM sql_queue_queues ORDER BY queue');
  return rows.map(({ queue }) => queue);
}
