import { rescueRules } from '../support/jobs.js';
import { describeEngines, type World } from '../support/engines.js';

const ANN = { owner: 'ann' };
const BOB = { owner: 'bob' };
const HOUR_MS = 3_600_000;

describeEngines('a snoozed job that keeps its owner', (setup) => {
  async function snoozed(world: World, lease: '1h' | 'until-released' = '1h', until: '2h' | Date = '2h') {
    const { producer, consumer, ...rest } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const before = await world.now();
    await consumer.claim('q', { ...ANN, lease });
    await consumer.snooze(id, { ...ANN, until, keepOwner: true });
    const listed = async () => (await consumer.assigned('ann')).jobs[0];
    return { consumer, ...rest, id, before, listed };
  }

  it('stays with the owner in one attempt, and is not claimed by another', async () => {
    const world = await setup();
    const { id, consumer, store, admin, listed, before } = await snoozed(world);

    const asleep = await listed();
    world.advance(2 * HOUR_MS - 60_000);
    await store.promote(10);
    const rescued = await store.rescue(rescueRules());
    const claimed = await consumer.claim('q', BOB);
    world.advance(60_000);
    const awake = await listed();

    expect(asleep).toMatchObject({ id, state: 'active', owner: 'ann', attempt: 1 });
    expect(asleep!.snoozedUntil!.getTime()).toBeGreaterThanOrEqual(before + 2 * HOUR_MS);
    expect([rescued, claimed, await consumer.claim('q', BOB)]).toEqual([[], [], []]);
    expect(awake).toMatchObject({ id, state: 'active', owner: 'ann', attempt: 1, snoozedUntil: null });
    await consumer.complete(id, ANN);
    expect(await admin.get(id)).toMatchObject({ state: 'completed', owner: 'ann', attempt: 1 });
  });

  it('has its whole lease after a snooze, even after a second one, and expires afterwards', async () => {
    const world = await setup();
    const { id, consumer, store, listed } = await snoozed(world);
    await consumer.snooze(id, { ...ANN, until: '3h', keepOwner: true });

    const { snoozedUntil, leaseUntil } = (await listed())!;
    const { leaseExpiryInMs } = await store.summarizeWork(['q']);
    world.advance(4 * HOUR_MS - 60_000);
    const early = await store.rescue(rescueRules());
    world.advance(60_000);
    const late = await store.rescue(rescueRules());

    expect(leaseUntil!.getTime() - snoozedUntil!.getTime()).toBe(HOUR_MS);
    expect(leaseExpiryInMs).toBeGreaterThan(3 * HOUR_MS);
    expect([early, late.map(({ job }) => job.id)]).toEqual([[], [id]]);
    await expect(consumer.snooze(id, { ...ANN, until: '1h', keepOwner: true })).rejects.toMatchObject({
      code: 'JOB_NOT_ASSIGNED',
    });
  });

  it('stays assigned until its release if it was claimed until its release', async () => {
    const world = await setup();
    const { store, listed } = await snoozed(world, 'until-released');

    world.advance(1_000 * HOUR_MS);

    expect(await store.rescue(rescueRules())).toEqual([]);
    expect(await listed()).toMatchObject({ leaseUntil: null, snoozedUntil: null });
  });

  it('is not snoozed if the date is past', async () => {
    const { listed } = await snoozed(await setup(), '1h', new Date(1_000));

    expect(await listed()).toMatchObject({ owner: 'ann', snoozedUntil: null });
  });

  it.each(['complete', 'fail', 'release', 'unassign', 'cancel', 'snooze'] as const)(
    'ends early by %s, like any assigned job',
    async (verb) => {
      const { id, consumer, admin } = await snoozed(await setup());
      const verbs = {
        complete: () => consumer.complete(id, ANN),
        fail: () => consumer.fail(id, { ...ANN, error: 'no', retry: false }),
        release: () => consumer.release(id, ANN),
        unassign: () => consumer.unassign(id),
        cancel: () => admin.cancel(id),
        snooze: () => consumer.snooze(id, { ...ANN, until: '1h' }),
      };
      const states = {
        ...{ complete: 'completed', fail: 'dead', release: 'waiting', unassign: 'waiting' },
        ...{ cancel: 'cancelled', snooze: 'scheduled' },
      };

      await verbs[verb]();

      expect(await admin.get(id)).toMatchObject({ state: states[verb] });
      expect((await consumer.assigned('ann')).jobs).toEqual([]);
    },
  );

  it.each(['ann', 'bob'])('is no longer snoozed after an assignment to %s', async (owner) => {
    const { id, consumer } = await snoozed(await setup());

    await expect(consumer.assign(id, 'carl', { reassign: false })).rejects.toMatchObject({ claimedBy: 'owner' });
    await consumer.assign(id, owner);

    expect((await consumer.assigned(owner)).jobs).toMatchObject([{ id, snoozedUntil: null, leaseUntil: null }]);
  });

  it('emits an event with its owner', async () => {
    const world = await setup();
    const { producer, consumer, listenAnywhere } = await world.start({
      autoStart: false,
      queues: { q: { events: true } },
    });
    const received = await listenAnywhere();
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);

    await consumer.snooze(id, { ...ANN, until: '2h', keepOwner: true });

    expect(await received.until('snoozed')).toMatchObject({
      jobId: id,
      owner: 'ann',
      attempt: 1,
      delayMs: 2 * HOUR_MS,
    });
  });
});
