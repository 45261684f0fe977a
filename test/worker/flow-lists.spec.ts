import { describeEngines } from '../support/engines.js';

describeEngines('the list of flows', (setup) => {
  it('has the newest flow first, page by page, and a job names its flow', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    const ids: number[] = [];
    for (const queue of ['a', 'b', 'c'])
      ids.unshift((await producer.flow((f) => f.add(queue, 2, { after: f.add(queue, 1) }))).id);
    const alone = await producer.enqueue('a', 0);

    const first = await admin.flows({}, { limit: 2 });
    const last = await admin.flows({}, { limit: 2, after: first.next });
    const oldest = await admin.flows({ state: 'running', queue: 'a' }, { order: 'oldest' });

    expect([...first.flows, ...last.flows].map(({ id, queue }) => [id, queue])).toEqual([
      [ids[0], 'c'],
      [ids[1], 'b'],
      [ids[2], 'a'],
    ]);
    expect(last.next).toBeUndefined();
    expect(oldest).toMatchObject({ flows: [{ id: ids[2], counts: { waiting: 1, blocked: 1 } }] });
    expect(await admin.get(alone.id)).toMatchObject({ flow: null });
    const { jobs } = await admin.find({ queue: 'b' });
    expect(jobs.map(({ flow }) => flow)).toEqual([ids[1], ids[1]]);
  });

  it.each([
    [{ state: 'dead' }, {}],
    [{ queue: '' }, {}],
    [{ name: 'a' }, {}],
    [{}, { limit: 0 }],
    [{}, { after: 'nothing' }],
  ])('rejects the filter %o with the page %o', async (filter, page) => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.flows(filter as never, page)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});
