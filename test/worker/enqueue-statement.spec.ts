import { randomBytes } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import type { QueueInstrumentation, Sending } from '../../lib/job/instrumentation.js';
import type { EnqueueStatement } from '../../lib/producer/enqueued-job.js';
import type { Engine } from '../support/engine.js';
import { describeEngines, type World } from '../support/engines.js';
import { blobsFor } from '../support/test-blobs.js';

// Only a notification makes such a worker find a job in time.
const RARE_POLL = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('a job that the application stores with its statement', (setup) => {
  it('runs without a notification, once', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({ handlers: { q: (job) => job.payload } });

    await commit(world, await producer.enqueueStatement('q', { to: 'ann' }));

    expect(await events.until('completed')).toMatchObject({ result: { to: 'ann' } });
    expect(await admin.counts('q')).toMatchObject({ completed: 1, waiting: 0 });
  });

  it('wakes the worker of another process that rarely polls', async () => {
    const world = await setup();
    const worker = await world.start({ worker: RARE_POLL, handlers: { q: () => 'done' } });
    const { producer } = await world.start({ autoStart: false });
    await untilListening(worker);

    const { notify } = await commit(world, await producer.enqueueStatement('q', 0));
    notify();

    expect(await worker.events.until('completed')).toMatchObject({ result: 'done' });
  });

  it('wakes the worker of this process that rarely polls', async () => {
    const world = await setup();
    const worker = await world.start({ worker: RARE_POLL, handlers: { q: () => 'done' } });
    await untilListening(worker);

    const { notify } = await commit(world, await worker.producer.enqueueStatement('q', 0));
    notify();

    expect(await worker.events.until('completed')).toMatchObject({ result: 'done' });
  });

  it('runs when its delay is over, also if the worker rarely polls', async () => {
    const world = await setup();
    const worker = await world.start({ worker: RARE_POLL, handlers: { q: () => 'done' } });
    const { producer } = await world.start({ autoStart: false });
    await untilListening(worker);

    const { notify } = await commit(world, await producer.enqueueStatement('q', 0, { delay: '300ms' }));
    notify();

    const { jobId } = await worker.events.until('completed');
    const job = await worker.admin.get(jobId);
    expect(job!.startedAt!.getTime() - job!.createdAt.getTime()).toBeGreaterThanOrEqual(300);
  });

  it('leaves nothing if its transaction rolls back, also after a notification', async () => {
    const world = await setup();
    const worker = await world.start({ worker: RARE_POLL, handlers: { q: (job) => job.payload } });
    await untilListening(worker);
    const rolledBack = await worker.producer.enqueueStatement('q', 'rolled back');

    const failed = world.dataSource.transaction(async (manager) => {
      await manager.query(rolledBack.sql, rolledBack.values);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    rolledBack.notify();
    await worker.producer.enqueue('q', 'committed');

    expect(await worker.events.until('completed')).toMatchObject({ result: 'committed' });
    expect(await worker.admin.counts('q')).toMatchObject({ completed: 1, waiting: 0, active: 0 });
  });

  it('has its payload encrypted, and decrypted for its handler', async () => {
    const world = await setup();
    const codec = aesGcm({ keys: [{ id: 'a', key: randomBytes(32) }] });
    const { producer, events } = await world.start({ codec, handlers: { q: (job) => job.payload } });

    const statement = await producer.enqueueStatement('q', 'secret');
    await commit(world, statement);

    expect(`${statement.sql} ${statement.values.map(textOf).join(' ')}`).not.toContain('secret');
    expect(await events.until('completed')).toMatchObject({ result: 'secret' });
  });

  it('has a long payload in the blob store', async () => {
    const world = await setup();
    const blobs = await blobsFor(world);
    const { producer, events } = await world.start({
      ...{ blobs: { store: blobs.store, over: '1kb' }, handlers: { q: (job) => (job.payload as string).length } },
    });

    await commit(world, await producer.enqueueStatement('q', 'x'.repeat(5_000)));

    expect(await events.until('completed')).toMatchObject({ result: 5_000 });
    expect(await blobs.keys()).toHaveLength(1);
  });

  it('has the headers that an instrumentation adds', async () => {
    const world = await setup();
    const sendings: Sending[] = [];
    const results: unknown[] = [];
    const tracing: QueueInstrumentation = {
      async enqueue(sending, next) {
        sendings.push(sending);
        sending.jobs[0]!.headers.trace = '4bf9';
        results.push(await next());
      },
    };
    const { producer, events } = await world.start({
      instrumentations: [tracing],
      handlers: { q: (job) => job.headers },
    });

    await commit(world, await producer.enqueueStatement('q', 0));

    expect(await events.until('completed')).toMatchObject({ result: { trace: '4bf9' } });
    expect(sendings).toMatchObject([{ method: 'enqueueStatement', queue: 'q' }]);
    expect(results).toEqual([[]]);
  });
});

/** Stores the job in a transaction of the application. */
async function commit({ dataSource }: World, statement: EnqueueStatement): Promise<EnqueueStatement> {
  await dataSource.transaction((manager) => manager.query(statement.sql, statement.values));
  return statement;
}

/** Waits until only a notification can make the worker find a job. */
async function untilListening({ workerChannel, runner }: Engine): Promise<void> {
  await workerChannel.untilListening();
  await runner.whenIdle();
  await workerChannel.untilListening();
}

/** A text that travels as hexadecimal digits, as it is stored. */
function textOf(value: string | number | null): string {
  return `${value} ${Buffer.from(String(value), 'hex').toString()}`;
}
