import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { countRemainingRows } from '../support/remaining-rows.js';

describeEngines('the progress of a job', (setup) => {
  it('reaches a waiting process in order, the last value before the result', async () => {
    const world = await setup();
    const steps = [gate(), gate()];
    await world.start({
      handlers: {
        q: async (job) => {
          for (const [n, { opened }] of steps.entries()) {
            job.progress({ step: n });
            job.progress({ step: n, of: steps.length });
            await opened;
          }
          job.progress('done');
          return 'result';
        },
      },
    });
    const { producer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const told: unknown[] = [];

    const result = producer.waitFor(id, { onProgress: (value) => void told.push(value) });
    for (const [n, { open }] of steps.entries()) {
      await eventually(() => told.length > n);
      open();
    }

    expect(await result).toBe('result');
    expect(told).toEqual([{ step: 0, of: 2 }, { step: 1, of: 2 }, 'done']);
  });

  it('is returned by QueueAdmin with the log lines after the job has ended', async () => {
    const world = await setup();
    const { producer, admin, log } = await world.start({
      handlers: {
        q: (job) => {
          job.log('begun');
          job.progress(50);
          job.log('x'.repeat(5_000));
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);

    await producer.waitFor(id);

    expect(await admin.get(id)).toMatchObject({ state: 'completed', progress: 50 });
    expect((await admin.logs(id)).lines.map(({ line }) => line.length)).toEqual([5, 4_000]);
    const { next } = await admin.logs(id, { limit: 1 });
    expect((await admin.logs(id, { after: next })).lines.map(({ number }) => number)).toEqual([2]);
    expect((await admin.logs(id, { order: 'newest' })).lines.map(({ number }) => number)).toEqual([2, 1]);
    expect(log).toEqual([]);
  });

  it('is deleted with a job without retention, and still reaches the process that requested it', async () => {
    const world = await setup();
    const told: unknown[] = [];
    const { producer, events } = await world.start({
      queues: { q: { retention: { completed: false, dead: false } } },
      handlers: { q: (job) => (job.progress(1), job.log('line'), 'done') },
    });

    await producer.enqueue('q', 0);
    await events.until('completed');
    await eventually(async () => Object.keys(await countRemainingRows(world)).length === 0);
    expect(await producer.request('q', 0, { onProgress: (value) => void told.push(value) })).toBe('done');

    expect(told).toEqual([1]);
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('stays with a job that is retained for its key in a queue without retention', async () => {
    const world = await setup();
    const { producer, admin, events, runner } = await world.start({
      queues: { q: { concurrency: 1, retention: { completed: false } } },
      handlers: { q: (job) => job.progress(job.payload) },
    });

    const { id: kept } = await producer.enqueue('q', 'joined', { key: 'k' });
    await events.untilCount(1, 'completed');
    const { id: gone } = await producer.enqueue('q', 'alone');
    await events.untilCount(2, 'completed');
    await runner.whenIdle();
    const traced = async (id: number) =>
      (await world.sql(`SELECT job_id FROM sql_queue_progress WHERE job_id = ${id}`)).length;
    await eventually(async () => (await traced(gone)) === 0);

    expect(await admin.get(kept)).toMatchObject({ state: 'completed', progress: 'joined' });
  });

  it('fails the run if JSON cannot represent it or it is too large', async () => {
    const world = await setup();
    const { producer } = await world.start({
      queues: { q: { maxPayloadBytes: 100 } },
      handlers: { q: (job) => job.progress(job.payload === 'large' ? 'x'.repeat(200) : () => 0) },
    });

    const codes = await Promise.all(
      ['large', 'wrong'].map((payload) =>
        producer.request('q', payload, { retry: 1 }).catch((error: { error: { code: string } }) => error.error.code),
      ),
    );

    expect(codes).toEqual(['PAYLOAD_TOO_LARGE', 'PAYLOAD_INVALID']);
  });

  it('ends the wait of an async listener that rejects', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer } = await world.start({
      handlers: {
        q: (job) => {
          job.progress(1);
          return opened;
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);

    const wait = producer.waitFor(id, { onProgress: () => Promise.reject(new Error('deaf')) });

    await expect(wait).rejects.toThrow('deaf');
    open();
  });

  it('is not written after the outcome, and ends the wait of a listener that throws', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events } = await world.start({
      queues: { q: { timeout: '20ms', retry: 1 } },
      handlers: {
        q: async (job) => {
          job.progress(1);
          await opened;
          job.progress(2);
          job.log('too late');
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);
    const wait = producer.waitFor(id, {
      onProgress: () => {
        throw new Error('deaf');
      },
    });
    await expect(wait).rejects.toThrow('deaf');
    await events.until('dead');
    open();

    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'JOB_FAILED' });
    expect(await countRemainingRows(world, 'logs')).toEqual({});
  });
});
