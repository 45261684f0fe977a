import { TypeOrmModule } from '@nestjs/typeorm';
import { OnQueueEvent, QueueProcessor, Schedule, SqlQueueModule, type JobContext } from 'nestjs-sql-queue';
import { systemClock } from '../../lib/common/clock.js';
import { eventually } from '../support/eventually.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import { afterTest, compile, FAST_POLL, start } from './support/application.js';

class Emails {
  @QueueProcessor('email.send')
  send(job: JobContext) {
    return job.id;
  }
}

// Declared, like classes in imported files, but not always provided.
export class Reports {
  @QueueProcessor('report.build')
  @Schedule('nightly', { cron: '0 3 * * *' })
  build(job: JobContext) {
    return job.id;
  }
}

export class Alerts {
  @OnQueueEvent('dead')
  alert() {}
}

// Its name is malformed, which concerns only an application that provides it.
export class Malformed {
  @QueueProcessor(undefined as never)
  work() {}
}

abstract class Base {
  @QueueProcessor('base.work')
  work(job: JobContext) {
    return job.id;
  }
}

class Derived extends Base {}

const WARNING =
  `No module provides Alerts.alert (@OnQueueEvent('dead')), Reports.build (queue "report.build"), so this process never calls ` +
  'it. Add the class to the `providers` of a module. If another process works its queue, name that in `worker.queues.exclude` ' +
  "here, or set `unprovided: 'ignore'`.";

// In this order: what an application of the process has provided is not warned of again.
describeServers('an application on a database of its own', (server) => {
  async function application(options: object = {}, providers: object[] = [Emails, Derived]) {
    const world = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...connection, autoLoadEntities: true }),
        SqlQueueModule.forRoot({ worker: FAST_POLL, ...options }),
      ],
      providers: providers as [],
    });
    await world.app.init();
    return world;
  }
  let connection: object;

  beforeEach(async () => {
    const database = await freshDatabase(server);
    afterTest(() => database.drop());
    connection = database.connection;
  });

  it('warns of loaded classes that no module provides, beside others that it works', async () => {
    const { log } = await application();

    expect(log.at('warn')).toEqual([WARNING]);
  });

  it.each([
    ['another process works its queue', { worker: { queues: { exclude: ['report.*'] } } }, 1],
    ['it works no queue', { worker: { queues: { include: [] } } }, 1],
    ['the options turn the warning off', { unprovided: 'ignore' }, 0],
    ['it runs no worker', { worker: false }, 0],
  ])('does not warn of a handler if %s', async (_case, options, ofListeners) => {
    const { log } = await application(options);

    expect(log.at('warn').join()).not.toContain('Reports');
    expect(log.at('warn')).toHaveLength(ofListeners);
  });

  it('does not warn of a handler whose queue another process serves, but does when that has stopped for a minute', async () => {
    const { sleep } = systemClock;
    const spy = vi
      .spyOn(systemClock, 'sleep')
      .mockImplementation((ms, ...rest) => (rest[1] ? Promise.resolve() : sleep(ms, ...rest)));
    afterTest(async () => spy.mockRestore());
    const { runner: other } = await start({}, { connection: connection as never, prefix: 'sql_queue_' });
    await other.handle('report.build', {}, () => undefined);

    const serving = await application();
    await other.stop();
    const alone = await application();

    expect(serving.log.at('warn').join()).not.toContain('Reports');
    await eventually(() =>
      alone.log.at('warn').join().includes('"report.build" for a minute, and no module here provides Reports.build.'),
    );
  });
});

it('does not warn of classes that an application of the process has provided', async () => {
  await start({ providers: [Emails, Derived, Reports, Alerts] }, { unprovided: 'warn' });

  const { log } = await start({ providers: [Emails] }, { unprovided: 'warn' });

  expect(log.at('warn')).toEqual([]);
});
