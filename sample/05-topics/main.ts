import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { QueueAdmin } from 'nestjs-sql-queue';
import { ConsumerProcess } from './consumer-process.js';
import { PublisherModule } from './publisher.module.js';
import { SignupsService } from './signups.service.js';

const USERS = 20;
const QUEUES = ['crm.sync', 'audit.log', 'live.view'];

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopping.abort());

const publisher = await NestFactory.createApplicationContext(PublisherModule, { logger: ['fatal', 'error', 'warn'] });
const admin = publisher.get(QueueAdmin);
const consumers = new Map<string, ConsumerProcess>();

try {
  await run();
  const counts = await Promise.all(QUEUES.map(async (queue) => `${queue} ${(await admin.counts(queue)).completed}`));
  const users = await publisher.get(SignupsService).count();
  console.log(`Stopped: ${users} users, messages handled: ${counts.join(', ')}.`);
} finally {
  await Promise.all([...consumers.values()].map((consumer) => consumer.stop()));
  await publisher.close();
}

async function run(): Promise<void> {
  for (const queue of QUEUES) await start(queue);
  for (const { queue, topic, where } of await admin.subscriptions())
    console.log(
      `${queue} gets a copy of ${topic}${Object.keys(where).length > 0 ? ` where ${JSON.stringify(where)}` : ''}`,
    );

  await consumers.get('audit.log')!.kill();
  consumers.delete('audit.log');
  console.log('\naudit.log is down (kill -9).');

  await signUpAll();
  await drained('crm.sync', 'live.view');
  console.log(`\naudit.log is back, where ${await left('audit.log')} copies wait for it.`);
  await start('audit.log');
  await drained('audit.log');

  await consumers.get('live.view')?.stop();
  consumers.delete('live.view');
  console.log('\nlive.view has left.');
  await until(async () => {
    // Workers do so by themselves, every minute.
    await admin.prune();
    return !(await admin.queues()).some(({ queue }) => queue === 'live.view');
  });
  if (!stopping.signal.aborted) console.log('live.view is gone, with its subscription.\n');
}

async function start(queue: string): Promise<void> {
  if (!stopping.signal.aborted) consumers.set(queue, await ConsumerProcess.start(queue));
}

/** Those that an earlier start has not signed up. */
async function signUpAll(): Promise<void> {
  const signups = publisher.get(SignupsService);
  for (let id = (await signups.count()) + 1; id <= USERS && !stopping.signal.aborted; id++) {
    const region = id % 2 === 0 ? 'eu' : 'us';
    await signups.signUp({ id, email: `user-${id}@${region}.example`, region });
    await setTimeout(50);
  }
}

async function left(queue: string): Promise<number> {
  const { waiting, scheduled, prefetched, active } = await admin.counts(queue);
  return waiting + scheduled + prefetched + active;
}

async function drained(...queues: string[]): Promise<void> {
  for (const queue of queues) await until(async () => (await left(queue)) === 0);
}

/** Looks again and again, until Ctrl-C. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!stopping.signal.aborted && !(await isSo())) await setTimeout(100);
}
