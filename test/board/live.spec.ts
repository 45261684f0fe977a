import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
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
});

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
