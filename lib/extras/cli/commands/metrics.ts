import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { OutageLog } from '../../../common/logger.js';
import type { QueueStats } from '../../../store/features/stats/stats-store.js';
import { registerQueueMetrics } from '../../prometheus/register-queue-metrics.js';
import type { Command } from '../command.js';
import { CommandFailedError, UsageError } from '../errors.js';
import { printable } from '../output.js';
import { onStopSignal } from '../stop-signals.js';
import { readStats } from './read-stats.js';

const PATH = '/metrics';

export const metrics: Command = {
  usage: '[--listen [host]:port]',
  async run({ engine, options, output, terminal }) {
    const listen = options.text('listen');
    const address = listen === undefined ? undefined : addressOf(listen);
    const registry = await createRegistry();
    if (!address) {
      // Here an error fails the command. The gauges would only be absent.
      const stats = await readStats(engine, {});
      registerQueueMetrics(registry, { stats: () => Promise.resolve(stats) });
      const text = await registry.metrics();
      return output.result(await registry.getMetricsAsJSON(), () => text.trimEnd());
    }
    const report = (line: string) => terminal.writeError(`${printable(line)}\n`);
    registerQueueMetrics(registry, { stats: reporting(() => readStats(engine, {}), report) });
    await serve(registry, address, (url) => report(`Serving ${url}`));
  },
};

/** Reports an outage once, because a scrape only shows that the statistics are down. */
function reporting(read: () => Promise<QueueStats[]>, report: (line: string) => void): () => Promise<QueueStats[]> {
  const logger = { log: report, warn: report, error: report, debug: () => {} };
  const outage = new OutageLog(logger, 'Cannot read the statistics', 'The statistics can be read again.');
  return async () => {
    try {
      const stats = await read();
      outage.onSuccess();
      return stats;
    } catch (error) {
      outage.onFailure(error);
      throw error;
    }
  };
}

async function createRegistry(): Promise<Registry> {
  const loaded = await import('prom-client').catch((error: Error) => {
    throw new CommandFailedError(
      `The command needs the package prom-client 15, which is not installed: npm install prom-client (${error.message})`,
    );
  });
  // Its ES module has the names on `default` too, depending on the loader.
  const { Registry } = 'Registry' in loaded ? loaded : (loaded as { default: typeof import('prom-client') }).default;
  return new Registry();
}

interface Address {
  readonly host: string;
  readonly port: number;
}

function addressOf(text: string): Address {
  const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(`expected --listen to be [host]:port, such as :9464, got "${text}"`);
  return { host: host?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
}

async function answer(registry: Registry, response: ServerResponse): Promise<void> {
  try {
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  } catch (error) {
    response.writeHead(500).end((error as Error).message);
  }
}

/** Resolves after SIGINT or SIGTERM. */
async function serve(registry: Registry, { host, port }: Address, onListening: (url: string) => void): Promise<void> {
  const server = createServer((request, response) => {
    const isScrape = request.method === 'GET' && request.url?.split('?')[0] === PATH;
    if (isScrape) void answer(registry, response);
    else response.writeHead(404).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { address, family, port: actual } = server.address() as AddressInfo;
  onListening(`http://${family === 'IPv6' ? `[${address}]` : address}:${actual}${PATH}`);
  await new Promise<void>((resolve) => {
    const restore = onStopSignal(() => {
      restore();
      resolve();
    });
  });
  server.close();
  server.closeAllConnections();
}
