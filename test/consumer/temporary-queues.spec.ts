import { describeEngines } from '../support/engines.js';

const EXPIRES_MS = 44_000;

const temporary = {
  queues: { live: { expiresAfter: EXPIRES_MS } },
  subscriptions: { live: { topic: 'user.*' } },
  handlers: { live: () => 'done' },
} as const;

describeEngines('a temporary queue without a worker', (setup) => {
  it('does not expire while a consumer without its options claims from it', async () => {
    const world = await setup();
    const { runner } = await world.start(temporary);
    await runner.stop();
    const { consumer, admin } = await world.start({ autoStart: false });

    for (let times = 0; times < 4; times++) {
      world.advance(EXPIRES_MS - 4_000);
      await consumer.claim('live');
      await admin.prune();
    }
    const before = await admin.subscriptions();
    world.advance(EXPIRES_MS);
    await admin.prune();

    expect(before).toMatchObject([{ queue: 'live' }]);
    expect(await admin.queues()).toEqual([]);
  });

  it('stores its last use at most four times within its expiry time', async () => {
    const world = await setup();
    const { runner } = await world.start(temporary);
    await runner.stop();
    const { consumer } = await world.start({ autoStart: false });
    const usedAt = async () =>
      Number((await world.sql<{ used_at: number }>('SELECT * FROM sql_queue_queues'))[0]!.used_at);
    const before = await usedAt();

    world.advance(EXPIRES_MS / 8);
    await consumer.claim('live');
    const soon = await usedAt();
    world.advance(EXPIRES_MS / 8);
    await consumer.claim('live');

    expect(soon).toBe(before);
    expect(await usedAt()).toBeGreaterThanOrEqual(before + EXPIRES_MS / 4);
  });
});
