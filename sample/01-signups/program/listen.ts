import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SetUpError } from './set-up-error.js';

const HOST = '127.0.0.1';

/** Listens on the port, or on any free one if it is taken. Returns the URL. */
export async function listen(server: Server, port: number): Promise<string> {
  await listenOn(server, port).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE')
      throw new SetUpError(`Cannot listen on port ${port}: ${error.message}. Set PORT to another port`);
    console.log(`Port ${port} is taken, so the program uses another one. Set PORT to choose one.`);
    await listenOn(server, 0);
  });
  return `http://${HOST}:${(server.address() as AddressInfo).port}`;
}

async function listenOn(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, 'listening');
}
