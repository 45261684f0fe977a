import { InvalidOptionsError } from '../../lib/job/errors.js';
import { describeEngines } from '../support/engines.js';

describeEngines('steering by a filter', (setup) => {
  it.each([
    {},
    { queue: undefined, state: undefined, name: undefined, error: undefined },
    { all: false },
    { all: 'true' },
    { all: true, queue: 'q' },
  ])('refuses a filter without a condition, and steers no job: %p', async (filter) => {
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

  it('takes { all: true } for every job of every queue', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 1, { delay: '1h' });
    await producer.enqueue('r', 1, { delay: '1h' });

    expect(await admin.retry({ all: true })).toBe(2);
    expect(await admin.remove({ all: true })).toBe(2);
    expect(await admin.counts()).toMatchObject({ scheduled: 0, waiting: 0 });
  });

  it('says which conditions there are, and how to mean every job', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.remove({})).rejects.toThrow(/queue, state, name.*\{ all: true \}/s);
  });
});
