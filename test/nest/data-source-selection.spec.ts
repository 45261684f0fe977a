import { Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { existsSync } from 'node:fs';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { afterTest, compile, IN_MEMORY, startErrorOf, temporaryFolder } from './support/application.js';

class AppDataSource extends DataSource {}

const TOKEN = Symbol('data source');

// Follows the recipe of Nest for TypeORM without @nestjs/typeorm.
function recipe(provide: string | symbol | typeof AppDataSource, options: Partial<DynamicModule> = {}): DynamicModule {
  const provider = {
    provide,
    useFactory: async () => {
      // Longer than the queue needs to open its store.
      await new Promise((resolve) => setImmediate(resolve));
      const dataSource = await new AppDataSource(IN_MEMORY).initialize();
      afterTest(() => dataSource.destroy());
      return dataSource;
    },
  };
  return { module: DatabaseModule, providers: [provider], exports: [provider], ...options };
}

@Module({})
class DatabaseModule {}

const named = (name: string) => TypeOrmModule.forRoot({ ...IN_MEMORY, name });

describe('an application without a default DataSource', () => {
  let home: string;
  let environment: string | undefined;

  beforeEach(async () => {
    environment = process.env.NODE_ENV;
    home = process.cwd();
    process.chdir(await temporaryFolder());
    afterTest(() => Promise.resolve(process.chdir(home)));
  });

  afterEach(() => {
    if (environment === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = environment;
  });

  it('does not boot if its only DataSource is named, and the error contains the line to write', async () => {
    const error = await startErrorOf({ imports: [named('jobs'), SqlQueueModule.forRoot()] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'jobs' })`);
    expect(existsSync('sql-queue.sqlite')).toBe(false);
  });

  it('does not boot if it has several named DataSources, and the error names each', async () => {
    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot(), named('jobs'), named('users')] });

    expect(error.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'jobs' })`);
    expect(error.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'users' })`);
  });

  it('does not boot a named instance, and the line to write contains its name', async () => {
    const error = await startErrorOf({ imports: [named('jobs'), SqlQueueModule.forRoot({ name: 'audit' })] });

    expect(error.message).toContain(`SqlQueueModule.forRoot({ name: 'audit', dataSource: 'jobs' })`);
  });

  it('does not boot with forRootAsync() either', async () => {
    const error = await startErrorOf({
      imports: [named('jobs'), SqlQueueModule.forRootAsync({ useFactory: () => Promise.resolve({}) })],
    });

    expect(error.message).toContain(`dataSource: 'jobs'`);
  });

  it.each([
    ['a string', 'DATA_SOURCE', `dataSource: 'DATA_SOURCE'`],
    ['a symbol', TOKEN, 'dataSource: Symbol(data source)'],
    ['a class', AppDataSource, 'dataSource: AppDataSource'],
  ])('does not boot if a provider of its own has %s as token', async (_what, token, line) => {
    const error = await startErrorOf({ imports: [recipe(token), SqlQueueModule.forRoot({ worker: false })] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain(`SqlQueueModule.forRoot({ imports: [DatabaseModule], ${line} })`);
  });

  it.each(['DATA_SOURCE', TOKEN, AppDataSource])('uses the provider with the given token: %o', async (token) => {
    const { get } = await compile({
      imports: [SqlQueueModule.forRoot({ imports: [recipe(token)], dataSource: token, worker: false })],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(await get<DataSource>(token as string).query('SELECT queue FROM sql_queue_jobs')).toEqual([{ queue: 'q' }]);
  });

  it('uses the provider with the token given beside a factory', async () => {
    const { get } = await compile({
      imports: [
        SqlQueueModule.forRootAsync({
          imports: [recipe('DATA_SOURCE')],
          dataSource: 'DATA_SOURCE',
          useFactory: () => ({ worker: false }),
        }),
      ],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(await get<DataSource>('DATA_SOURCE').query('SELECT queue FROM sql_queue_jobs')).toHaveLength(1);
  });

  it('needs no import if the provider is in a global module', async () => {
    const error = await startErrorOf({ imports: [recipe('DATA_SOURCE', { global: true }), SqlQueueModule.forRoot()] });
    const { get } = await compile({
      imports: [
        recipe('DATA_SOURCE', { global: true }),
        SqlQueueModule.forRoot({ dataSource: 'DATA_SOURCE', worker: false }),
      ],
    });

    expect(error.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'DATA_SOURCE' })`);
    expect(await get(QueueProducer).enqueue('q', 1)).toMatchObject({ id: 1 });
  });

  it('does not boot if no provider has the given name, and the error lists the names', async () => {
    const wrong = { dataSource: 'jbos', worker: false };

    const misspelt = await startErrorOf({ imports: [named('jobs'), SqlQueueModule.forRoot(wrong)] });
    const hidden = await startErrorOf({
      imports: [recipe('DATA_SOURCE'), SqlQueueModule.forRoot({ dataSource: 'DATA_SOURCE' })],
    });
    const forgotten = await startErrorOf({ imports: [SqlQueueModule.forRoot(wrong)] });

    expect(misspelt.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'jobs' })`);
    expect(hidden.message).toContain(
      `SqlQueueModule.forRoot({ imports: [DatabaseModule], dataSource: 'DATA_SOURCE' })`,
    );
    expect(forgotten.message).toContain(`TypeOrmModule.forRoot({ name: 'jbos', … })`);
  });

  it('does not boot in production without any DataSource', async () => {
    process.env.NODE_ENV = 'production';

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot()] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('TypeOrmModule.forRoot(');
    expect(error.message).toContain(`connection: 'embedded'`);
    expect(existsSync('sql-queue.sqlite')).toBe(false);
  });

  it.each(['production', 'development'])('uses the embedded file in %s if its options request it', async (mode) => {
    process.env.NODE_ENV = mode;
    const { get } = await compile({
      imports: [named('jobs'), SqlQueueModule.forRoot({ connection: 'embedded', worker: false })],
    });

    await get(QueueProducer).enqueue('q', 1);

    expect(existsSync('sql-queue.sqlite')).toBe(true);
  });

  it('uses the embedded file beside providers other than a DataSource', async () => {
    @Injectable()
    class UserDataSource {
      constructor(@Inject('USER_DATA_SOURCE') readonly users: object) {}
    }
    const { get } = await compile({
      imports: [SqlQueueModule.forRoot({ worker: false })],
      providers: [UserDataSource, { provide: 'USER_DATA_SOURCE', useValue: { initialize() {} } }],
    });

    expect(await get(QueueProducer).enqueue('q', 1)).toMatchObject({ id: 1 });
  });
});

it('uses the default DataSource of the application beside named ones', async () => {
  const { get } = await compile({
    imports: [named('users'), TypeOrmModule.forRoot(IN_MEMORY), SqlQueueModule.forRoot({ worker: false })],
  });

  await get(QueueProducer).enqueue('q', 1);

  expect(await get(DataSource).query('SELECT queue FROM sql_queue_jobs')).toEqual([{ queue: 'q' }]);
});
