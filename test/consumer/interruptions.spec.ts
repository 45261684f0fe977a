import { systemClock } from '../../lib/time/clock.js';
import { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { Sharing } from '../../lib/store/consumer-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { LEASE_MS, rescueRules, ruleParts } from '../support/jobs.js';
import { recordingDriver } from '../support/recording-driver.js';
import { describeStores, describeStoresOf } from '../support/stores.js';

const ANN = { owner: 'ann' } as const;

function consumerOn({ consumer, jobs }: Pick<OpenStore, 'consumer' | 'jobs'>): QueueConsumer {
  return new QueueConsumer({
    ...{
      store: consumer,
      jobs,
      ...ruleParts(),
      ended: () => undefined,
      claimed: () => undefined,
      promoted: () => undefined,
      rescued: () => undefined,
    },
    optionsFor: () => resolveQueueOptions(),
    clock: systemClock,
    hints: { wake: () => undefined, expectDue: () => undefined },
  });
}

describeStores('a process that dies while it claims for people', (setup) => {
  it('leaves its jobs to others, with their attempts', async () => {
    const world = await setup();
    const [id] = await world.put({});
    const dying = Object.create(world.consumer, { share: { value: () => Promise.reject(new Error('killed')) } });

    await expect(consumerOn({ ...world, consumer: dying as never }).claim('q', ANN)).rejects.toThrow('killed');
    world.advance(LEASE_MS);
    await world.jobs.rescue(rescueRules());

    expect(await world.admin.get(id!)).toMatchObject({ state: 'waiting', attempt: 0, owner: null });
    expect(await consumerOn(world).claim('q', ANN)).toMatchObject([{ id, attempt: 1 }]);
  });
});

describeStores('a job that somebody wants cancelled while it is claimed for people', (setup) => {
  it('is handed to nobody and cancelled, and the others of its claim are handed out', async () => {
    const world = await setup();
    const [unwanted, wanted] = await world.put({}, {});
    const share = async (sharing: Sharing) => {
      await world.admin.cancel(unwanted!, () => 60_000);
      return world.consumer.share(sharing);
    };
    const consumer = consumerOn({ ...world, consumer: Object.create(world.consumer, { share: { value: share } }) });

    const held = await consumer.claim('q', { ...ANN, limit: 2 });
    world.advance(LEASE_MS);
    await world.jobs.rescue(rescueRules());

    expect(held).toMatchObject([{ id: wanted }]);
    expect(await world.admin.get(unwanted!)).toMatchObject({ state: 'cancelled' });
    expect(await world.admin.get(wanted!)).toMatchObject({ state: 'active', owner: 'ann' });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a claim from a stage', (setup) => {
  it('does not take a job that has moved on since it was looked at', async () => {
    const world = await setup();
    const others = consumerOn(world);
    const [first, second] = await world.put({}, {});
    for (const { id } of await others.claim('q', { ...ANN, limit: 2 }))
      await others.move(id, { ...ANN, stage: 'review' });
    let isMoved = false;
    const driver = recordingDriver(async (sql) => {
      if (isMoved || !/sql_queue_jobs .*runnable = 2.*SKIP LOCKED/s.test(sql)) return;
      isMoved = true;
      await others.assign(first!, 'bob');
      await others.move(first!, { owner: 'bob', stage: 'printing' });
    });
    const slow = consumerOn(await world.open({ dataSource: await world.connect({ driver }) }));

    const held = await slow.claim('q', { ...ANN, stage: 'review', limit: 2 });

    expect(isMoved).toBe(true);
    expect(held).toMatchObject([{ id: second, stage: 'review' }]);
    expect((await others.inStage('q', 'printing')).jobs).toMatchObject([{ id: first, owner: null, state: 'waiting' }]);
  });
});
