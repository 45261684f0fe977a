import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { QueueProducer, SqlQueueModule, sqlQueueEntities, type SqlQueueJobRow } from 'nestjs-sql-queue';
import { DataSource, EntitySchema } from 'typeorm';
import { afterTest, compile, IN_MEMORY, queueModule, startErrorOf, temporaryFolder } from './support/application.js';

const produceOnly = { worker: false, connection: undefined } as const;

describe('the database of the queue', () => {
  let home: string;

  beforeEach(async () => {
    home = process.cwd();
    process.chdir(await temporaryFolder());
    afterTest(() => Promise.resolve(process.chdir(home)));
  });

  it('is a logged file in the working directory if the application has no DataSource', async () => {
    const { get, log, ended } = await compile({ imports: [SqlQueueModule.forRoot()] });

    const job = await get(QueueProducer).enqueue('q', 1);

    expect(await ended(job)).toMatchObject({ state: 'waiting', payload: 1 });
    expect(existsSync('sql-queue.sqlite')).toBe(true);
    expect(log.at('log')).toContain('No DataSource in the application: the queue is kept in ./sql-queue.sqlite.');
  });

  it('is the DataSource of the application if there is one', async () => {
    const { get, log } = await compile({
      imports: [TypeOrmModule.forRoot(IN_MEMORY), SqlQueueModule.forRoot({ worker: false })],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(await get(DataSource).query('SELECT queue FROM sql_queue_jobs')).toEqual([{ queue: 'q' }]);
    expect(existsSync('sql-queue.sqlite')).toBe(false);
    expect(log.at('log').join()).not.toContain('No DataSource');
  });

  it('is the DataSource of the application even if that is imported last and asynchronously', async () => {
    const { get } = await compile({
      imports: [
        SqlQueueModule.forRoot({ worker: false }),
        TypeOrmModule.forRootAsync({ useFactory: () => Promise.resolve(IN_MEMORY) }),
      ],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(await get(DataSource).query('SELECT queue FROM sql_queue_jobs')).toEqual([{ queue: 'q' }]);
  });

  it('is the given `connection` even if the application has a DataSource', async () => {
    const { get } = await compile({
      imports: [
        TypeOrmModule.forRoot(IN_MEMORY),
        queueModule({ ...produceOnly, connection: { type: 'better-sqlite3', database: 'jobs.sqlite' } }),
      ],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(existsSync('jobs.sqlite')).toBe(true);
    expect(await get(DataSource).query(`SELECT name FROM sqlite_master WHERE name LIKE 'sql_queue%'`)).toEqual([]);
  });

  it('is the DataSource with the given name', async () => {
    const { get } = await compile({
      imports: [
        TypeOrmModule.forRoot(IN_MEMORY),
        TypeOrmModule.forRoot({ ...IN_MEMORY, name: 'jobs' }),
        queueModule({ ...produceOnly, dataSource: 'jobs' }),
      ],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(await get<DataSource>('jobsDataSource').query('SELECT queue FROM sql_queue_jobs')).toHaveLength(1);
    expect(await get(DataSource).query(`SELECT name FROM sqlite_master WHERE name LIKE 'sql_queue%'`)).toEqual([]);
  });

  it('stops the boot if no DataSource has the given name', async () => {
    const error = await startErrorOf({
      imports: [TypeOrmModule.forRoot(IN_MEMORY), queueModule({ ...produceOnly, dataSource: 'jbos' })],
    });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain(
      `expected a DataSource named 'jbos' in the application, got the default DataSource`,
    );
  });

  it('is a given DataSource object, and an open DataSource stays open', async () => {
    const dataSource = await new DataSource(IN_MEMORY).initialize();
    afterTest(() => dataSource.destroy());
    const { app, get } = await compile({ imports: [queueModule({ ...produceOnly, dataSource })] });

    await get(QueueProducer).enqueue('q', 1);
    await app.close();

    expect(await dataSource.query('SELECT queue FROM sql_queue_jobs')).toHaveLength(1);
  });

  it('is opened and closed with the application if the given DataSource object is not open', async () => {
    const dataSource = new DataSource(IN_MEMORY);
    const { app, get } = await compile({ imports: [queueModule({ ...produceOnly, dataSource })] });

    await get(QueueProducer).enqueue('q', 1);

    expect(dataSource.isInitialized).toBe(true);
    await app.close();
    expect(dataSource.isInitialized).toBe(false);
  });

  it('is never replaced silently if the application cannot connect to its own', async () => {
    const unreachable = join(process.cwd(), 'no-such-folder');
    const error = await startErrorOf({
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ ...IN_MEMORY, database: 'x', retryAttempts: 1, retryDelay: 0 }),
          dataSourceFactory: () => Promise.reject(new Error(`cannot open ${unreachable}`)),
        }),
        SqlQueueModule.forRoot(),
      ],
    });

    expect(error.message).toMatch(/cannot open|could not be connected/);
    expect(existsSync('sql-queue.sqlite')).toBe(false);
  });

  it('is never replaced silently if the DataSource of the application is not visible', async () => {
    @Module({ providers: [{ provide: DataSource, useFactory: () => new DataSource(IN_MEMORY).initialize() }] })
    class Hidden {}

    const error = await startErrorOf({ imports: [Hidden, SqlQueueModule.forRoot()] });

    expect(error.message).toContain('is not visible to SqlQueueModule');
    expect(existsSync('sql-queue.sqlite')).toBe(false);
  });

  it('can be given as an object if the DataSource of the application is not visible', async () => {
    const hidden = await new DataSource(IN_MEMORY).initialize();
    @Module({ providers: [{ provide: DataSource, useValue: hidden }] })
    class Hidden {}

    const own = await compile({ imports: [Hidden, queueModule({ worker: false })] });
    const given = await compile({ imports: [Hidden, queueModule({ ...produceOnly, dataSource: hidden })] });

    expect(await own.get(QueueProducer).enqueue('q', 1)).toMatchObject({ id: 1 });
    expect(await given.get(QueueProducer).enqueue('q', 1)).toMatchObject({ id: 1 });
    await hidden.destroy();
  });
});

describe('the entities of the queue', () => {
  it.each([undefined, 'other_'])('are loaded by autoLoadEntities with the prefix %o', async (prefix) => {
    const { get } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...IN_MEMORY, autoLoadEntities: true }),
        SqlQueueModule.forRoot({ worker: false, ...(prefix && { prefix }) }),
      ],
    });
    await get(QueueProducer).enqueue('q', 1);

    const jobs = sqlQueueEntities(prefix ? { prefix } : {})[0]!;

    expect(await get(DataSource).getRepository(jobs).find()).toMatchObject([{ queue: 'q', payload: '1' }]);
  });

  it('work in a list of entities, and their repositories can be injected', async () => {
    const jobs = sqlQueueEntities()[0]!;
    const { get } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...IN_MEMORY, entities: [...sqlQueueEntities()] }),
        TypeOrmModule.forFeature([jobs]),
        SqlQueueModule.forRoot({ worker: false }),
      ],
    });
    await get(QueueProducer).enqueue('q', 1);

    const { getRepositoryToken } = await import('@nestjs/typeorm');

    expect(await get<{ count(): Promise<number> }>(getRepositoryToken(jobs) as string).count()).toBe(1);
  });

  it('work beside other EntitySchemas if they are both listed and loaded automatically', async () => {
    class User {}
    const schemas = ['Job', 'Queue', 'User'].map(
      (name) =>
        new EntitySchema<object>({
          ...{ name, tableName: `my_${name}`, columns: { id: { type: Number, primary: true } } },
          ...(name === 'User' && { target: User }),
        }),
    );
    const entities = [...schemas, ...sqlQueueEntities()];
    const { get } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...IN_MEMORY, autoLoadEntities: true, synchronize: true, entities }),
        TypeOrmModule.forFeature(schemas),
        SqlQueueModule.forRoot({ worker: false }),
      ],
    });
    await get(QueueProducer).enqueue('q', 1);

    const dataSource = get(DataSource);

    expect(await dataSource.getRepository('Job').count()).toBe(0);
    expect(await dataSource.getRepository(User).count()).toBe(0);
    expect(await dataSource.getRepository<SqlQueueJobRow>('SqlQueueJob').find()).toMatchObject([{ queue: 'q' }]);
  });

  it('are returned in a new array by each call', () => {
    sqlQueueEntities().length = 0;

    expect(sqlQueueEntities()).not.toEqual([]);
  });

  it('are neither created nor dropped by synchronize, and the queue works after dropSchema', async () => {
    const { get, ended } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...IN_MEMORY, autoLoadEntities: true, synchronize: true, dropSchema: true }),
        SqlQueueModule.forRoot({ worker: false }),
      ],
    });

    await get(DataSource).synchronize();
    const job = await get(QueueProducer).enqueue('q', 1);
    await get(DataSource).synchronize();

    expect(await ended(job)).toMatchObject({ state: 'waiting' });
  });
});
