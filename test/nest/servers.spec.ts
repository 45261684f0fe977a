import { TypeOrmModule } from '@nestjs/typeorm';
import {
  JobContext,
  JobHandler,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  sqlQueueMigrations,
} from 'nestjs-sql-queue';
import { DataSource, EntitySchema } from 'typeorm';
import { rewritingDriver } from '../support/rewriting-driver.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import { afterTest, compile, FAST_POLL, startErrorOf } from './support/application.js';

const notes = new EntitySchema<{ id: number; text: string }>({
  name: 'Note',
  columns: { id: { type: Number, primary: true, generated: true }, text: { type: String } },
});

class Notes {
  constructor(private readonly fail = false) {}

  @QueueProcessor('note')
  async write(job: JobContext<string>) {
    await job.transaction(async (manager) => {
      await manager.getRepository(notes).save({ text: job.payload });
      if (this.fail) throw new Error('after the write');
    });
  }
}

describeServers('an application', (server) => {
  async function database() {
    const made = await freshDatabase(server);
    afterTest(() => made.drop());
    return made.connection;
  }

  async function notesApplication(options: object = {}, handlers = new Notes()) {
    const connection = await database();
    const world = await compile({
      imports: [
        TypeOrmModule.forRoot({
          ...connection,
          entities: [notes],
          autoLoadEntities: true,
          synchronize: true,
          ...options,
        }),
        SqlQueueModule.forRoot({ worker: FAST_POLL, defaults: { retry: { attempts: 2, backoff: 0 } } }),
      ],
      providers: [{ provide: Notes, useValue: handlers }],
    });
    await world.app.init();
    return { ...world, connection, dataSource: world.get(DataSource) };
  }

  it('enqueues jobs in its transactions and runs them, beside its own tables', async () => {
    const { get, dataSource, ended } = await notesApplication();

    const job = await dataSource.transaction((manager) => get(QueueProducer).enqueue('note', 'hello', { manager }));

    expect(await ended(job)).toMatchObject({ state: 'completed' });
    expect(await dataSource.getRepository(notes).find()).toMatchObject([{ text: 'hello' }]);
  });

  it('stores no write of a handler transaction that fails', async () => {
    const { get, dataSource, ended } = await notesApplication({}, new Notes(true));

    const job = await get(QueueProducer).enqueue('note', 'hello');

    expect(await ended(job)).toMatchObject({ state: 'dead', attempt: 2, error: { message: 'after the write' } });
    expect(await dataSource.getRepository(notes).find()).toEqual([]);
  });

  it('keeps its jobs between starts with synchronize', async () => {
    const { get, close, connection } = await notesApplication();
    await get(QueueProducer).enqueue('other', 'kept');
    await close();

    const again = await new DataSource({ ...connection, entities: [notes], synchronize: true }).initialize();
    afterTest(() => again.destroy());

    expect(await again.query('SELECT payload FROM sql_queue_jobs')).toEqual([{ payload: '"kept"' }]);
  });

  it('can drop its schema at the start, and the tables of the queue are created again', async () => {
    const { get, ended } = await notesApplication({ dropSchema: true });

    const job = await get(QueueProducer).enqueue('note', 'hello');

    expect(await ended(job)).toMatchObject({ state: 'completed' });
  });

  it('does not boot without the tables if it only checks them, and the error contains the way out', async () => {
    const dataSource = new DataSource(await database());
    const error = await startErrorOf({
      imports: [SqlQueueModule.forRoot({ dataSource, schema: { migrate: 'check' } })],
    });

    expect(error).toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
    expect(dataSource.isInitialized).toBe(false);
    expect(error.message).toMatch(
      /^The queue's tables are missing: there is no table sql_queue_schema in the database \S+, expected version 1\. Run /,
    );
  });

  it('boots with `check` if its own migrations have created the tables', async () => {
    const { get, app, ended } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...(await database()), migrations: sqlQueueMigrations(), migrationsRun: true }),
        SqlQueueModule.forRoot({ schema: { migrate: 'check' }, worker: false }),
      ],
    });
    await app.init();

    const job = await get(QueueProducer).enqueue('note', 'hello');

    expect(await ended(job)).toMatchObject({ state: 'waiting' });
  });
});

describeServers(
  'the decorator of a queue',
  (server) => {
    async function refusalWith(decorated: object, connection: object = {}, defaults: object = {}) {
      class Handlers {
        @QueueProcessor('large', decorated)
        handle() {}
      }
      const made = await freshDatabase(server);
      afterTest(() => made.drop());
      const dataSource = new DataSource({ ...made.connection, ...connection });
      return startErrorOf({ imports: [SqlQueueModule.forRoot({ dataSource, defaults })], providers: [Handlers] });
    }

    it('stops the boot if the server does not accept its payloads', async () => {
      const error = await refusalWith({ maxPayloadBytes: 16_000_000 });

      expect(error).toMatchObject({ code: 'UNSUPPORTED_DATABASE' });
      expect(error.message).toMatch(/expected max_allowed_packet of at least 64065536 bytes .* got 16777216/);
    });

    it('stops the boot if the server does not accept several small payloads together', async () => {
      const driver = rewritingDriver((sql) => sql.replace('@@max_allowed_packet AS', '1048576 AS'));
      const { message } = await refusalWith({}, { driver }, { maxPayloadBytes: 1_000 });

      expect(message).toMatch(/expected max_allowed_packet of at least 4000000 bytes .* got 1048576\. Raise it/);
      expect(message).not.toMatch(/maxPayloadBytes/);
    });

    it('stops the boot with a typed error if it names no queue', async () => {
      class Handlers {
        @QueueProcessor(undefined as never, { lease: '7s' })
        handle() {}
      }
      const made = await freshDatabase(server);
      afterTest(() => made.drop());
      const module = SqlQueueModule.forRoot({ dataSource: new DataSource(made.connection), queues: { 'a.*': {} } });

      const error = await startErrorOf({ imports: [module], providers: [Handlers] });

      expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
      expect(error.message).toContain('Handlers.handle: expected queue name');
    });

    it('stops the boot with all its problems and their places', async () => {
      const error = await refusalWith({ maxPayloadBytes: 0, lease: 'soon' });

      expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
      expect(error.message).toMatch(/Handlers\.handle: expected lease .*Handlers\.handle: expected maxPayloadBytes/s);
    });
  },
  ['mariadb'],
);

@QueueProcessor('short', { lease: '7s' })
class ShortClass {
  handle() {}
}

class ShortMethod {
  @QueueProcessor('short', { lease: '7s' })
  handle() {}
}

class Silent {
  @QueueProcessor('short')
  @JobHandler('other')
  other() {}
}

const WAIT_TIMEOUTS = `
  SELECT v.variable_value AS seconds
  FROM performance_schema.variables_by_thread v JOIN performance_schema.threads t USING (thread_id)
  WHERE v.variable_name = 'wait_timeout' AND t.processlist_db = DATABASE()`;

describeServers(
  'the connections of the queue',
  (server) => {
    it.each([
      ['a class', [ShortClass]],
      ['a method', [ShortMethod]],
      ['a class before a class without options for the queue', [ShortClass, Silent]],
      ['a class after a class without options for the queue', [Silent, ShortClass]],
    ])('close after the shortest lease of any decorator: %s', async (_, providers) => {
      const made = await freshDatabase(server);
      afterTest(() => made.drop());
      const dataSource = await new DataSource(made.connection).initialize();
      afterTest(() => dataSource.destroy());
      const { app } = await compile({ imports: [SqlQueueModule.forRoot({ dataSource })], providers });
      await app.init();

      const timeouts = await dataSource.query<{ seconds: string }[]>(WAIT_TIMEOUTS);

      expect(timeouts.map(({ seconds }) => Number(seconds))).toContain(7);
      expect(timeouts.map(({ seconds }) => Number(seconds))).not.toContain(30);
    });
  },
  ['mysql'],
);
