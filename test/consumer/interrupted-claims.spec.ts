import { systemClock } from '../../lib/common/clock.js';
import { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import { StoreUnavailableError } from '../../lib/job/errors.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { ClaimSplit } from '../../lib/store/features/people/consumer-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { LEASE_MS, rescueRules, ruleParts } from '../support/jobs.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { describeStores, describeStoresOf } from '../support/stores.js';

const ANN = { owner: 'ann' } as const;

function consumerOn(
  { consumer, jobs }: Pick<OpenStore, 'consumer' | 'jobs'>,
  logger = ruleParts().logger,
): QueueConsumer {
  return new QueueConsumer({
    ...{
      store: consumer,
      jobs,
      ...ruleParts(),
      logger,
      ended: () => undefined,
      claimed: () => undefined,
      promoted: () => undefined,
      rescue: async () => (await jobs.rescue(rescueRules())).length,
    },
    optionsFor: () => resolveQueueOptions(),
    clock: systemClock,
  });
}

describeStores('a process killed during a claim for people', (setup) => {
  it('leaves its jobs to other claims, without a lost attempt', async () => {
    const world = await setup();
    const [id] = await world.put({});
    const dying = Object.create(world.consumer, { splitClaim: { value: () => Promise.reject(new Error('killed')) } });

    await expect(consumerOn({ ...world, consumer: dying as never }).claim('q', ANN)).rejects.toThrow('killed');
    world.advance(LEASE_MS);
    await world.jobs.rescue(rescueRules());

    expect(await world.admin.get(id!)).toMatchObject({ state: 'waiting', attempt: 0, owner: null });
    expect(await consumerOn(world).claim('q', ANN)).toMatchObject([{ id, attempt: 1 }]);
  });
});

describeStores('a job with a cancellation request during a claim for people', (setup) => {
  it('is cancelled instead of claimed, and the other jobs of the claim are assigned', async () => {
    const world = await setup();
    const [cancelled, remaining] = await world.put({}, {});
    const splitClaim = async (split: ClaimSplit) => {
      await world.admin.cancel(cancelled!, () => 60_000);
      return world.consumer.splitClaim(split);
    };
    const consumer = consumerOn({
      ...world,
      consumer: Object.create(world.consumer, { splitClaim: { value: splitClaim } }),
    });

    const held = await consumer.claim('q', { ...ANN, limit: 2 });
    world.advance(LEASE_MS);
    await world.jobs.rescue(rescueRules());

    expect(held).toMatchObject([{ id: remaining }]);
    expect(await world.admin.get(cancelled!)).toMatchObject({ state: 'cancelled' });
    expect(await world.admin.get(remaining!)).toMatchObject({ state: 'active', owner: 'ann' });
  });
});

describeStores('a malformed job that a claim for people cannot end', (setup) => {
  it('keeps its lease as do further ones, and the caller gets the other jobs of the claim', async () => {
    const world = await setup();
    const [malformed, another, next] = await world.put({}, {}, {});
    await world.sql(`UPDATE sql_queue_jobs SET headers = '5' WHERE id IN (${malformed!}, ${another!})`);
    const ended: number[] = [];
    const end = (id: number) => {
      ended.push(id);
      return Promise.reject(new StoreUnavailableError('no answer', 'not-done'));
    };
    const log: string[] = [];
    const logger = { warn: (line: string) => void log.push(line) };
    const failing = Object.create(world.consumer, { end: { value: end } }) as OpenStore['consumer'];

    const held = await consumerOn({ ...world, consumer: failing }, logger).claim('q', { ...ANN, limit: 3 });

    expect(held).toMatchObject([{ id: next }]);
    expect(ended).toEqual([malformed]);
    expect(log).toEqual([`Cannot end job ${malformed!} of queue "q" without a run: no answer`]);
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toHaveLength(3);
  });

  it('rejects a claim without other jobs', async () => {
    const world = await setup();
    const [malformed] = await world.put({});
    await world.sql(`UPDATE sql_queue_jobs SET headers = '5' WHERE id = ${malformed!}`);
    const end = () => Promise.reject(new StoreUnavailableError('no answer', 'not-done'));
    const consumer = consumerOn({ ...world, consumer: Object.create(world.consumer, { end: { value: end } }) });

    await expect(consumer.claim('q', ANN)).rejects.toThrow('no answer');
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a claim from a stage', (setup) => {
  it('does not take a job that moved to another stage after it was selected', async () => {
    const world = await setup();
    const others = consumerOn(world);
    const [first, second] = await world.put({}, {});
    for (const { id } of await others.claim('q', { ...ANN, limit: 2 }))
      await others.move(id, { ...ANN, stage: 'review' });
    let isMoved = false;
    const driver = interceptingDriver(async (sql) => {
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

describeStoresOf(['mysql', 'mariadb'], 'an assignment', (setup) => {
  it('claims a job in the queue to which a replay has moved it before the lock', async () => {
    const world = await setup();
    const [id] = await world.put({ queue: 'q' });
    const moves: string[] = [];
    const driver = interceptingDriver(async (sql) => {
      if (moves.length > 0 || !/FROM sql_queue_jobs .*claim_id = 0 .*FOR UPDATE/s.test(sql)) return;
      moves.push('other');
      await world.admin.cancel(id!, () => 60_000);
      await world.admin.replay([id!], { to: 'other', firstMs: 0, intervalMs: 0, completed: false });
    });
    const slow = consumerOn(await world.open({ dataSource: await world.connect({ driver }) }));

    const assigned = await slow.assign(id!, 'ann');

    expect(moves).toEqual(['other']);
    expect(assigned).toMatchObject({ id, queue: 'other', owner: 'ann' });
    expect(await world.sql('SELECT queue FROM sql_queue_claims')).toEqual([{ queue: 'other' }]);
  });
});
