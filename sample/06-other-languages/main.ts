import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueAdmin, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Reports } from './reports.js';

const FILE = './other-languages.sqlite';
const TEXTS = ['the quick brown fox', 'jumps over', 'the lazy dog', '', 'again and again and again'];

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
