import { TypeOrmModule } from '@nestjs/typeorm';
import { OnQueueEvent, QueueAdmin, QueueProcessor, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { describeServers, freshDatabase } from '../support/servers.js';
import { afterTest, compile, FAST_POLL, gate } from './support/application.js';

class Mails {
  readonly heard = gate();

  @QueueProcessor('mail', { events: true })
  send() {
    return 'sent';
  }

  @OnQueueEvent('completed', { from: 'anywhere' })
  onCompleted() {
    this.heard.give();
  }
}

describeServers('an application with `manualInitialization`', (server) => {
  async function application() {
    const made = await freshDatabase(server);
    afterTest(() => made.drop());
    const connection = { ...made.connection, autoLoadEntities: true, manualInitialization: true, retryAttempts: 0 };
    const orm = TypeOrmModule.forRoot(connection);
    const world = await compile({
      imports: [orm, SqlQueueModule.forRoot({ worker: FAST_POLL, unprovided: 'ignore' })],
      providers: [Mails],
    });
    await world.app.init();
    return { ...world, dataSource: world.get(DataSource), producer: world.get(QueueProducer) };
  }

  it('starts without its database, says what it waits for, and runs jobs when it has initialized its DataSource', async () => {
    const { dataSource, producer, get, runner, log } = await application();
    const isOpenAtBoot = dataSource.isInitialized;
    const waiting = log.at('log').join();

    await dataSource.initialize();
    const result = await producer.request('mail', 'ada');
    const inTransaction = await dataSource.transaction((manager) => producer.enqueue('mail', 'bob', { manager }));
    const awaited = await producer.waitFor(inTransaction.id);
    await get(Mails).heard.given;

    expect([isOpenAtBoot, result, awaited]).toEqual([false, 'sent', 'sent']);
    expect(waiting).toContain('The queue waits until the application initializes its DataSource');
    expect([runner.state, log.at('warn'), log.at('error')]).toEqual(['running', [], []]);
  });

  it('rejects calls before that with a typed error that names the way out, and closes', async () => {
    const { dataSource, producer, get, app } = await application();

    const calls = [producer.enqueue('mail', 1), producer.request('mail', 1), get(QueueAdmin).counts('mail')];
    const errors = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
    await app.close();

    for (const error of errors) {
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'not-done' });
      expect((error as Error).message).toContain('Await `dataSource.initialize()` before the first call');
    }
    expect(dataSource.isInitialized).toBe(false);
  });

  it('learns from initialize() that the queue cannot open its tables', async () => {
    const made = await freshDatabase(server);
    afterTest(() => made.drop());
    const { app, get } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...made.connection, autoLoadEntities: true, manualInitialization: true }),
        SqlQueueModule.forRoot({ worker: FAST_POLL, schema: { migrate: 'check' } }),
      ],
      providers: [Mails],
    });
    await app.init();

    const failed = get(DataSource).initialize();

    await expect(failed).rejects.toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
    await expect(get(QueueProducer).enqueue('mail', 1)).rejects.toMatchObject({ code: 'SCHEMA_OUT_OF_DATE' });
  });
});
