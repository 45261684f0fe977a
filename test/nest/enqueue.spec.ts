import { TypeOrmModule } from '@nestjs/typeorm';
import {
  JobContext,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  type StandardSchemaV1,
} from 'nestjs-sql-queue';
import { DataSource, type EntityManager } from 'typeorm';
import { afterTest, compile, IN_MEMORY, FAST_POLL, start, startError } from './support/application.js';

class Mails {
  readonly sent: unknown[] = [];

  @QueueProcessor('mail')
  send(job: JobContext) {
    this.sent.push(job.payload);
  }
}

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('before any SQL, enqueue rejects', () => {
  it.each<[string, unknown[], object]>([
    [
      'an unknown option',
      ['mail', 1, { dealy: '1s' }],
      { code: 'INVALID_OPTIONS', problem: '"dealy", did you mean "delay"?' },
    ],
    [
      'a wrong delay',
      ['mail', 1, { delay: '5 minutes' }],
      { code: 'INVALID_OPTIONS', problem: 'delay to be a duration' },
    ],
    ['an invalid queue name', ['no mail', 1], { code: 'INVALID_OPTIONS', problem: 'queue name' }],
    ['invalid options', ['mail', 1, 'soon'], { code: 'INVALID_OPTIONS', problem: 'got "soon"' }],
    ['a cycle', ['mail', cyclic], { code: 'PAYLOAD_INVALID', problem: 'mail' }],
    ['a function', ['mail', () => 1], { code: 'PAYLOAD_INVALID', problem: 'mail' }],
    ['a payload over the limit', ['mail', 'x'.repeat(2_000_000)], { code: 'PAYLOAD_TOO_LARGE', problem: '1048576' }],
    [
      'a payload that the schema of the queue rejects',
      ['checked', 'text'],
      { code: 'PAYLOAD_INVALID', problem: 'expected a number' },
    ],
    ['an invalid manager', ['mail', 1, { manager: {} }], { code: 'INVALID_OPTIONS', problem: 'manager' }],
  ])('%s, and works afterwards', async (_what, given, { code, problem }: { code?: string; problem?: string }) => {
    const { get, ended } = await start({ providers: [Mails] }, { queues: { checked: { schema: numbers } } });
    const producer = get(QueueProducer);

    const refused = producer.enqueue(...(given as Parameters<QueueProducer['enqueue']>));

    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(problem!) as string });
    expect(await ended(await producer.enqueue('mail', 'fine'))).toMatchObject({ state: 'completed', id: 1 });
  });

  it('one invalid job of many, and stores none of them', async () => {
    const { get } = await start({ providers: [Mails] }, { worker: false });

    const refused = get(QueueProducer).enqueueMany('mail', [
      { payload: 1 },
      { payload: 2, options: { priority: 0.5 } },
    ]);

    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(await get(QueueAdmin).counts()).toMatchObject({ waiting: 0 });
  });

  it('one invalid job of many for several queues, and stores none of them', async () => {
    const { get } = await start({ providers: [Mails] }, { worker: false });
    const producer = get(QueueProducer);
    const problems: [unknown, string][] = [
      [
        [
          { queue: 'a', payload: 1 },
          { queue: 'b c', payload: 2 },
        ],
        'expected queue name',
      ],
      [[{ queue: 'a', payload: 1 }, { payload: 2 }], 'expected queue name'],
      [[{ queue: 'a', payload: 1 }, { queue: 'b' }], 'expected job 1 to be { payload, options? }'],
      [7, 'expected queue name'],
    ];

    for (const [jobs, problem] of problems)
      await expect(producer.enqueueMany(jobs as never)).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(problem) as string,
      });

    expect(await get(QueueAdmin).counts()).toMatchObject({ waiting: 0 });
  });

  it('a manager of another database', async () => {
    const other = await new DataSource(IN_MEMORY).initialize();
    afterTest(() => other.destroy());
    const { get } = await start({ providers: [Mails] });

    const refused = other.transaction((manager) => get(QueueProducer).enqueue('mail', 1, { manager }));

    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});

describe('enqueue in a transaction of the application', () => {
  async function shop() {
    const world = await compile({
      imports: [TypeOrmModule.forRoot(IN_MEMORY), SqlQueueModule.forRoot({ worker: FAST_POLL })],
      providers: [Mails],
    });
    await world.app.init();
    await world.get(DataSource).query('CREATE TABLE orders (id INTEGER PRIMARY KEY)');
    return { ...world, dataSource: world.get(DataSource), producer: world.get(QueueProducer) };
  }

  const order = (manager: EntityManager) => manager.query('INSERT INTO orders VALUES (1)');

  it('stores the job with the transaction', async () => {
    const { dataSource, producer, get, idle } = await shop();

    await dataSource.transaction(async (manager) => {
      await order(manager);
      await producer.enqueue('mail', 'ordered', { manager });
      expect(get(Mails).sent).toEqual([]);
    });
    await idle();

    expect(get(Mails).sent).toEqual(['ordered']);
  });

  it.each(['an error of the application', 'an error of enqueue itself'])('stores nothing after %s', async (which) => {
    const { dataSource, producer, get, idle } = await shop();

    const failed = dataSource.transaction(async (manager) => {
      await order(manager);
      const transactional = producer.withManager(manager);
      await transactional.enqueue('mail', 'ordered');
      if (which === 'an error of enqueue itself') await transactional.enqueue('mail', cyclic);
      throw new Error('out of stock');
    });

    await expect(failed).rejects.toThrow(which === 'an error of enqueue itself' ? /mail/ : 'out of stock');
    await idle();
    expect(get(Mails).sent).toEqual([]);
    expect(await dataSource.query('SELECT * FROM orders')).toEqual([]);
    await dataSource.transaction((manager) => producer.enqueue('mail', 'again', { manager }));
    await idle();
    expect(get(Mails).sent).toEqual(['again']);
  });
});

const numbers: StandardSchemaV1 = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (typeof value === 'number' ? { value } : { issues: [{ message: 'expected a number' }] }),
  },
};

describe('enqueueMany over several queues', () => {
  it('stores all jobs in their order, each in its queue', async () => {
    const { get } = await start({ providers: [] }, { worker: false });

    const jobs = await get(QueueProducer).enqueueMany([
      { queue: 'b', payload: 1 },
      { queue: 'a', payload: 2, options: { priority: 5 } },
      { queue: 'b', payload: 3 },
    ]);

    expect(jobs.map(({ queue }) => queue)).toEqual(['b', 'a', 'b']);
    const stored = await Promise.all(jobs.map(({ id }) => get(QueueAdmin).get(id)));
    expect(stored.map((job) => [job!.queue, job!.payload, job!.priority])).toEqual([
      ['b', 1, 0],
      ['a', 2, 5],
      ['b', 3, 0],
    ]);
  });
});

describe('the option jobDefaults of a queue', () => {
  const jobDefaults = { priority: 7, delay: '1h', headers: { region: 'eu', team: 'crm' } } as const;

  it('applies to jobs without options of their own', async () => {
    const { get } = await start({ providers: [] }, { worker: false, queues: { crm: { jobDefaults } } });
    const producer = get(QueueProducer);

    const [plain, own, other] = [
      await producer.enqueue('crm', 1),
      await producer.enqueue('crm', 1, { priority: 0, delay: 0, headers: { team: 'sales' } }),
      await producer.enqueue('other', 1),
    ];

    const read = (id: number) => get(QueueAdmin).get(id);
    expect(await read(plain.id)).toMatchObject({ state: 'scheduled', priority: 7, headers: jobDefaults.headers });
    expect(await read(own.id)).toMatchObject({
      ...{ state: 'waiting', priority: 0 },
      headers: { region: 'eu', team: 'sales' },
    });
    expect(await read(other.id)).toMatchObject({ state: 'waiting', priority: 0, headers: {} });
  });

  it('yields its delay to a given time', async () => {
    const { get } = await start({ providers: [] }, { worker: false, queues: { crm: { jobDefaults } } });
    const runAt = new Date('2050-01-01T00:00:00Z');

    const { id } = await get(QueueProducer).enqueue('crm', 1, { runAt });

    expect(await get(QueueAdmin).get(id)).toMatchObject({ runAt, priority: 7 });
  });

  it('is checked at boot', async () => {
    const error = await startError({}, { queues: { crm: { jobDefaults: { priority: 0.5, delay: 'x' as never } } } });

    expect(error.message).toContain('jobDefaults.priority to be a whole number');
    expect(error.message).toContain('jobDefaults.delay to be a duration');
  });
});
