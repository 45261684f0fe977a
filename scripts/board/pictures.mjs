// node scripts/board/pictures.mjs [--serve]: draws the pictures of docs/board.md, light and dark, from a demonstration with
// the built library. --serve starts the demonstration alone, until Ctrl-C.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { DataSource } from 'typeorm';
import { findChromium } from '../browser/chromium.mjs';
import { build } from '../build.mjs';
import { onStopSignal } from '../stop-signal.mjs';
import { HANDLERS, OPTIONS, seed, seedHistory } from './seed.mjs';

const root = resolve(import.meta.dirname, '../..');
const VIEWPORT = { width: 1360, height: 850 };

const folder = await mkdtemp(join(tmpdir(), 'sql-queue-board-'));
await build();
const library = await import(join(root, 'dist/index.js'));
const { SqlQueueBoardModule } = await import(join(root, 'dist/board.js'));

const demo = await start(join(folder, 'demo.sqlite'));
if (process.argv.includes('--serve')) {
  console.log(`Open ${demo.url} in a browser. Ctrl-C ends the demonstration.`);
  onStopSignal(() => void end());
} else {
  try {
    await draw(demo);
  } finally {
    await end();
  }
}

async function start(database) {
  const { QueueAdmin, QueueConsumer, QueueProducer, QueueSchedules, SqlQueueModule, SqlQueueRunner } = library;
  const connection = { type: 'better-sqlite3', database };
  class AppModule {}
  const imports = [
    SqlQueueModule.forRoot({ connection, ...OPTIONS }),
    // The demonstration listens on this machine only.
    SqlQueueBoardModule.forRoot({ path: 'ops/queues', can: () => true, user: () => 'ann' }),
  ];
  const app = await NestFactory.create({ module: AppModule, imports }, { logger: ['fatal'] });
  const runner = app.get(SqlQueueRunner, { strict: false });
  await app.listen(0, '127.0.0.1');
  for (const [queue, handler] of Object.entries(HANDLERS)) await runner.handle(queue, {}, handler);
  const get = (token) => app.get(token, { strict: false });
  const parts = {
    producer: get(QueueProducer),
    admin: get(QueueAdmin),
    consumer: get(QueueConsumer),
    schedules: get(QueueSchedules),
  };
  const { flow, order } = await seed({ ...parts, runner });
  const source = await new DataSource(connection).initialize();
  await seedHistory((text, values) => source.query(text, values), Date.now());
  await source.destroy();
  // The worker saves its attempts every ten seconds. The verdict needs them.
  while (!(await parts.admin.problems()).some(({ rule }) => rule === 'failing')) await sleep(500);
  const [dead] = (await parts.admin.find({ queue: 'crm.push', state: 'dead' }, { limit: 1 })).jobs;
  return { app, url: `${await app.getUrl()}/ops/queues`, flow, order, dead };
}

async function draw({ url, flow, order, dead }) {
  const pictures = join(root, 'docs/board');
  await mkdir(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  const views = {
    overview: '',
    queue: 'queue?queue=crm.push',
    job: `job?id=${dead.id}`,
    steps: `job?id=${order}`,
    errors: 'errors',
    flow: `flow?id=${flow}`,
  };
  try {
    for (const [colorScheme, ending] of [
      ['light', '.png'],
      ['dark', '-dark.png'],
    ]) {
      const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' });
      for (const [name, hash] of Object.entries(views)) {
        await page.goto(`${url}#/${hash}`);
        await page.locator(`main[data-view="#/${hash}"] h1`).waitFor();
        await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
        if (name === 'overview') await page.locator('.queue-grid .spark').first().waitFor();
        if (name === 'flow') await page.locator('a.gnode').nth(1).click();
        await page.screenshot({ path: join(pictures, name + ending) });
        console.log(`docs/board/${name}${ending}`);
      }
    }
  } finally {
    await browser.close();
  }
}

async function end() {
  await demo.app.close();
  await rm(folder, { recursive: true, force: true });
}
