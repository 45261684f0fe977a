import { InvalidOptionsError, PayloadInvalidError, Queue, QueueProducer } from 'nestjs-sql-queue';
import { DataSource, type EntityManager } from 'typeorm';
import { createJobContext, FakeQueueProducer, InlineQueueProducer } from 'nestjs-sql-queue/testing';

describe('FakeQueueProducer', () => {
  it('replaces a QueueProducer and records its calls', async () => {
    const producer = new FakeQueueProducer();

    const job = await producer.enqueue('email.send', { to: 'ada' }, { delay: '5m', headers: { trace: '1' } });
    await producer.enqueueMany('email.send', [{ payload: { to: 'grace' } }]);

    expect(producer).toBeInstanceOf(QueueProducer);
    expect(job).toEqual({ id: 1, queue: 'email.send', name: 'default', outcome: 'created' });
    expect(producer.enqueued[0]).toMatchObject({
      id: 1,
      payload: { to: 'ada' },
      delayMs: 300_000,
      headers: { trace: '1' },
    });
    expect(producer.payloads('email.send')).toEqual([{ to: 'ada' }, { to: 'grace' }]);
  });

  it('rejects the same calls as the real producer', async () => {
    const producer = new FakeQueueProducer();

    await expect(producer.enqueue('email.send', { n: 1n })).rejects.toThrow(PayloadInvalidError);
    await expect(producer.enqueue('email.send', { to: Promise.resolve('ada') })).rejects.toThrow(
      /a Promise at to: await it/,
    );
    await expect(producer.enqueue('email.send', {}, { delay: 'soon' as never })).rejects.toThrow(InvalidOptionsError);
    expect(producer.enqueued).toEqual([]);
  });

  it('records the job of a statement when it is built, because its transactions have no effect', async () => {
    const producer = new FakeQueueProducer();

    const { values, notify } = await producer.enqueueStatement('q', { to: 'ada' }, { delay: '5m' });
    notify();

    expect(producer.enqueued).toMatchObject([{ queue: 'q', payload: { to: 'ada' }, delayMs: 300_000 }]);
    expect(values).toEqual([]);
    await expect(producer.enqueueStatement('q', 0, { key: 'k' } as never)).rejects.toThrow(InvalidOptionsError);
  });

  it('builds the statement of the queue that a Queue names', async () => {
    const producer = new FakeQueueProducer();
    const queue = new Queue(
      'mails',
      () => producer,
      () => ({}) as never,
    );

    await queue.enqueueStatement('hello', { priority: 3 });

    expect(producer.enqueued).toMatchObject([{ queue: 'mails', payload: 'hello', priority: 3 }]);
  });

  it('accepts and records groups', async () => {
    const producer = new FakeQueueProducer();

    await producer.enqueue('sync', 1, { group: 'tenant-1', key: 'k', onConflict: 'after' });

    expect(producer.enqueued).toMatchObject([{ group: 'tenant-1', key: 'k' }]);
    await expect(producer.enqueue('sync', 1, { group: ' ' })).rejects.toThrow('expected group to be a text');
  });
});

describe('a flow of a test double', () => {
  it('is recorded by a FakeQueueProducer, and checked as by the real one', async () => {
    const producer = new FakeQueueProducer();

    const flow = await producer.flow((f) => f.add('b', 2, { after: f.add('a', 1), delay: '1m' }));

    expect(flow.jobs).toMatchObject([
      { id: 1, queue: 'a' },
      { id: 2, queue: 'b' },
    ]);
    expect(producer.enqueued).toMatchObject([{ payload: 1 }, { payload: 2, delayMs: 60_000 }]);
    await expect(producer.flow(() => undefined)).rejects.toThrow('expected at least one job, got 0');
  });

  it('runs in the order of its jobs with an InlineQueueProducer', async () => {
    const ran: unknown[] = [];
    const producer = new InlineQueueProducer({ a: (job) => ran.push(job.payload), b: (job) => ran.push(job.payload) });

    await producer.flow((f) => f.add('b', 2, { after: f.add('a', 1) }));

    expect(ran).toEqual([1, 2]);
  });
});

describe.each([
  ['FakeQueueProducer', () => new FakeQueueProducer()],
  ['InlineQueueProducer', () => new InlineQueueProducer({ q: () => undefined })],
])('the manager passed to a %s', (_name, producerOf) => {
  it('can be a stand-in, and is rejected if it is a TypeORM manager without an open transaction', async () => {
    const producer = producerOf();
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    const { manager } = dataSource;

    const joined = await dataSource.transaction((own) => producer.enqueue('q', 0, { manager: own }));
    const faked = await producer.enqueue('q', 0, { manager: {} as EntityManager });

    expect([joined.outcome, faked.outcome]).toEqual(['created', 'created']);
    await expect(producer.enqueue('q', 0, { manager })).rejects.toThrow(InvalidOptionsError);
    await expect(producer.enqueue('q', 0, { manager, key: 'k' })).rejects.toThrow(InvalidOptionsError);
    await expect(producer.publish('topic', 0, { manager })).rejects.toThrow(InvalidOptionsError);
    await dataSource.destroy();
  });
});

describe('FakeQueueProducer.publish()', () => {
  it('records each message, even within a transaction, and validates it like the real producer', async () => {
    const producer = new FakeQueueProducer();

    const copies = await producer.publish('user.created', { id: 7 }, { headers: { region: 'eu' } });
    await producer.withManager().publish('user.deleted', 7);
    const refused = producer.publish('user created', 7);

    await expect(refused).rejects.toThrow(InvalidOptionsError);
    expect(copies).toEqual([]);
    expect(producer.published).toEqual([
      { topic: 'user.created', payload: { id: 7 }, headers: { region: 'eu' } },
      { topic: 'user.deleted', payload: 7, headers: {} },
    ]);
    producer.clear();
    expect(producer.published).toEqual([]);
  });
});

describe('FakeQueueProducer with keys', () => {
  it('holds them until clear()', async () => {
    const producer = new FakeQueueProducer();
    const put = (payload: number, onConflict?: 'return' | 'reject' | 'replace') =>
      producer.enqueue('q', payload, { key: 'k', ...(onConflict && { onConflict }) });

    const first = await put(1);
    const second = await put(2);
    const replaced = await put(3, 'replace');
    await expect(put(4, 'reject')).rejects.toMatchObject({ code: 'DUPLICATE_KEY', jobId: first.id });

    expect([first, second, replaced].map(({ id, outcome }) => [id, outcome])).toEqual([
      [1, 'created'],
      [1, 'existing'],
      [1, 'replaced'],
    ]);
    expect(producer.enqueued).toMatchObject([{ id: 1, payload: 3, key: 'k' }]);
    producer.clear();
    expect(await put(5)).toEqual({ id: 1, queue: 'q', name: 'default', outcome: 'created' });
  });
});

describe('InlineQueueProducer', () => {
  it('rejects the wait for a result that cannot be stored', async () => {
    const producer = new InlineQueueProducer({ q: () => 1n });

    const { id } = await producer.enqueue('q', 0);

    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'RESULT_INVALID', jobId: id, queue: 'q' });
  });

  it('runs the handlers of subscribed queues inside publish', async () => {
    const received: unknown[] = [];
    const record = ({ queue, payload, headers }: { queue: string; payload: unknown; headers: object }) =>
      void received.push([queue, payload, headers]);
    const producer = new InlineQueueProducer(
      { crm: record, audit: record, shop: record },
      {
        crm: { topic: 'user.*', where: { region: 'eu' } },
        audit: { topic: ['*', 'user.*'] },
        shop: { topic: 'order.*' },
      },
    );

    await producer.publish('user.created', 1, { headers: { region: 'eu' } });
    await producer.publish('user.created', 2);

    expect(received).toEqual([
      ['crm', 1, { region: 'eu', topic: 'user.created' }],
      ['audit', 1, { region: 'eu', topic: 'user.created' }],
      ['audit', 2, { topic: 'user.created' }],
    ]);
  });

  it('runs one job per key at a time', async () => {
    let runs = 0;
    const producer = new InlineQueueProducer({ q: async () => void (await Promise.resolve(++runs)) });

    const both = await Promise.all([1, 2].map((n) => producer.enqueue('q', n, { key: 'k' })));
    const next = await producer.enqueue('q', 3, { key: 'k' });

    expect(both.map(({ id }) => id)).toEqual([1, 1]);
    expect([next.id, runs]).toEqual([2, 2]);
  });

  it('runs the handler inside enqueue', async () => {
    const sent: unknown[] = [];
    const producer = new InlineQueueProducer({
      'email.send': (job) => sent.push([job.name, job.payload, job.headers]),
    });

    await producer.enqueue('email.send', { to: 'ada' }, { name: 'welcome', headers: { trace: '1' } });

    expect(sent).toEqual([['welcome', { to: 'ada' }, { trace: '1' }]]);
  });

  it('rejects with the error of the handler, and names its handlers for an unknown queue', async () => {
    const producer = new InlineQueueProducer({ broken: () => Promise.reject(new Error('no')) });

    await expect(producer.enqueue('broken', {})).rejects.toThrow('no');
    await expect(producer.enqueue('missing', {})).rejects.toThrow(
      'No inline handler for queue "missing" (known: broken)',
    );
  });
});

describe('createJobContext', () => {
  it('creates a context with observable outcomes', () => {
    const outcomes: unknown[] = [];
    const job = createJobContext(
      { to: 'ada' },
      { attempt: 3, maxAttempts: 3, decide: (outcome) => outcomes.push(outcome) },
    );

    expect(() => job.discard('no such address')).toThrow('discarded: no such address');
    expect(job).toMatchObject({ payload: { to: 'ada' }, isLastAttempt: true });
    expect(outcomes).toEqual([{ kind: 'discard', reason: 'no such address' }]);
  });
});
