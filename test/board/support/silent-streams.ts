import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A proxy in front of the application, like a network that fails. `silence` holds back what open event streams send. They stay
 * open, and new connections pass.
 */
export async function silentStreams(url: string): Promise<{ url: string; silence: () => void }> {
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
    client.on('close', () => upstream.destroy());
    upstream.on('data', (answer) => answer.includes('text/event-stream') && streams.add(upstream));
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const proxied = new URL(url);
  proxied.port = String((server.address() as AddressInfo).port);
  return { url: proxied.href, silence: () => streams.forEach((upstream) => upstream.unpipe()) };
}
