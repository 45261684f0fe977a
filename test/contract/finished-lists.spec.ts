import { finalBatchOf, outcomes, completionOf, completionBatchOf } from '../support/jobs.js';
import { readPages } from '../support/read-pages.js';
import { describeStores, type World } from '../support/stores.js';

const all = { order: 'oldest', limit: 1_000 } as const;
const error = { name: 'TypeError', message: '{"name":"Other", "code":"OTHER"', code: 'E_CODE', stack: 's' };

/** Creates dead jobs in the queue, one per error, in their order. */
async function dead({ put, claim, jobs }: World, queue: string, ...errors: object[]): Promise<number[]> {
  const ids = await put(...errors.map(() => ({ queue })));
  const taken = await claim({ queue, limit: errors.length });
  const ends = taken.jobs.map((job, n) =>
    completionOf(taken, job, { kind: 'dead', error: { ...error, ...errors[n] } }),
  );
  await jobs.complete(completionBatchOf(ends));
  return ids;
}

describeStores('find()', (setup) => {
  it('finds finished jobs by the code or the name of their error, and no others', async () => {
    const world = await setup();
    const [a, b] = await dead(world, 'q', {}, { name: 'RangeError', code: undefined });
    await world.put({});

    const find = async (filter: object) => (await world.admin.findIds(filter, all)).jobs;

    expect(await find({ error: 'E_CODE' })).toEqual([a]);
    expect(await find({ error: 'RangeError' })).toEqual([b]);
    for (const none of ['OTHER', 'Other', 'E_', 'Error', '%', 's']) expect(await find({ error: none })).toEqual([]);
    expect(await find({ state: 'dead', otherThan: 'E_CODE' })).toEqual([b]);
    expect(await find({ otherThan: 'RangeError' })).toHaveLength(2);
  });

  it('finds jobs that finished within a period', async () => {
    const world = await setup();
    const [early] = await dead(world, 'q', {});
    const finishedAt = (await world.admin.get(early!))!.finishedAt!;
    world.advance(60_000);
    const [late] = await dead(world, 'q', {});
    await world.put({});
    const between = new Date(finishedAt.getTime() + 1);

    expect((await world.admin.findIds({ finishedBefore: between }, all)).jobs).toEqual([early]);
    expect((await world.admin.findIds({ finishedAfter: between, queue: 'q' }, all)).jobs).toEqual([late]);
    expect((await world.admin.findIds({ finishedAfter: finishedAt, finishedBefore: finishedAt }, all)).jobs).toEqual(
      [],
    );
  });

  it.each([{ state: 'dead' } as const, { queue: 'q7' }, {}, { name: 'default' }])(
    'pages through the finished jobs of many queues and states in the order of their ids: %o',
    async (filter) => {
      const world = await setup();
      for (let n = 0; n < 40; n++) await dead(world, `q${n % 20}`, {});
      for (const queue of ['q7', 'q8']) {
        await world.put({ queue });
        await world.jobs.complete(finalBatchOf(await world.claim({ queue }), outcomes.complete));
      }
      const whole = (await world.admin.find(filter, all)).jobs;

      const found = await readPages((page) => world.admin.find(filter, page), { order: 'oldest', limit: 3 });
      const paged = found.flat().map(({ id }) => id);

      expect(paged).toEqual(whole.map(({ id }) => id));
      expect(paged).toEqual([...paged].sort((a, b) => a - b));
      expect(paged).toHaveLength(filter.state ? 40 : filter.queue ? 3 : 42);
      expect((await world.admin.findIds(filter, all)).jobs).toEqual(paged);
    },
  );
});
