import { describeEngines } from '../support/engines.js';

describeEngines('a malformed job', (setup) => {
  it.each([
    ['payload', `'[1'`],
    ['headers', `'5'`],
    ['options', `'{"backoff":null}'`],
  ])('(%s) is dead after a claim for an owner, which takes the next job', async (column, value) => {
    const world = await setup();
    const { producer, consumer, admin, events } = await world.start({ autoStart: false });
    const malformed = await producer.enqueue('q', 1);
    const next = await producer.enqueue('q', 2);
    await world.sql(`UPDATE sql_queue_jobs SET ${column} = ${value} WHERE id = ${malformed.id}`);

    const claimed = await consumer.claim('q', { owner: 'ann' });

    expect(claimed.map(({ id }) => id)).toEqual([next.id]);
    const record = await admin.get(malformed.id);
    expect(record).toMatchObject({ state: 'dead', error: { code: 'MALFORMED_JOB' } });
    expect(record!.error!.message).toContain(`column ${column}: expected`);
    expect(events.of('dead')).toMatchObject([{ jobId: malformed.id }]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toHaveLength(1);
  });

  it('is dead after its assignment, which rejects with the reason', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 1);
    await world.sql(`UPDATE sql_queue_jobs SET payload = '[1' WHERE id = ${id}`);

    const assigned = consumer.assign(id, 'ann');

    await expect(assigned).rejects.toMatchObject({ code: 'MALFORMED_JOB', jobId: id, column: 'payload' });
    expect(await admin.get(id)).toMatchObject({ state: 'dead' });
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('starts anew after a retry, with defaults for malformed columns', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({ handlers: { q: () => 'done' } });
    const { id } = await producer.enqueue('q', 1, { delay: '1h' });
    await world.sql(`UPDATE sql_queue_jobs SET options = '{"backoff":null}' WHERE id = ${id}`);
    await admin.retry(id);
    await events.until('dead', { jobId: id });

    await admin.retry(id);

    await events.until('completed', { jobId: id });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: 'done' });
  });
});
