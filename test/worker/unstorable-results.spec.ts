import { describeEngines, plainJobs, type World } from '../support/engines.js';

function circular(): object {
  const response: Record<string, unknown> = { status: 200 };
  response['config'] = { response };
  return response;
}

const unstorable: [what: string, result: () => unknown, problem: RegExp][] = [
  ['a circular object', circular, /circular reference at config\.response/],
  ['a BigInt', () => 1n, /BigInt/],
  ['more than maxPayloadBytes', () => 'x'.repeat(101), /103 bytes, expected at most 100/],
  [
    'an object that throws when it is read',
    () => ({
      get id() {
        throw new Error('lazy');
      },
    }),
    /lazy/,
  ],
];

const queues = { q: { maxPayloadBytes: 100 } } as const;

describeEngines('a handler with a result that cannot be stored', (setup) => {
  it.each(unstorable)('completes its job in one run: %s', async (_what, result, problem) => {
    const world = await setup();
    const { producer, events, admin, log } = await world.start({ queues, handlers: { q: result } });

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');

    const error = {
      name: 'ResultInvalidError',
      code: 'RESULT_INVALID',
      message: expect.stringMatching(problem) as string,
    };
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, result: null, error });
    expect(events.of('completed')).toMatchObject([{ jobId: id, error }]);
    expect(events.of('completed')[0]).not.toHaveProperty('result');
    expect(events.of('failed')).toEqual([]);
    expect(log.filter((line) => problem.test(line))).toEqual([
      expect.stringMatching(/^warn: Job \d+ "default" of queue "q" is completed, but its result was not kept: /),
    ]);
    await expect(producer.waitFor(id)).rejects.toMatchObject({
      ...{ name: 'ResultInvalidError', code: 'RESULT_INVALID', jobId: id, queue: 'q' },
      problem: expect.stringMatching(problem) as string,
    });
  });

  it('answers its request with a ResultInvalidError', async () => {
    const world = await setup();
    const { producer, events } = await world.start({ queues, handlers: { q: circular } });

    const request = producer.request('q', 0);

    await expect(request).rejects.toMatchObject({ code: 'RESULT_INVALID', queue: 'q' });
    expect(events.of('started')).toHaveLength(1);
  });

  it('commits its transaction if the transaction returned the result', async () => {
    const world = await withEffects(await setup());
    const { producer, events, admin } = await world.start({
      queues,
      handlers: {
        q: (job) =>
          job.transaction(async (manager) => {
            await manager.query('INSERT INTO effects VALUES (1)');
            return circular();
          }),
      },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');

    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, error: { code: 'RESULT_INVALID' } });
    expect(events.of('completed')).toMatchObject([{ error: { code: 'RESULT_INVALID' } }]);
    expect(await world.sql('SELECT id FROM effects')).toEqual([{ id: 1 }]);
  });

  it('completes the jobs of its batch, and the other jobs keep their results', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({
      ...{ queues, autoStart: false },
      handlers: {
        q: {
          batch: 10,
          handle: (jobs) => Promise.allSettled([Promise.resolve(7), Promise.resolve(1n)].slice(0, jobs.length)),
        },
      },
    });
    const [kept, lost] = await producer.enqueueMany('q', plainJobs(2));

    await runner.start();
    await events.untilCount(2, 'completed');

    expect(await admin.get(kept!.id)).toMatchObject({ state: 'completed', attempt: 1, result: 7, error: null });
    expect(await admin.get(lost!.id)).toMatchObject({ result: null, error: { code: 'RESULT_INVALID' } });
  });

  it('keeps the error of each such result among many completions', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({
      ...{ queues: { q: { ...queues.q, concurrency: 20 } }, autoStart: false },
      handlers: { q: ({ payload }) => (payload === 1 ? 1n : undefined) },
    });
    await producer.enqueueMany(
      'q',
      Array.from({ length: 20 }, (_, index) => ({ payload: index % 2 })),
    );

    await runner.start();
    await events.untilCount(20, 'completed');

    const { jobs: done } = await admin.find({ state: 'completed' });
    const codes = done.map(({ payload, error }) => [payload, error?.code]);
    expect(codes.filter(([payload]) => payload === 1)).toEqual(Array.from({ length: 10 }, () => [1, 'RESULT_INVALID']));
    expect(codes.filter(([payload]) => payload === 0)).toEqual(Array.from({ length: 10 }, () => [0, undefined]));
  });

  it('sends the error to processes that listen to the events of its queue', async () => {
    const world = await setup();
    const { producer, listenAnywhere } = await world.start({
      queues: { q: { ...queues.q, events: true } },
      handlers: { q: circular },
    });
    const heard = await listenAnywhere();

    await producer.enqueue('q', 0);

    expect(await heard.until('completed')).toMatchObject({ error: { code: 'RESULT_INVALID' } });
  });
});

async function withEffects(world: World): Promise<World> {
  await world.sql('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
  return world;
}
