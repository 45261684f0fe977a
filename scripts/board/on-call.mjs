// node scripts/board/on-call.mjs: an application with five breakdowns, its board, and bull-board on the same data, until
// Ctrl-C or for an hour. For trials of both: which breakdowns does somebody find, and with how many clicks?
import 'reflect-metadata';
import { ExpressAdapter } from '@bull-board/express';
import { NestFactory } from '@nestjs/core';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../build.mjs';
import { onStopSignal } from '../stop-signal.mjs';

const HOUR_MS = 3_600_000;
const HEALTHY = ['email.send', 'order.charge', 'search.index', 'audit.write', 'stock.sync', 'push.notify'];

const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'sql-queue-on-call-'));
await build();
const { QueueAdmin, QueueProducer, SqlQueueModule, SqlQueueRunner } = await import(join(root, 'dist/index.js'));
const { SqlQueueBoardModule } = await import(join(root, 'dist/board.js'));
const { SqlQueueBullBoardModule } = await import(join(root, 'dist/bull-board.js'));

class AppModule {}
const imports = [
  SqlQueueModule.forRoot({
    connection: { type: 'better-sqlite3', database: join(folder, 'on-call.sqlite') },
    defaults: { retry: { attempts: 3, backoff: '1s' } },
    queues: { 'report.build': { groups: { concurrency: 1 } } },
  }),
  // Both listen on this machine only.
  SqlQueueBoardModule.forRoot({ path: 'ops/queues', can: () => true, user: () => 'ann' }),
  SqlQueueBullBoardModule.forRoot({ route: '/bull', adapter: ExpressAdapter, middleware: [] }),
];
const app = await NestFactory.create({ module: AppModule, imports }, { logger: ['fatal'] });
await app.listen(0, '127.0.0.1');
const [admin, producer, runner] = [QueueAdmin, QueueProducer, SqlQueueRunner].map((token) =>
  app.get(token, { strict: false }),
);
const stopping = new AbortController();
onStopSignal(() => stopping.abort());

for (const queue of HEALTHY) await runner.handle(queue, {}, () => sleep(40 + Math.random() * 200));
await runner.handle('crm.push', { concurrency: 4 }, () => fail('503 Service Unavailable', 'HTTP_503'));
await runner.handle('invoice.render', {}, () => undefined);
await runner.handle('image.resize', {}, ({ payload }) =>
  payload.file === 'scan-17.tiff' ? fail('cannot allocate 3.2 GB', 'OUT_OF_MEMORY') : sleep(100),
);
await runner.handle('report.build', {}, ({ payload, signal }) =>
  payload.month === 'stuck' ? sleep(HOUR_MS, undefined, { signal }) : sleep(50),
);

// A person paused a queue by mistake.
await admin.as('bob').pause('invoice.render');
await producer.enqueueMany(
  'invoice.render',
  payloads(30, (invoice) => ({ invoice })),
);
// The process of these jobs was not deployed.
await producer.enqueueMany(
  'legacy.sync',
  payloads(12, (n) => ({ customer: n })),
);
// The first report of a tenant hangs, and those behind it wait.
await producer.enqueue('report.build', { month: 'stuck' }, { group: 'acme' });
await producer.enqueueMany(
  'report.build',
  payloads(15, (n) => ({ month: n }), { group: 'acme' }),
);
await producer.enqueue('image.resize', { file: 'scan-17.tiff' });

const url = await app.getUrl();
console.log(
  `${url}/ops/queues\n${url}/bull\nThe rule for blocked groups names one after five minutes. Ctrl-C ends both.`,
);
const endsAt = Date.now() + HOUR_MS;
while (!stopping.signal.aborted && Date.now() < endsAt) {
  for (const queue of HEALTHY) await producer.enqueue(queue, { n: 1 });
  await producer.enqueue('crm.push', { contact: 1 });
  await producer.enqueue('image.resize', { file: 'cat.jpg' });
  await producer.enqueue('report.build', { month: 1 }, { group: 'globex' });
  await sleep(500, undefined, { signal: stopping.signal }).catch(() => undefined);
}
await app.close();
await rm(folder, { recursive: true });

function payloads(count, payload, options) {
  return Array.from({ length: count }, (_, n) => ({ payload: payload(n), ...(options && { options }) }));
}

function fail(message, code) {
  throw Object.assign(new Error(message), { code });
}
