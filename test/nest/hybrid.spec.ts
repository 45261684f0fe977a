import { Global, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { JobContext, QueueProcessor, QueueProducer, SqlQueueRunner } from 'nestjs-sql-queue';
import { of, NEVER } from 'rxjs';
import { systemClock } from '../../lib/common/clock.js';
import { setImmediate } from 'node:timers/promises';
import { afterTest, gate, Log, queueModule } from './support/application.js';

/** An HTTP application before `listen` or `init`, with microservices of these states, as connectMicroservice() adds them. */
async function hybrid(
  servers: object[],
  options: Parameters<typeof queueModule>[0] = {},
  modules: Type<unknown>[] = [],
) {
  const { give, given: ran } = gate<unknown>();
  class Mails {
    @QueueProcessor('mail')
    send(job: JobContext) {
      give(job.payload);
    }
  }
  const log = new Log();
  const root = { module: class App {}, imports: [...modules, queueModule(options)], providers: [Mails] };
  const app = await NestFactory.create(root, { logger: log, abortOnError: false });
  afterTest(() => app.close());
  for (const server of servers) app.get(ModulesContainer).addRpcTarget(server);
  return { app, log, ran, producer: app.get(QueueProducer), runner: app.get(SqlQueueRunner) };
}

const connected = { status: of('connected') };

const INIT_TIMEOUT_MS = 30_000;

const timers = new Set<() => void>();

beforeEach(() => {
  const { after } = systemClock;
  const spy = vi.spyOn(systemClock, 'after').mockImplementation((ms, act) => {
    if (ms !== INIT_TIMEOUT_MS) return after(ms, act);
    timers.add(act);
    return () => void timers.delete(act);
  });
  return () => spy.mockRestore();
});

/** Ends the time that applications have for their initialization. */
async function endInitTime() {
  // Microservices that are connected start it within this turn.
  await setImmediate();
  for (const act of timers) act();
  timers.clear();
}

describe('a hybrid application', () => {
  it('that starts its microservices and is never initialized runs its jobs, and a warning says what is missing', async () => {
    const { app, log, ran, producer, runner } = await hybrid([connected, connected]);

    await producer.enqueue('mail', 'ada');
    await endInitTime();

    expect(await ran).toBe('ada');
    expect(log.at('warn')).toEqual([expect.stringContaining('the application was not initialized')]);
    expect(log.at('warn').join()).toContain('Call `await app.init()` or `await app.listen(port)`');
    await app.init();
    expect(runner.state).toBe('running');
  });

  it('that is initialized after its microservices are connected has no warning', async () => {
    const { app, log, ran, producer } = await hybrid([connected]);

    await app.init();
    await endInitTime();
    await producer.enqueue('mail', 'ada');

    expect(await ran).toBe('ada');
    expect(log.at('warn')).toEqual([]);
  });

  it('that is being initialized has no warning and no worker until the hooks of all modules have ended', async () => {
    const [started, opened] = [gate(), gate()];
    @Global()
    @Module({})
    class Cache implements OnModuleInit {
      async onModuleInit() {
        started.give();
        await opened.given;
      }
    }
    const { app, log, runner } = await hybrid([connected], {}, [Cache]);
    const initialized = app.init();
    await started.given;
    await endInitTime();

    expect([runner.state, log.at('warn')]).toEqual(['stopped', []]);
    opened.give();
    await initialized;
    expect(runner.state).toBe('running');
  });

  it('waits for microservices that are not connected yet', async () => {
    const { app, log, runner } = await hybrid([connected, { status: NEVER }]);

    await endInitTime();

    expect([runner.state, log.at('warn')]).toEqual(['stopped', []]);
    await app.init();
    await setImmediate();
    expect(runner.state).toBe('running');
  });

  it('without a worker starts none and warns of nothing', async () => {
    const { log, runner } = await hybrid([connected], { worker: false });

    await endInitTime();

    expect([runner.state, log.at('warn')]).toEqual(['stopped', []]);
  });
});
