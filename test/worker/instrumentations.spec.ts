import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type {
  AttemptOfJob,
  DatabaseCall,
  EndedAttempt,
  EndedRun,
  QueueInstrumentation,
  Sending,
  SentJobResult,
} from '../../lib/job/instrumentation.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

/** Records the runs with their ends. */
function recordRuns() {
  const runs: { queue: string; ids: number[]; ends?: readonly EndedRun[] }[] = [];
  const instrumentation: QueueInstrumentation = {
    async run({ queue, jobs }, next) {
      const run: (typeof runs)[number] = { queue, ids: jobs.map(({ id }) => id) };
      runs.push(run);
      run.ends = await next();
    },
  };
  return { runs, instrumentation };
}

/** Records the calls of producers with their results, and adds headers. */
function recordSendings(headers: Record<string, string> = {}) {
  const sendings: { sending: Sending; results?: readonly SentJobResult[]; error?: unknown }[] = [];
  const instrumentation: QueueInstrumentation = {
    async enqueue(sending, next) {
      const record: (typeof sendings)[number] = { sending };
      sendings.push(record);
      for (const job of sending.jobs) Object.assign(job.headers, headers);
      try {
        record.results = await next();
      } catch (error) {
        record.error = error;
        throw error;
      }
    },
  };
  return { sendings, instrumentation };
}

describeEngines('an instrumentation around producers', (setup) => {
  it('adds headers to the jobs of every method that enqueues', async () => {
    const world = await setup();
    const { sendings, instrumentation } = recordSendings({ trace: 't1' });
    const headersOf: Record<string, unknown> = {};
    const { producer, runner, admin } = await world.start({
      instrumentations: [instrumentation],
      subscriptions: { published: { topic: 'news' } },
      handlers: {
        one: (job: JobContext) => void (headersOf.one = job.headers),
        many: (job: JobContext) => void (headersOf.many = job.headers),
        reply: (job: JobContext) => job.headers,
        published: (job: JobContext) => void (headersOf.published = job.headers),
        child: (job: JobContext) => void (headersOf.child = job.headers),
        parent: (job: JobContext) => job.fanOut('child', [1, 2]),
      },
    });

    const one = await producer.enqueue('one', 'ä', { headers: { own: '1' } });
    const many = await producer.enqueueMany('many', plainJobs(2));
    const replied = await producer.request('reply', 0);
    const published = await producer.publish('news', 0);
    const { jobs } = await producer.flow((flow) => flow.add('parent', 0));
    await producer.waitFor(jobs[0]!.id);
    await runner.whenIdle();

    expect(headersOf).toEqual({
      one: { own: '1', trace: 't1' },
      many: { trace: 't1' },
      published: { topic: 'news', trace: 't1' },
      child: { trace: 't1' },
    });
    expect(replied).toEqual({ trace: 't1' });
    expect(await admin.get(jobs[0]!.id)).toMatchObject({ headers: { trace: 't1' } });
    const created = (ids: number[]) => ids.map((id) => expect.objectContaining({ id, outcome: 'created' }) as unknown);
    expect(
      sendings.map(({ sending: { method, queue, jobs }, results }) => [method, queue, jobs.length, results]),
    ).toEqual([
      ['enqueue', 'one', 1, created([one.id])],
      ['enqueueMany', 'many', 2, created(many.map(({ id }) => id))],
      ['request', 'reply', 1, [expect.anything()]],
      ['publish', 'published', 1, created(published.map(({ id }) => id))],
      ['flow', 'parent', 1, created([jobs[0]!.id])],
      ['fanOut', 'child', 2, [expect.anything(), expect.anything()]],
    ]);
    expect(sendings[0]!.sending.jobs[0]).toMatchObject({ queue: 'one', name: 'default', payloadBytes: 4 });
  });

  it('sees several queues as null, the owner of a key as existing, and the error of the call', async () => {
    const world = await setup();
    const { sendings, instrumentation } = recordSendings();
    const { producer } = await world.start({
      instrumentations: [instrumentation],
      queues: { small: { maxWaiting: 1 } },
      autoStart: false,
    });

    await producer.enqueueMany([
      { queue: 'a', payload: 1 },
      { queue: 'b', payload: 2 },
    ]);
    const owner = await producer.enqueue('keyed', 1, { key: 'k', onConflict: 'return' });
    await producer.enqueue('keyed', 2, { key: 'k', onConflict: 'return' });
    const refused = producer.enqueueMany('small', plainJobs(2));

    await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(sendings[0]!.sending.queue).toBeNull();
    expect(sendings[2]!.results).toMatchObject([{ id: owner.id, outcome: 'existing' }]);
    expect(sendings[3]!.error).toMatchObject({ code: 'QUEUE_FULL' });
    await expect(producer.enqueue('q', 1, { priority: 0.5 })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(sendings).toHaveLength(4);
  });

  it('leaves out headers that are invalid or beyond 16 KiB, and keeps those of the caller', async () => {
    const world = await setup();
    const own = { own: 'x'.repeat(16_300) };
    const headers = {
      'not valid': '1',
      number: 1 as never,
      baggage: 'y'.repeat(100),
      trace: 't1',
      own: 'z'.repeat(16_384),
    };
    const { instrumentation } = recordSendings(headers);
    const { producer, admin, log } = await world.start({ instrumentations: [instrumentation], autoStart: false });

    const { id } = await producer.enqueue('q', 0, { headers: own });

    expect(await admin.get(id)).toMatchObject({ headers: { ...own, trace: 't1' } });
    expect((await admin.get(id))!.headers as object).toEqual({ ...own, trace: 't1' });
    expect(log).toEqual([]);
  });

  it('adds headers in the transaction of a caller', async () => {
    const world = await setup();
    const { instrumentation } = recordSendings({ trace: 't1' });
    const { producer, admin } = await world.start({ instrumentations: [instrumentation], autoStart: false });

    const { id } = await world.dataSource.transaction((manager) => producer.enqueue('q', 0, { manager }));

    expect(await admin.get(id)).toMatchObject({ headers: { trace: 't1' } });
  });
});

describeEngines('an instrumentation around handlers', (setup) => {
  it('gets the jobs of each call, and the end of each job', async () => {
    const world = await setup();
    const { runs, instrumentation } = recordRuns();
    const failure = new TypeError('once');
    const { producer, runner } = await world.start({
      instrumentations: [instrumentation],
      handlers: {
        one: (job: JobContext) => {
          if (job.attempt === 1) throw failure;
          return 'done';
        },
        batch: {
          batch: 3,
          handle: (jobs: JobContext[]) =>
            jobs.map((_, index) =>
              index === 1 ? { status: 'rejected', reason: failure } : { status: 'fulfilled', value: index },
            ),
        },
      },
      queues: { batch: { retry: 1 } },
    });
    runner.pause('batch');
    const { id } = await producer.enqueue('one', 0);
    const batch = await producer.enqueueMany('batch', plainJobs(3));
    await producer.waitFor(id);
    runner.resume('batch');
    await runner.whenIdle();
    await eventually(() => runs.every(({ ends }) => ends));

    const error = expect.objectContaining({ name: 'TypeError', message: 'once' }) as unknown;
    expect(runs).toEqual([
      { queue: 'one', ids: [id], ends: [{ outcome: 'failed', error, thrown: failure }] },
      { queue: 'one', ids: [id], ends: [{ outcome: 'completed' }] },
      {
        queue: 'batch',
        ids: batch.map((job) => job.id),
        ends: [{ outcome: 'completed' }, { outcome: 'dead', error, thrown: failure }, { outcome: 'completed' }],
      },
    ]);
    expect(runs[0]!.ends![0]!.thrown).toBe(failure);
  });

  it('learns of snoozes, hand-offs and timeouts, also if the handler goes on', async () => {
    const world = await setup();
    const { runs, instrumentation } = recordRuns();
    const hanging = gate();
    const { producer } = await world.start({
      instrumentations: [instrumentation],
      queues: { slow: { timeout: '20ms', retry: 1 } },
      handlers: {
        snoozing: (job: JobContext) => job.snooze('1h'),
        printing: async (job: JobContext) => void (await job.handOff()),
        slow: () => hanging.opened,
      },
    });

    for (const queue of ['snoozing', 'printing', 'slow']) await producer.enqueue(queue, 0);
    await eventually(() => runs.length === 3 && runs.every(({ ends }) => ends));
    hanging.open();

    const ends = Object.fromEntries(runs.map(({ queue, ends }) => [queue, ends![0]]));
    expect(ends).toMatchObject({
      snoozing: { outcome: 'snoozed', error: undefined },
      printing: { outcome: 'handed-off' },
      slow: { outcome: 'dead', thrown: expect.objectContaining({ code: 'JOB_TIMEOUT' }) as unknown },
    });
  });

  it('decides the asynchronous context of the handler, the first instrumentation outermost', async () => {
    const world = await setup();
    const storage = new AsyncLocalStorage<string>();
    const within = (name: string): QueueInstrumentation => ({
      run: (_, next) => storage.run(`${storage.getStore() ?? ''}${name}`, next),
    });
    const { producer } = await world.start({
      instrumentations: [within('a'), within('b')],
      handlers: {
        q: async () => {
          await setImmediate();
          return storage.getStore();
        },
      },
    });

    expect(await producer.request('q', 0)).toBe('ab');
  });

  it('is not called for a job whose payload the schema rejects', async () => {
    const world = await setup();
    const { runs, instrumentation } = recordRuns();
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => (value === 1 ? { value } : { issues: [{ message: 'one' }] }),
      },
    } as const;
    const writer = await world.start({ autoStart: false });
    const { id } = await writer.producer.enqueue('q', 2);
    const { events } = await world.start({
      instrumentations: [instrumentation],
      queues: { q: { schema } },
      handlers: { q: () => {} },
    });

    await events.until('dead', { jobId: id });

    expect(runs).toEqual([]);
  });
});

const BROKEN: [string, QueueInstrumentation][] = [
  ['throws before next()', { enqueue: () => fail(), run: () => fail() }],
  ['rejects before next()', { enqueue: async () => fail(), run: async () => fail() }],
  ['throws after next()', { enqueue: (_, next) => [next(), fail()], run: (_, next) => [next(), fail()] }],
  [
    'rejects after next()',
    { enqueue: async (_, next) => [await next(), fail()], run: async (_, next) => [await next(), fail()] },
  ],
  ['never calls next()', { enqueue: () => undefined, run: async () => undefined }],
  [
    'awaits before next()',
    {
      enqueue: async (_, next) => [await setImmediate(), await next()],
      run: async (_, next) => [await setImmediate(), await next()],
    },
  ],
  [
    'calls next() twice',
    { enqueue: async (_, next) => [await next(), next()], run: async (_, next) => [await next(), next()] },
  ],
  [
    'never ends',
    { enqueue: (_, next) => [next(), new Promise(() => {})][1], run: (_, next) => [next(), new Promise(() => {})][1] },
  ],
  ['rejects in a notification', { ended: () => Promise.reject(new Error('broken instrumentation')) as never }],
  [
    'rejects with a promise of another realm',
    { ended: runInNewContext('async () => { throw new Error("broken instrumentation"); }') as () => void },
  ],
];

function fail(): never {
  throw new Error('broken instrumentation');
}

describeEngines('an instrumentation that', (setup) => {
  it.each(BROKEN)('%s harms no job, and its error is logged once', async (kind, broken) => {
    const world = await setup();
    let calls = 0;
    const { runs, instrumentation } = recordRuns();
    const { sendings, instrumentation: counting } = recordSendings();
    const { producer, log, admin } = await world.start({
      instrumentations: [broken, instrumentation, counting],
      queues: { bad: { retry: 1 } },
      handlers: {
        q: () => ++calls,
        bad: () => {
          throw new Error('of the handler');
        },
      },
    });

    const results = [await producer.request('q', 0), await producer.request('q', 0)];
    const failed = producer.request('bad', 0);

    await expect(failed).rejects.toMatchObject({
      code: 'JOB_FAILED',
      message: expect.stringContaining('of the handler') as unknown,
    });
    expect(results).toEqual([1, 2]);
    expect(calls).toBe(2);
    expect(runs).toHaveLength(3);
    expect(sendings).toHaveLength(3);
    expect((await admin.counts('q')).waiting).toBe(0);
    const logged = log.filter((line) => line.includes('An instrumentation failed'));
    const isSilent = kind === 'calls next() twice' || kind === 'never ends';
    expect(logged).toHaveLength(isSilent ? 0 : 1);
  });
});

describeEngines('an instrumentation is notified', (setup, server) => {
  it('of a lost lease and of its rescue', async () => {
    const world = await setup();
    const lost: AttemptOfJob[] = [];
    const rescued: EndedAttempt[] = [];
    const ended: EndedAttempt[] = [];
    const started = gate();
    const finish = gate();
    // Each process rescues the jobs of the other one, and its own.
    const settings = {
      instrumentations: [
        {
          leaseLost: (attempt: AttemptOfJob) => void lost.push(attempt),
          rescued: (attempt: EndedAttempt) => void rescued.push(attempt),
          ended: (attempt: EndedAttempt) => void ended.push(attempt),
        },
      ],
      queues: { q: { retry: { attempts: 3, backoff: '1h' as const } } },
      handlers: {
        q: () => {
          started.open();
          return finish.opened;
        },
      },
    };
    const { producer } = await world.start(settings);
    await world.start(settings);
    const { id } = await producer.enqueue('q', 0);
    await started.opened;

    await world.sql('UPDATE sql_queue_claims SET lease_until = 1');
    await eventually(() => rescued.length > 0);
    finish.open();
    await eventually(() => lost.length > 0);

    const attempt = { queue: 'q', name: 'default', jobId: id, attempt: 1 };
    const error = expect.objectContaining({ code: 'WORKER_LOST' }) as unknown;
    expect(lost).toEqual([attempt]);
    expect(rescued).toEqual([{ ...attempt, outcome: 'failed', waitMs: null, ranMs: null, error }]);
    expect(ended.filter((each) => each.attempt === 1)).toEqual(rescued);
  });

  it('when the library repeats a transaction', async () => {
    const world = await setup();
    const codes: string[] = [];
    const { producer, admin } = await world.start({
      instrumentations: [{ databaseRetried: (code) => void codes.push(code) }],
      autoStart: false,
    });
    const { id } = await producer.enqueue('q', 0);
    const locking = world.dataSource.createQueryRunner();
    await locking.startTransaction();
    await locking.query(`UPDATE sql_queue_jobs SET priority = 1 WHERE id = ${id}`);

    const cancelling = admin.cancel(id);
    await eventually(() => codes.length > 0);
    await locking.rollbackTransaction();
    await locking.release();

    expect(await cancelling).toBe(true);
    expect(new Set(codes)).toEqual(new Set([server.name === 'sqlite' ? 'SQLITE_BUSY' : 'ER_LOCK_WAIT_TIMEOUT']));
  });

  it('of claims and of stored outcomes', async () => {
    const world = await setup();
    const calls: DatabaseCall[] = [];
    const { producer, runner } = await world.start({
      instrumentations: [{ databaseCalled: (call) => void calls.push(call) }],
      handlers: { q: () => {} },
    });
    await producer.enqueueMany('q', plainJobs(3));
    await runner.whenIdle();
    await eventually(() => calls.some(({ kind }) => kind === 'complete'));

    const sum = (kind: DatabaseCall['kind']) =>
      calls.filter((call) => call.kind === kind).reduce((jobs, call) => jobs + call.jobs, 0);
    expect([sum('claim'), sum('complete')]).toEqual([3, 3]);
    expect(calls.every(({ queue, durationMs, error }) => queue === 'q' && durationMs >= 0 && error === undefined)).toBe(
      true,
    );
  });
});

describeEngines('the occupancy of a runner', (setup) => {
  it('shows the slots, the running calls and the prefetched jobs of each queue', async () => {
    const world = await setup();
    const release = gate();
    const { producer, runner } = await world.start({
      queues: { q: { concurrency: 2, prefetch: 1 } },
      handlers: { q: () => release.opened, idle: () => {} },
    });
    await producer.enqueueMany('q', plainJobs(3));

    await eventually(() => runner.occupancy().some(({ prefetched }) => prefetched === 1));

    expect(runner.occupancy()).toEqual([
      { queue: 'q', slots: 2, busy: 2, prefetched: 1 },
      { queue: 'idle', slots: expect.any(Number) as number, busy: 0, prefetched: 0 },
    ]);
    release.open();
    await runner.whenIdle();
    expect(runner.occupancy()[0]).toMatchObject({ busy: 0, prefetched: 0 });
    await runner.stop();
    expect(runner.occupancy()).toEqual([]);
  });
});
