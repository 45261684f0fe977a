import { Agent, get, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { getEngineToken } from '../../lib/nest/tokens.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { eventually } from '../support/eventually.js';
import { PATH, startBoard, type BoardApp } from './support/board-app.js';

// Some events with these queues are more than the sockets of both ends hold.
const QUEUES = 3_000;
const SAMPLE_TIME_MS = 5_000;

describe.each(['express', 'fastify'] as const)('the live stream of the board, on %s', (adapter) => {
  it('closes the connection of a browser that does not read, with all that it has buffered', async () => {
    const app = await startBoard({ adapter, board: { refresh: '1s' } });
    for (let n = 0; n < QUEUES; n++) await app.admin.pause(`${'long-name-'.repeat(9)}${n}`, { create: true });
    const connected = new Promise<Socket>((resolve) => serverOf(app).once('connection', resolve));

    const browser = openStream(app);
    browser.pause();
    const socket = await connected;
    await new Promise((resolve) => socket.once('close', resolve));

    expect(socket.writableLength).toBe(0);
    expect((await app.read('rights')).status).toBe(200);
  });

  it('lets the application close while a page goes on with its requests', async () => {
    const app = await startBoard({ adapter });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers: string[] = [];
    const closed = new AbortController();
    const page = (async () => {
      while (!closed.signal.aborted) answers.push(await outcomeOf(`${app.url}/api/rights`, agent));
    })();

    await eventually(() => answers.includes('200'));
    await app.close();
    closed.abort();
    await page;
    agent.destroy();

    expect(answers).toContain('200');
  });
});

describe('the live streams of 20 boards', () => {
  it('share each read of the statistics, and take one sample per sample time', async () => {
    const app = await startBoard({ board: { refresh: '1s' } });
    await app.producer.enqueue('email', 1);
    const { stats } = app.app.get<{ stores: OpenStore }>(getEngineToken(), { strict: false }).stores;
    const [samples, reads] = [vi.spyOn(stats, 'takeSample'), vi.spyOn(stats, 'read')];

    const streams = Array.from({ length: 20 }, () => readStream(app));
    await eventually(() => streams.every(({ samples }) => new Set(samples).size > 1));
    const taken = samples.mock.calls.length;
    const found = streams.flatMap(({ samples }) => samples).map((time) => Date.parse(time));
    const times = [...new Set(found)].sort((a, b) => a - b);

    // The first one may be older than the streams, and the last one may be on its way.
    expect([times.length - 1, times.length, times.length + 1]).toContain(taken);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(SAMPLE_TIME_MS);
    // The first stream has an event of each read, except of one that is under way.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(streams[0]!.samples.length + 1);
  });
});

/** An open stream. `samples`: the time of the sample in each of its events. */
function readStream({ url }: BoardApp): { readonly samples: string[] } {
  const samples: string[] = [];
  let text = '';
  const request = get(`${url}/api/live`, { headers: { 'sec-fetch-site': 'same-origin' }, agent: false }, (response) => {
    response.setEncoding('utf8').on('data', (part: string) => {
      const events = (text + part).split('\n\n');
      text = events.pop()!;
      for (const event of events) samples.push(...(/"sampledAt":"(.*?)"/.exec(event)?.slice(1) ?? []));
    });
  });
  onTestFinished(() => void request.destroy());
  return { samples };
}

/** The status of the answer, or the code of the error. */
function outcomeOf(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(String(response.statusCode)));
    }).once('error', ({ message }) => resolve(message));
  });
}

/** Opens the stream, of which the browser reads nothing yet. */
function openStream({ url }: BoardApp): Socket {
  const { port, host } = new URL(url);
  const browser = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void browser.destroy());
  browser.write(`GET /${PATH}/api/live HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: same-origin\r\n\r\n`);
  return browser;
}

function serverOf({ app }: BoardApp): Server {
  return app.getHttpServer() as Server;
}
