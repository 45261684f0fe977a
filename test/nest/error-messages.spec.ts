import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueProcessor, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import type { DataSource } from 'typeorm';
import { IN_MEMORY, queueModule, startError, startErrorOf, start } from './support/application.js';

describe('the error message', () => {
  it('for two forRoot() asks for one import, or a name for the second', async () => {
    const error = await startErrorOf({ imports: [queueModule(), queueModule()] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toMatch(
      /expected one SqlQueueModule without a name, got 2\. Import forRoot\(\) once, .*forRoot\(\{ name: 'audit', /,
    );
  });

  it('for two instances of one name asks for the same', async () => {
    const error = await startErrorOf({
      imports: [queueModule({ name: 'a' }), queueModule({ name: 'a', prefix: 'b_' })],
    });

    expect(error.message).toContain('expected one SqlQueueModule of the name "a", got 2.');
  });

  it.each(['postgres', 'cockroachdb'])(
    'for a `connection` of type %s lists the supported databases and the alternatives for that type',
    async (type) => {
      const error = await startError({}, { connection: { type } as never });

      expect(error).toMatchObject({ code: 'UNSUPPORTED_DATABASE' });
      expect(error.message).toContain(`Expected a DataSource of type mysql, mariadb or better-sqlite3, got ${type}.`);
      expect(error.message).toContain('pg-boss and graphile-worker');
      expect(error.message).toContain(`SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } })`);
    },
  );

  it('for a DataSource of PostgreSQL is the same, before it connects', async () => {
    const dataSource = { options: { type: 'postgres' }, createQueryRunner() {} } as unknown as DataSource;

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot({ dataSource })] });

    expect(error).toMatchObject({ code: 'UNSUPPORTED_DATABASE' });
  });

  it('for type sqlite names the right type', async () => {
    const error = await startError({}, { connection: { type: 'sqlite', database: 'x' } as never });

    expect(error.message).toContain(`write type: 'better-sqlite3'`);
  });

  it('for the connection of a Redis explains a connection', async () => {
    const error = await startError({}, { connection: { host: 'localhost', port: 6379 } as never });

    expect(error.message).toContain(
      "expected connection to have a `type` ('mysql', 'mariadb' or 'better-sqlite3'), got none",
    );
  });

  it('for SqlQueueModule.registerQueue() names forFeature()', () => {
    const { registerQueue } = SqlQueueModule as unknown as { registerQueue(options: object): void };

    expect(() => registerQueue({ name: 'mail' })).toThrow(
      /there is no such method.*SqlQueueModule\.forFeature\('name'\)/,
    );
  });

  it('for BullMQ options of the module names the options of this library', async () => {
    const options = { redis: {}, defaultJobOptions: {}, worker: { autorun: false } };

    const error = await startError({}, options as never);

    expect(error).toMatchObject({
      problems: [
        expect.stringMatching(/^unknown option "redis": there is no Redis/),
        'unknown option "defaultJobOptions": write `defaults`, which holds the options of every queue',
        'worker: unknown option "autorun": write `worker: { autoStart: false }` in the options of the module',
      ],
    });
  });

  it('for BullMQ options of a queue and of a handler names the options of this library', async () => {
    const options = {
      attempts: 3,
      backoff: '1s',
      removeOnComplete: true,
      removeOnFail: 10,
      limiter: {},
      lockDuration: 1,
    };
    class Handlers {
      @QueueProcessor('mail', options as object)
      send() {}
    }

    const ofQueue = await startError({}, { queues: { mail: options as object } });
    const ofHandler = await startError({ providers: [Handlers] });

    for (const { message } of [ofQueue, ofHandler]) {
      expect(message).toContain('unknown option "attempts": write `retry: { attempts }`');
      expect(message).toContain('unknown option "backoff": write `retry: { backoff }`');
      expect(message).toContain('unknown option "removeOnComplete": write `retention: { completed, dead }`');
      expect(message).toContain('unknown option "removeOnFail": write `retention: { completed, dead }`');
      expect(message).toContain('unknown option "limiter": write `rate: { limit, per }`');
      expect(message).toContain('unknown option "lockDuration": write `lease`');
    }
  });

  it('for BullMQ options of enqueue names the options of this library', async () => {
    const { get } = await start({});
    const options = { jobId: '1', attempts: 3, repeat: { every: 1 }, lifo: true, removeOnComplete: true };

    const refused = get(QueueProducer).enqueue('mail', null, options as object);

    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      problems: [
        expect.stringContaining('unknown option "jobId": write `key`'),
        'unknown option "attempts": write `retry: { attempts }`',
        expect.stringContaining('unknown option "repeat": write @Schedule() on a handler'),
        expect.stringContaining(`unknown option "lifo": write \`order: 'lifo'\``),
        expect.stringContaining('unknown option "removeOnComplete": write `retention:'),
      ],
    });
  });

  it('for a missing TypeOrmModule contains the import to write', async () => {
    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot({ dataSource: 'jobs' })] });

    expect(error.message).toContain(`Import TypeOrmModule.forRoot({ name: 'jobs', … })`);
  });

  it('for a DataSource with another name contains its name', async () => {
    const imports = [
      TypeOrmModule.forRoot({ ...IN_MEMORY, name: 'mails' }),
      SqlQueueModule.forRoot({ dataSource: 'jobs' }),
    ];

    const error = await startErrorOf({ imports });

    expect(error.message).toContain(`SqlQueueModule.forRoot({ dataSource: 'mails' })`);
  });
});
