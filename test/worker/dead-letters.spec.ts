import { UnrecoverableError } from '../../lib/job/errors.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import type { StandardSchemaV1 } from '../../lib/job/standard-schema.js';
import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { rescueRules } from '../support/jobs.js';

// The tests do not depend on a poll.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

const queues = { q: { deadLetter: 'dlq', retry: { attempts: 2 } } };

describeEngines('a dead-letter queue', (setup) => {
  it.each([
    ['fails in its last attempt', () => Promise.reject(new Error('no')), 'Error: no', '2'],
    ['is discarded', (job: JobContext) => job.discard('pointless'), 'UnrecoverableError: pointless', '1'],
    [
      'throws an UnrecoverableError',
      () => Promise.reject(new UnrecoverableError('never')),
      'UnrecoverableError: never',
      '1',
    ],
  ])('receives a job with the payload and the reason from a job that %s', async (_, handler, error, attempts) => {
    const world = await setup();
    const letters = gate<JobContext>();
    const { producer } = await world.start({
      queues,
      handlers: { q: handler, dlq: (job: JobContext) => letters.open(job) },
    });

    const { id } = await producer.enqueue('q', { a: 1 }, { headers: { trace: 'x' } });

    expect(await letters.opened).toMatchObject({
      queue: 'dlq',
      payload: { a: 1 },
      headers: {
        trace: 'x',
        'dead-letter.queue': 'q',
        'dead-letter.id': String(id),
        'dead-letter.attempts': attempts,
        'dead-letter.error': error,
      },
    });
  });

  it('receives a copy of a handed-off or assigned job whose lease expires', async () => {
    const world = await setup();
    const { producer, consumer, runner, admin } = await world.start({
      queues: { q: { deadLetter: 'dlq', retry: 1 }, tasks: { deadLetter: 'dlq', retry: 1 } },
      handlers: { q: (job: JobContext) => job.handOff({ lease: '1m' }) },
      autoStart: false,
    });
    const { id } = await producer.enqueue('tasks', 'assigned');
    await consumer.assign(id, 'ann');
    await consumer.extend(id, { owner: 'ann', lease: '1m' });
    await producer.enqueue('q', 'handed off');
    await runner.start();
    await runner.whenIdle();

    world.advance(61_000);
    const letters = await eventually(async () => {
      const found = (await admin.find({ queue: 'dlq' })).jobs;
      return found.length === 2 && found;
    });

    expect(new Set(letters.map(({ payload }) => payload))).toEqual(new Set(['assigned', 'handed off']));
  });

  it('receives the payload that the schema rejected', async () => {
    const world = await setup();
    const letters = gate<unknown>();
    const refusing: StandardSchemaV1 = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'wrong' }] }) },
    };
    const { producer } = await world.start({ autoStart: false });
    await world.start({
      queues: { q: { deadLetter: 'dlq', schema: refusing } },
      handlers: { q: () => undefined, dlq: ({ payload }: JobContext) => letters.open(payload) },
    });

    await producer.enqueue('q', 'bad');

    expect(await letters.opened).toBe('bad');
  });

  it('is claimed from at once by a notified process that polls rarely', async () => {
    const world = await setup();
    const letters = gate();
    const elsewhere = await world.start({ worker: HARDLY_EVER, handlers: { dlq: () => letters.open() } });
    await elsewhere.workerChannel.untilListening('dlq');
    const { producer, workerChannel } = await world.start({
      queues,
      handlers: { q: (job: JobContext) => job.discard('no') },
    });

    await producer.enqueue('q', 0);

    await letters.opened;
    expect(workerChannel.sent).toContainEqual(['dlq', 1]);
  });

  it('receives the job of a dead worker from a process that does not know the source queue', async () => {
    const world = await setup();
    const begun = gate();
    const letters = gate<Record<string, string>>();
    const dying = await world.start({
      queues: { q: { deadLetter: 'dlq', retry: { attempts: 1 } } },
      worker: HARDLY_EVER,
      handlers: { q: () => new Promise(() => begun.open()) },
    });
    await dying.producer.enqueue('q', 0);
    await begun.opened;

    world.advance(60_000);
    await world.start({ handlers: { dlq: (job: JobContext) => letters.open(job.headers) } });

    expect(await letters.opened).toMatchObject({ 'dead-letter.queue': 'q' });
  });

  it('receives an assigned job that its claim holder fails, or whose lease expires', async () => {
    const world = await setup();
    const { producer, consumer, store, admin } = await world.start({
      queues: { q: { deadLetter: 'dlq', retry: 1 } },
      autoStart: false,
    });
    const failed = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann' });
    await consumer.fail(failed.id, { owner: 'ann', error: 'blurred' });
    const lapsed = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann', lease: '1m' });

    world.advance(61_000);
    await store.rescue(rescueRules({ decide: () => ({ kind: 'dead', error: { name: 'E', message: 'm' } }) }));

    const letters = (await admin.find({ queue: 'dlq' })).jobs;
    expect(letters.map(({ headers }) => headers['dead-letter.id'])).toEqual([String(failed.id), String(lapsed.id)]);
  });

  it('sends no dead letter back to its source queue, even if each queue names the other', async () => {
    const world = await setup();
    const { producer, events, runner, admin } = await world.start({
      queues: { a: { deadLetter: 'b' }, b: { deadLetter: 'a' } },
      handlers: { a: (job: JobContext) => job.discard('no'), b: (job: JobContext) => job.discard('neither') },
    });

    await producer.enqueue('a', 0);
    await events.untilCount(2, 'dead');
    await runner.whenIdle();

    expect(await admin.counts()).toMatchObject({ dead: 2, waiting: 0, active: 0 });
  });
});
