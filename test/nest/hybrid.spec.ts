import { ModulesContainer, NestFactory } from '@nestjs/core';
import { JobContext, QueueProcessor, QueueProducer, SqlQueueRunner } from 'nestjs-sql-queue';
import { of, NEVER } from 'rxjs';
import { setImmediate } from 'node:timers/promises';
import { afterTest, gate, Log, queueModule } from './support/application.js';

/** An HTTP application before `listen` or `init`, with microservices of these states, as connectMicroservice() adds them. */
async function hybrid(servers: object[], options: Parameters<typeof queueModule>[0] = {}) {
  const { give, given: ran } = gate<unknown>();
  class Mails {
    @QueueProcessor('mail')
    send(job: JobContext) {
      give(job.payload);
    }
  }
  const log = new Log();
  const root = { module: class App {}, imports: [queueModule(options)], providers: [Mails] };
  const app = await NestFactory.create(root, { logger: log, abortOnError: false });
  afterTest(() => app.close());
  for (const server of servers) app.get(ModulesContainer).addRpcTarget(server);
  return { app, log, ran, producer: app.get(QueueProducer), runner: app.get(SqlQueueRunner) };
}

const connected = { status: of('connected') };

describe('a hybrid application', () => {
  it('that starts its microservices and is never initialized runs its jobs, and a warning says what is missing', async () => {
    const { app, log, ran, producer, runner } = await hybrid([connected, connected]);

    await producer.enqueue('mail', 'ada');

    expect(await ran).toBe('ada');
    expect(log.at('warn')).toEqual([expect.stringContaining('the application was not initialized')]);
    expect(log.at('warn').join()).toContain('Call `await app.init()` or `await app.listen(port)`');
    await app.init();
    expect(runner.state).toBe('running');
  });

  it('that is initialized after its microservices are connected has no warning', async () => {
    const { app, log, ran, producer } = await hybrid([connected]);

    await app.init();
    await producer.enqueue('mail', 'ada');

    expect(await ran).toBe('ada');
    expect(log.at('warn')).toEqual([]);
  });

  it('waits for microservices that are not connected yet', async () => {
    const { app, log, runner } = await hybrid([connected, { status: NEVER }]);
    const { runner: other, ran, producer } = await hybrid([connected]);
    await producer.enqueue('mail', 'ada');
    await ran;

    expect([other.state, runner.state, log.at('warn')]).toEqual(['running', 'stopped', []]);
    await app.init();
    await setImmediate();
    expect(runner.state).toBe('running');
  });

  it('without a worker starts none and warns of nothing', async () => {
    const { log, runner } = await hybrid([connected], { worker: false });
    const { ran, producer } = await hybrid([connected]);
    await producer.enqueue('mail', 'ada');
    await ran;

    expect([runner.state, log.at('warn')]).toEqual(['stopped', []]);
  });
});
