import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  JobContext,
  OnQueueEvent,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  type QueueEvent,
} from 'nestjs-sql-queue';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'text.count': { payload: { text: string } };
    'report.write': { payload: { of: number; words: number }; result: number };
  }
}

const FILE = './other-languages.sqlite';
const TEXTS = ['the quick brown fox', 'jumps over', 'the lazy dog', '', 'again and again and again'];

/** The Nest side: it prints the word counts of the Python side. */
@Injectable()
class Reports {
  @QueueProcessor('report.write')
  write({ payload, headers }: JobContext<{ of: number; words: number }>) {
    console.log(`nest:   job ${payload.of} has ${payload.words} words, says ${headers['from']}`);
    return payload.words;
  }

  @OnQueueEvent('rescued')
  rescued({ jobId, queue }: QueueEvent) {
    console.log(`nest:   rescued job ${jobId} of ${queue}`);
  }
}

@Module({
  imports: [SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database: FILE } })],
  providers: [Reports],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal', 'error', 'warn'] });
try {
  await app.get(QueueProducer).enqueueMany(
    'text.count',
    TEXTS.map((text) => ({ payload: { text } })),
  );
  // This path is valid from this folder and from the build folder.
  const worker = fileURLToPath(new URL('../../sample/06-other-languages/worker.py', import.meta.url));
  const python = spawn('python3', ['-B', worker, FILE, String(TEXTS.length)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(python, 'close')) as [number | null];
  if (code !== 0) throw new Error(`python3 ended with ${code}`);

  const admin = app.get(QueueAdmin);
  while ((await admin.counts('report.write')).completed < TEXTS.length) await setTimeout(50);
  const [counted, written] = [await admin.counts('text.count'), await admin.counts('report.write')];
  console.log(`Counted by Python: ${counted.completed}. Written down by Nest: ${written.completed}.`);
} finally {
  await app.close();
}
