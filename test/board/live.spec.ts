import { Agent, get, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { PATH, startBoard, type BoardApp } from './support/board-app.js';

// Some events with these queues are more than the sockets of both ends hold.
const QUEUES = 3_000;

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

    await vi.waitUntil(() => answers.includes('200'));
    await app.close();
    closed.abort();
    await page;
    agent.destroy();

    expect(answers).toContain('200');
  });
});

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
