import type { HandedOffJob } from '../../lib/worker/run/handler-actions.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

const LEASE_MS = 30_000;

describeEngines('a job that its handler hands off', (setup) => {
  it('is completed by id and token from any process, which emits the event', async () => {
    const world = await setup();
    const { producer, runner, events, admin, log } = await world.start({
      handlers: { q: (job: JobContext) => job.handOff({ lease: '2h' }) },
    });
    const { opened, open } = gate<HandedOffJob>();
    const other = await world.start({
      handlers: { 'give-away': async (job: JobContext) => open(await job.handOff()) },
    });
    const before = await world.now();
    const { id } = await producer.enqueue('q', 0);
    await events.until('started');
    await runner.whenIdle();
    const [claim] = await world.sql<{ id: number; lease_until: number }>('SELECT * FROM sql_queue_claims');
    const active = await admin.get(id);
    await producer.enqueue('give-away', 0);
    const given = await opened;

    await other.consumer.complete(id, { token: String(claim!.id), result: 'printed' });
    await other.consumer.fail(given.id, { token: given.token, error: 'out of paper', retry: false });

    expect(Number(claim!.lease_until)).toBeGreaterThanOrEqual(before + 2 * 3_600_000);
    expect(active).toMatchObject({ state: 'active', attempt: 1, owner: null });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, result: 'printed' });
    expect(await admin.get(given.id)).toMatchObject({ state: 'dead', error: { message: 'out of paper' } });
    expect([events.jobs('completed'), other.events.jobs('completed')]).toEqual([[], [id]]);
    await other.runner.whenIdle();
    expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
    expect(log.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  it('is retried when its lease expires, and its token is invalid from then on', async () => {
    const world = await setup();
    const tokens: HandedOffJob[] = [];
    const { producer, events, consumer, admin } = await world.start({
      handlers: {
        q: async (job: JobContext) => {
          if (job.attempt > 1) return 'at once';
          return tokens.push(await job.handOff({ lease: '2h' }));
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('started');
    await eventually(() => tokens.length === 1);
    const until = await consumer.extend(id, { token: tokens[0]!.token, lease: '3h' });

    world.advance(until.getTime() - (await world.now()) + 1_000);
    await events.until('completed', { jobId: id });

    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2, result: 'at once' });
    expect(events.jobs('rescued')).toEqual([id]);
    await expect(consumer.complete(id, { token: tokens[0]!.token })).rejects.toMatchObject({ code: 'JOB_FINISHED' });
  });

  it('is unaffected if its handler throws, snoozes, starts a transaction, times out or is stopped afterwards', async () => {
    const world = await setup();
    const { opened, open } = gate();
    const handed: HandedOffJob[] = [];
    const { producer, runner, events, admin, log, consumer } = await world.start({
      queues: { slow: { timeout: '1s' } },
      handlers: {
        throws: async (job: JobContext) => {
          handed.push(await job.handOff());
          throw new Error('too late');
        },
        snoozes: async (job: JobContext) => {
          handed.push(await job.handOff());
          job.snooze('1h');
        },
        twice: async (job: JobContext) => {
          handed.push(await job.handOff());
          await job.transaction(() => Promise.resolve(1));
        },
        slow: async (job: JobContext) => {
          handed.push(await job.handOff());
          await opened;
        },
        stuck: async (job: JobContext) => {
          handed.push(await job.handOff());
          await opened;
        },
      },
    });
    const ids: number[] = [];
    for (const queue of ['throws', 'snoozes', 'twice', 'slow', 'stuck'])
      ids.push((await producer.enqueue(queue, 0)).id);
    await eventually(() => handed.length === 5);
    await runner.stop({ timeout: 0 });
    open();

    const records = await Promise.all(ids.map((id) => admin.get(id)));
    for (const each of handed) await consumer.complete(each.id, { token: each.token });

    expect(records).toMatchObject(ids.map((id) => ({ id, state: 'active', attempt: 1, error: null })));
    expect(events.all.map(({ event }) => event).filter((event) => event !== 'completed')).toEqual(
      Array.from({ length: 5 }, () => 'started'),
    );
    expect(log.filter((line) => line.includes('had been handed off, then its handler threw'))).toHaveLength(3);
    expect(await admin.counts()).toMatchObject({ completed: 5, active: 0 });
  });

  it('stays with the other worker, unchanged, if the lease was lost before the hand-off', async () => {
    const world = await setup();
    const { opened, open } = gate();
    const caught: unknown[] = [];
    const first = await world.start({
      handlers: {
        q: async (job: JobContext) => {
          await opened;
          await job.handOff().catch((error: unknown) => {
            caught.push(error);
            throw error;
          });
        },
      },
    });
    const { id } = await first.producer.enqueue('q', 0);
    await first.events.until('started');
    await first.runner.quiet();

    const second = await world.start({ handlers: { q: () => 'done' } });
    world.advance(LEASE_MS + 1);
    await second.events.until('completed');
    open();
    await first.events.until('lost');

    expect(caught).toMatchObject([{ code: 'LEASE_LOST', jobId: id }]);
    expect(await second.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
    expect(await world.sql('SELECT * FROM sql_queue_claims WHERE owner IS NOT NULL')).toEqual([]);
  });

  it('leaves its batch, and the handler ends the other jobs', async () => {
    const world = await setup();
    const handed: HandedOffJob[] = [];
    const { producer, events, runner, consumer, admin } = await world.start({
      handlers: {
        q: {
          batch: 10,
          handle: async (jobs) => {
            for (const job of jobs) if ((job.payload as number) % 2) handed.push(await job.handOff());
          },
        },
      },
      autoStart: false,
    });
    const jobs = await producer.enqueueMany(
      'q',
      [0, 1, 2, 3, 4].map((payload) => ({ payload })),
    );
    const ids = jobs.map(({ id }) => id);
    await runner.start();
    await events.untilCount(3, 'completed');
    await runner.whenIdle();

    const counts = await admin.counts('q');
    for (const each of handed) await consumer.complete(each.id, { token: each.token });

    expect(counts).toMatchObject({ completed: 3, active: 2 });
    expect(handed.map(({ id }) => id)).toEqual([ids[1], ids[3]]);
    expect(await admin.counts('q')).toMatchObject({ completed: 5, active: 0 });
  });

  it('is cancelled at once, since no handler runs it', async () => {
    const world = await setup();
    const { producer, events, runner, consumer, admin } = await world.start({
      handlers: { q: (job: JobContext) => job.handOff({ lease: '2h' }) },
    });
    const [one] = await producer.enqueueMany('q', plainJobs(1));
    await events.until('started');
    await runner.whenIdle();

    await admin.cancel(one!.id);

    expect(await admin.get(one!.id)).toMatchObject({ state: 'cancelled' });
    await expect(consumer.unassign(one!.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' });
  });

  it('ends as cancelled if another process requested that while its handler ran', async () => {
    const world = await setup();
    const { opened: wished, open: wish } = gate();
    const { producer, events, admin } = await world.start({
      handlers: {
        q: async (job: JobContext) => {
          await wished;
          return job.handOff({ lease: '2h' });
        },
      },
    });
    const other = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await events.until('started');

    const answer = await other.admin.cancel(id);
    wish();
    await events.until('cancelled');

    expect(answer).toBe(true);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled' });
  });

  it('fails its attempt if the lease of the hand-off is invalid', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      queues: { q: { retry: 1 } },
      handlers: { q: (job: JobContext) => job.handOff({ lease: '1ms', leese: 1 } as never) },
    });

    await producer.enqueue('q', 0);
    const { error } = await events.until('dead');

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringMatching(/leese[^]*lease to be/) });
  });
});
