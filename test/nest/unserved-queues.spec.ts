import { QueueProcessor, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { systemClock } from '../../lib/common/clock.js';
import { eventually } from '../support/eventually.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import { afterTest, compile, FAST_POLL } from './support/application.js';

const LOOK_MS = 30_000;

class Emails {
  @QueueProcessor('email.send')
  send() {}
}

/** Lets each look for workers happen at once. Returns the number of looks so far. */
function lookAtOnce(): () => number {
  const { sleep } = systemClock;
  let looks = 0;
  const spy = vi.spyOn(systemClock, 'sleep').mockImplementation((ms, ...rest) => {
    if (ms !== LOOK_MS || rest[1] !== 'background') return sleep(ms, ...rest);
    looks++;
    return Promise.resolve();
  });
  afterTest(async () => spy.mockRestore());
  return () => looks;
}

describeServers('an application', (server) => {
  async function start(defaults: object = {}) {
    const database = await freshDatabase(server);
    afterTest(() => database.drop());
    const { connection } = database;
    const world = await compile({
      imports: [SqlQueueModule.forRoot({ connection, worker: FAST_POLL, unprovided: 'ignore', defaults })],
      providers: [Emails],
    });
    await world.app.init();
    return world;
  }

  it('warns of a misspelt queue that no worker serves', async () => {
    lookAtOnce();
    const { get, log } = await start();

    await get(QueueProducer).enqueue('email.sned', 1);

    await eventually(() => log.at('warn').length > 0);
    expect(log.at('warn').join()).toContain(
      'queue "email.sned" for a minute, and this process enqueues jobs into it, did you mean "email.send"?',
    );
  });

  it('logs nothing and looks for no worker if it serves its queues, or if `expectWorker` is false', async () => {
    const looks = lookAtOnce();
    const serving = await start();
    const silent = await start({ expectWorker: false });

    await serving.get(QueueProducer).enqueue('email.send', 1);
    await silent.get(QueueProducer).enqueue('email.sned', 1);
    await serving.idle();

    expect([...serving.log.at('warn'), ...silent.log.at('warn')]).toEqual([]);
    expect(looks()).toBe(0);
  });
});
