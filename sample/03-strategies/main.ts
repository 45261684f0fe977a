import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { getAdminToken, getProducerToken, QueueAdmin, QueueProducer } from 'nestjs-sql-queue';
import { jobsLeft } from '../shared/jobs-left.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { AppModule } from './app.module.js';
import { MAIL, MAILS } from './mails.js';
import { reportQueue, REPORTS } from './reports.js';
import { strategies } from './strategies.js';

const JOBS = 300;

const lines = [
  { ...MAILS, queue: MAIL as typeof MAIL, claim: 'auto', payload: (n: number) => ({ to: `ada${n}@example.com` }) },
  ...strategies.map((claim) => ({
    ...{ ...REPORTS, queue: reportQueue(claim), claim },
    payload: (n: number) => ({ month: 1 + (n % 12) }),
  })),
];

const stopping = onStopSignal();

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal', 'error', 'warn'] });
try {
  for (const { name, queue, payload } of lines) {
    const producer = app.get<QueueProducer>(getProducerToken(name));
    await producer.enqueueMany(
      queue,
      Array.from({ length: JOBS }, (_, n) => ({ payload: payload(n) })),
    );
  }
  console.log(`Enqueued ${JOBS} jobs into each of ${lines.length} queues.`);
  let left = Infinity;
  while (left > 0 && !stopping.aborted) {
    await setTimeout(50);
    left = 0;
    for (const { name, queue } of lines) left += await jobsLeft(adminOf(name), queue);
  }
  console.log(['tables', 'queue', 'claimed by', 'completed', 'left'].map((title) => title.padEnd(20)).join(''));
  for (const { name, prefix, queue, claim } of lines) {
    const { completed } = await adminOf(name).counts(queue);
    const cells = [`${prefix}*`, queue, claim, completed, await jobsLeft(adminOf(name), queue)];
    console.log(cells.map((cell) => String(cell).padEnd(20)).join(''));
  }
} finally {
  await app.close();
}

function adminOf(name: string): QueueAdmin {
  return app.get(getAdminToken(name));
}
