import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CDPSession } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { gate } from '../support/engines.js';
import { useBrowser } from './support/board-browser.js';
import type { BoardApp } from './support/board-app.js';

const WARM_UPS = 200;
const UPDATES = 1_200;
const STEP_MS = 3_000;
const QUEUES = 20;
const BURST = 20;
// Compiled code and caches of the browser settle for some time, and it frees up to 5 MB late. A tree of the overview has 36
// kB: 43 MB for all updates.
const MOST_BYTES = 10_000_000;
const MOST_NODES = 300;

/** Each update takes three seconds of the page, so that an hour passes within the test. */
const FAST_CLOCK = `{
  const [now, listen] = [Date.now, EventSource.prototype.addEventListener];
  let [ahead, updates] = [0, 0];
  Date.now = () => now.call(Date) + ahead;
  EventSource.prototype.addEventListener = function (name, act) {
    listen.call(this, name, (event) => {
      if (name === 'queues') ahead += ${STEP_MS};
      act(event);
      if (name === 'queues') document.documentElement.dataset.updates = updates++;
    });
  };
}`;

describe('a page of the board that stays open', () => {
  const { start } = useBrowser();

  it.each(['', 'queue?queue=queue-1', 'jobs?queue=queue-1', 'job?id=1', 'schedules'])(
    'uses as much memory after an hour of updates as after ten minutes: #/%s',
    async (hash) => {
      const app = await start();
      await fill(app);
      const stream = await fastStream(app);
      const window = await app.board(undefined);
      const { page } = window;
      await page.addInitScript(FAST_CLOCK);
      const session = await page.context().newCDPSession(page);
      const shown = (update: number) => page.locator(`html[data-updates="${update}"]`).waitFor();
      await page.goto(`${stream.url}#/${hash}`);
      await page.locator(`main[data-view="#/${hash}"] h1`).waitFor({ state: 'attached' });

      await stream.send(WARM_UPS, shown);
      const before = await measure(session);
      await stream.send(UPDATES, shown);
      const after = await measure(session);
      stream.close();
      // The browser reports the end of the stream.
      window.problems.splice(0);

      expect(after.bytes - before.bytes).toBeLessThan(MOST_BYTES);
      expect(after.nodes - before.nodes).toBeLessThan(MOST_NODES);
      expect(after.listeners - before.listeners).toBeLessThan(MOST_NODES);
    },
  );
});

async function fill({ producer, runner, schedules }: BoardApp): Promise<void> {
  const stop = await runner.handle('queue-1', { retry: { attempts: 2, backoff: 0 } }, (job) => {
    job.log('a line');
    if (job.id % 2 === 1) throw Object.assign(new Error('no'), { code: 'E1' });
  });
  await producer.enqueueMany(
    'queue-1',
    Array.from({ length: 60 }, (_, n) => ({ payload: { n } })),
  );
  await runner.whenIdle();
  await stop();
  for (let n = 2; n <= QUEUES; n++) await producer.enqueue(`queue-${n}`, n);
  for (let n = 1; n <= 10; n++) await schedules.upsert(`s${n}`, { queue: 'queue-1', every: '10m' });
}

/** Passes requests to the board, and has a stream of its own that sends many updates with other numbers. */
async function fastStream({ url: target, read }: BoardApp) {
  const { body } = await read('queues');
  let stream: ServerResponse | undefined;
  const requested = gate();
  let sent = 0;
  const pass = (from: IncomingMessage, to: ServerResponse) => {
    const { method, headers } = from;
    const passed = request(new URL(from.url!, target), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(to);
    });
    passed.on('error', () => to.destroy());
    from.pipe(passed);
  };
  const server = createServer((from, to) => {
    if (!from.url!.endsWith('/api/live')) return pass(from, to);
    to.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    to.write(eventOf(sent));
    stream = to;
    requested.open();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    stream?.destroy();
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const eventOf = (update: number) => {
    const queues = body.queues.map((queue: object, index: number) => ({
      ...{ ...queue, waiting: { value: update + index, atLeast: false }, active: update % 7 },
      ...{ oldestWaitingMs: update * STEP_MS, sampledAt: new Date().toISOString() },
    }));
    return `event: queues\ndata: ${JSON.stringify({ queues, refreshMs: 1_000 })}\n\n`;
  };
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    close,
    /** Waits for the page after each burst, as its requests would pile up otherwise. */
    send: async (count: number, shown: (update: number) => Promise<unknown>) => {
      await requested.opened;
      for (let n = 1; n <= count; n++) {
        sent += 1;
        stream!.write(eventOf(sent));
        if (n % BURST === 0 || n === count) await shown(sent);
      }
    },
  };
}

/** The memory of the page after its garbage is collected: some of it only after the page has drawn again. */
async function measure(session: CDPSession): Promise<{ bytes: number; nodes: number; listeners: number }> {
  for (let n = 0; n < 5; n++) {
    await session.send('HeapProfiler.collectGarbage');
    const expression = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';
    await session.send('Runtime.evaluate', { expression, awaitPromise: true });
  }
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { bytes: usedSize, nodes, listeners: jsEventListeners };
}
