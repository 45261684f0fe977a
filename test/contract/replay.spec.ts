import { finalBatchOf, ERROR, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores, type World } from '../support/stores.js';

const spread = { to: undefined, firstMs: 0, intervalMs: 1_000, completed: false };

async function dead({ put, claim, jobs }: World, count: number): Promise<number[]> {
  const ids = await put(
    ...Array.from({ length: count }, () => ({ maxAttempts: 3, headers: '{"h":"1","dead-letter.queue":"z"}' })),
  );
  await jobs.complete(finalBatchOf(await claim({ limit: count }), outcomes.dead));
  return ids;
}

describeStores('replay()', (setup) => {
  it('spreads jobs evenly, the first at once', async () => {
    const world = await setup();
    const ids = await dead(world, 3);

    const moved = await world.admin.replay([...ids].reverse(), spread);

    expect(moved).toEqual(ids);
    expect((await world.claim({ limit: 9 })).jobs.map(({ id }) => id)).toEqual([ids[0]]);
    for (const id of ids.slice(1)) {
      expect((await world.claim({ limit: 9 })).jobs).toEqual([]);
      world.advance(1_001);
      await world.jobs.promote(9);
      expect((await world.claim({ limit: 9 })).jobs).toMatchObject([
        { id, attempt: 1, maxAttempts: 3, lastError: ERROR },
      ]);
    }
  });

  it('continues after the previous batch', async () => {
    const world = await setup();
    const ids = await dead(world, 2);

    await world.admin.replay(ids, { ...spread, firstMs: 60_000 });

    const [first, second] = (await world.admin.find({ state: 'scheduled' }, { order: 'oldest', limit: 9 })).jobs;
    expect(second!.runAt!.getTime() - first!.runAt!.getTime()).toBe(1_000);
    expect(await world.admin.counts()).toMatchObject({ waiting: 0, dead: 0 });
  });

  it('keeps the id of a job that it moves into another queue, and resets the options of the old queue', async () => {
    const world = await setup();
    const ids = await dead(world, 2);

    await world.admin.replay(ids, { to: 'again', firstMs: 0, intervalMs: 0, completed: false });

    const { jobs } = await world.claim({ queue: 'again', limit: 9, maxAttempts: 7 });
    expect(jobs).toMatchObject(
      ids.map((id) => ({ id, queue: 'again', attempt: 1, maxAttempts: 7, headers: '{"h":"1"}' })),
    );
    expect(await world.admin.counts()).toMatchObject({ dead: 0, active: 2 });
  });

  it.each([undefined, 'q'])('takes a key again if it is free, and drops it for another queue (%s)', async (to) => {
    const { jobs, claim, admin } = await setup();
    const die = async (key: string) => {
      const [[placed]] = (await jobs.enqueueKeyed([[keyedJob({ key })]])) as unknown as [[{ id: number }]];
      await jobs.complete(finalBatchOf(await claim(), outcomes.dead));
      return placed.id;
    };
    const [first, second, third] = [await die('a'), await die('a'), await die('b')];

    const moved = await admin.replay([first, second, third], { ...spread, to });
    const elsewhere = await admin.replay([second], { to: 'again', firstMs: 0, intervalMs: 0, completed: false });

    expect([moved, elsewhere]).toEqual([[first, third], [second]]);
    expect((await claim({ queue: 'again' })).jobs).toMatchObject([{ id: second, overrides: null }]);
    expect(await jobs.enqueueKeyed([[keyedJob({ key: 'a' })]])).toMatchObject([[{ id: first }]]);
  });

  it('leaves completed, scheduled, waiting, active and unknown jobs unchanged', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [completed] = await put({});
    await jobs.complete(finalBatchOf(await claim()));
    const [active] = await put({});
    await claim();
    const [waiting, scheduled] = await put({}, { delayMs: 60_000 });
    const before = await admin.counts();

    expect(await admin.replay([completed!, active!, waiting!, scheduled!, 4_711], spread)).toEqual([]);
    expect(await admin.replay([], spread)).toEqual([]);
    expect(await admin.counts()).toEqual(before);
  });

  it('moves each job once if several calls name it at once', async () => {
    const world = await setup();
    const ids = await dead(world, 20);
    const other = await world.open();

    const moved = await Promise.all([world.admin, other.admin, world.admin].map((admin) => admin.replay(ids, spread)));

    expect(moved.flat().sort((a, b) => a - b)).toEqual(ids);
    expect(await world.admin.counts()).toMatchObject({ dead: 0, waiting: 1, scheduled: 19 });
  });
});
