import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { World } from './engines.js';

const run = promisify(execFile);

/** Returns the output of the command-line client for this SQL: one line per row, with a tab between columns. */
export async function runInClient(
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
