import { InvalidOptionsError } from '../../lib/job/errors.js';
import { describeEngines } from '../support/engines.js';

describeEngines('an admin verb with a filter', (setup) => {
  it.each([
    {},
    { queue: undefined, state: undefined, name: undefined, error: undefined },
    { all: false },
    { all: 'true' },
    { all: true, queue: 'q' },
  ])('rejects a filter without a condition and changes no job: %o', async (filter) => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 1, { delay: '1h' });

    const refusals = [
      await admin.remove(filter as never).catch((error: unknown) => error),
      await admin.retry(filter as never).catch((error: unknown) => error),
      await admin.retry(filter as never, { to: 'r' }).catch((error: unknown) => error),
    ];

    for (const refusal of refusals) expect(refusal).toBeInstanceOf(InvalidOptionsError);
    expect(await admin.counts()).toMatchObject({ scheduled: 1 });
  });

  it('changes every job of every queue if the filter is { all: true }', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 1, { delay: '1h' });
    await producer.enqueue('r', 1, { delay: '1h' });

    expect(await admin.retry({ all: true })).toBe(2);
    expect(await admin.remove({ all: true })).toBe(2);
    expect(await admin.counts()).toMatchObject({ scheduled: 0, waiting: 0 });
  });

  it('takes up to 100 headers, and rejects a filter with more', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    const headersOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, `${n}`]));
    await producer.enqueue('q', 1, { headers: headersOf(100) });
    await producer.enqueue('q', 2, { headers: headersOf(99) });

    const { jobs } = await admin.find({ headers: headersOf(100) });
    const refusal = await admin.find({ headers: headersOf(101) }).catch((error: unknown) => error);

    expect(jobs.map(({ payload }) => payload)).toEqual([1]);
    expect(refusal).toBeInstanceOf(InvalidOptionsError);
    expect((refusal as Error).message).toContain('headers to have at most 100 entries');
  });

  it('names the possible conditions and the filter for every job in its error', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.remove({})).rejects.toThrow(/queue, state, name.*\{ all: true \}/s);
  });
});
