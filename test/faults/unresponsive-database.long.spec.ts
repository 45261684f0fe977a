import { rm } from 'node:fs/promises';
import { connectionThrough } from '../support/engines.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import { WireProxy } from '../support/wire-proxy.js';
import { afterTest } from '../nest/support/application.js';
import { compileLibrary, RunningProgram } from '../nest/support/program.js';

const TIMEOUT_MS = 2_000;
// The guarantee is six seconds after the timeout. The rest allows for a busy machine. Without a deadline it takes 15
// s and more.
const GIVE_UP_MS = TIMEOUT_MS + 6_000 + 7_000;

/** Uses every part of the library that has a connection or a timer. A line on stdin closes the application. */
const program = (connection: object, worker: object | false) => `
  import 'reflect-metadata';
  import { once } from 'node:events';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { OnQueueEvent, QueueAdmin, QueueProcessor, QueueProducer, SqlQueueModule } from './lib/index.js';

  class Jobs {
    @QueueProcessor('deaf')
    async deaf() { console.log('deaf begins'); await new Promise(() => {}); }
    @QueueProcessor('quick')
    async quick() {}
    @OnQueueEvent('completed', { queue: 'quick', from: 'anywhere' })
    completed() { console.log('quick completed'); }
  }

  @Module({
    imports: [
      SqlQueueModule.forRoot({
        connection: ${JSON.stringify(connection)},
        queues: { quick: { events: true, lease: '3s' } },
        worker: ${JSON.stringify(worker)},
      }),
    ],
    providers: [Jobs],
  })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
  const producer = app.get(QueueProducer);
  const deaf = await producer.enqueue('deaf', 1);
  producer.waitFor(deaf.id).catch((error) => console.log('wait: ' + error.code));
  await producer.enqueue('quick', 1);
  console.log('ready');
  await once(process.stdin, 'data');
  producer.enqueue('quick', 2).catch((error) => console.log('enqueue: ' + error.code));
  const started = performance.now();
  await app.close();
  console.log('closed in ' + Math.round(performance.now() - started) + ' ms');
`;

let folder: string;

beforeAll(async () => {
  folder = await compileLibrary();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeServers(
  'an application with a silent database',
  (server) => {
    it.each([
      [
        'in its event loop',
        { heartbeat: 'main', shutdown: { timeout: TIMEOUT_MS } },
        ['deaf begins', 'quick completed'],
      ],
      ['in a thread', { heartbeat: 'thread', shutdown: { timeout: TIMEOUT_MS } }, ['deaf begins', 'quick completed']],
      ['not at all', false, ['ready']],
    ] as const)(
      'closes within its shutdown timeout and six seconds, and the process ends, if leases are renewed %s',
      async (_how, worker, started) => {
        const database = await freshDatabase(server);
        afterTest(() => database.drop());
        const proxy = await WireProxy.open((database.connection as { url: string }).url);
        afterTest(() => proxy.close());
        const connection = { ...database.connection, ...connectionThrough(database.connection, proxy.port) };
        const running = await RunningProgram.start(folder, program(connection, worker));
        afterTest(() => running.kill());
        await running.untilOutput(...started, 'ready');

        proxy.silence();
        running.send('close');
        await running.ended;

        const [, ms] = /closed in (\d+) ms\n/.exec(running.output) ?? [];
        expect({ output: running.output, exitCode: running.exitCode, ms: Number(ms) < GIVE_UP_MS }).toEqual({
          output: expect.stringMatching(/wait: STORE_UNAVAILABLE\n[^]*closed in/),
          exitCode: 0,
          ms: true,
        });
        expect(running.output).toContain('enqueue: STORE_UNAVAILABLE');
      },
    );
  },
  ['mysql', 'mariadb'],
);
