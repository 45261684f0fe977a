import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { World } from './engines.js';

const run = promisify(execFile);

/** What the database's own client answers when this is typed in, a row each line and a tab between columns. */
export async function typeIn(
  { server, connection }: Pick<World, 'server' | 'connection'>,
  sql: string,
): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL((connection as { url: string }).url);
  const as = [`--user=${decodeURIComponent(username)}`, `--password=${decodeURIComponent(password)}`];
  const to = [`--host=${hostname}`, `--port=${port}`, '--protocol=TCP', ...as, pathname.slice(1)];
  const how = ['--batch', '--raw', '--skip-column-names'];
  const { stdout } = await run(server.client!, ['--no-defaults', ...how, ...to, '--execute', sql]);
  return stdout;
}
