import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { eventually } from '../support/eventually.js';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('11-instrumentations');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the instrumentations sample', () => {
  it('sends metrics to a DogStatsD agent, and the error of the dead job to Sentry', async () => {
    const agent = await startAgent();
    const sentry = await startSentry();
    const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-instrumentations-'));
    cleanups.push(() => rm(cwd, { recursive: true, force: true }));

    const env = { DD_DOGSTATSD_PORT: String(agent.port), SENTRY_DSN: sentry.dsn, DATABASE_URL: undefined };
    const sample = new SampleProcess({ main, args: [], cwd, env });
    cleanups.push(() => sample.kill());
    const end = await sample.ended;
    await eventually(() => agent.lines.filter((line) => line.startsWith('sql_queue.jobs.ended')).length === 3);

    expect([end, sample.output]).toEqual([0, expect.stringContaining('The address has no @.') as unknown]);
    expect(agent.lines.filter((line) => line.includes('.ended')).sort()).toEqual([
      'sql_queue.jobs.ended:1|c|#queue:mail.send,outcome:completed',
      'sql_queue.jobs.ended:1|c|#queue:mail.send,outcome:dead',
      'sql_queue.jobs.ended:1|c|#queue:mail.send,outcome:failed',
    ]);
    expect(agent.lines).toContainEqual(
      expect.stringMatching(/^sql_queue\.job\.run:\d+\|h\|#queue:mail\.send,outcome:dead$/),
    );
    expect(sentry.events).toMatchObject([
      {
        tags: { queue: 'mail.send' },
        exception: { values: [{ type: 'TypeError', value: 'The address has no @.' }] },
        breadcrumbs: [{ category: 'queue' }, { category: 'mail' }],
      },
    ]);
    expect(JSON.stringify(sentry.events)).not.toContain('nowhere');
  });
});

async function startAgent() {
  const socket = createSocket('udp4');
  cleanups.push(() => socket.close());
  const lines: string[] = [];
  socket.on('message', (datagram) => void lines.push(...datagram.toString().split('\n')));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, lines };
}

/** Receives envelopes as Sentry does, and keeps their events. */
async function startSentry() {
  const events: unknown[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const envelope = await (request.headers['content-encoding'] === 'gzip' ? unzipped(request) : text(request));
    const items = envelope
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as object);
    events.push(...items.filter((item) => 'exception' in item));
    response.end('{}');
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  cleanups.push(() => server.close());
  await once(server, 'listening');
  return { dsn: `http://key@127.0.0.1:${(server.address() as AddressInfo).port}/1`, events };
}

async function unzipped(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return gunzipSync(Buffer.concat(chunks)).toString();
}
