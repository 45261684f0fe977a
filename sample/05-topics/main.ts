import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { QueueAdmin } from 'nestjs-sql-queue';
import { jobsLeft } from '../shared/jobs-left.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { ForkedProcess } from '../shared/forked-process.js';
import { PublisherModule } from './publisher.module.js';
import { SignupsService } from './signups.service.js';

const USERS = 20;
const QUEUES = ['crm.sync', 'audit.log', 'live.view'];

const stopping = onStopSignal();

const publisher = await NestFactory.createApplicationContext(PublisherModule, { logger: ['fatal', 'error', 'warn'] });
const admin = publisher.get(QueueAdmin);
const consumers = new Map<string, ForkedProcess>();

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
  await untilDrained('crm.sync', 'live.view');
  console.log(`\naudit.log is back, where ${await jobsLeft(admin, 'audit.log')} copies wait for it.`);
  await start('audit.log');
  await untilDrained('audit.log');

  await consumers.get('live.view')?.stop();
  consumers.delete('live.view');
  console.log('\nlive.view has left.');
  await until(async () => {
    // Workers also prune every minute.
    await admin.prune();
    return !(await admin.queues()).some(({ queue }) => queue === 'live.view');
  });
  if (!stopping.aborted) console.log('live.view is gone, with its subscription.\n');
}

async function start(queue: string): Promise<void> {
  if (!stopping.aborted)
    consumers.set(queue, await ForkedProcess.start(new URL('consumer.js', import.meta.url), queue));
}

/** Signs up the users that no earlier run has signed up. */
async function signUpAll(): Promise<void> {
  const signups = publisher.get(SignupsService);
  for (let id = (await signups.count()) + 1; id <= USERS && !stopping.aborted; id++) {
    const region = id % 2 === 0 ? 'eu' : 'us';
    await signups.signUp({ id, email: `user-${id}@${region}.example`, region });
    await setTimeout(100);
  }
}

async function untilDrained(...queues: string[]): Promise<void> {
  for (const queue of queues) await until(async () => (await jobsLeft(admin, queue)) === 0);
}

/** Resolves when the condition is met, or at Ctrl-C. */
async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!stopping.aborted && !(await isMet())) await setTimeout(100);
}
