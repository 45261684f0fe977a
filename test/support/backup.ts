import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { World } from './engines.js';
import type { TestConnection, TestServer } from './servers.js';

const run = promisify(execFile);

/** Writes a consistent copy of the database to the file, while other connections use the database. */
export async function backUp({ server, connection, sql }: World, file: string): Promise<void> {
  if (connection.type === 'better-sqlite3') {
    await sql(`VACUUM INTO '${file}'`);
    return;
  }
  const program = join(dirname(server.client!), server.name === 'mysql' ? 'mysqldump' : 'mariadb-dump');
  const { to, database } = argumentsFor(connection.url);
  await run(program, ['--no-defaults', '--single-transaction', ...to, `--result-file=${file}`, database]);
}

/** Fills an empty database from the file. */
export async function restore(server: TestServer, connection: TestConnection, file: string): Promise<void> {
  if (connection.type === 'better-sqlite3') {
    await copyFile(file, connection.database);
    return;
  }
  const { to, database } = argumentsFor(connection.url);
  const client = spawn(server.client!, ['--no-defaults', ...to, database], { stdio: ['pipe', 'ignore', 'inherit'] });
  createReadStream(file).pipe(client.stdin);
  const [code] = (await once(client, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${server.client} ended with ${code}`);
}

function argumentsFor(url: string): { to: string[]; database: string } {
  const { hostname, port, username, password, pathname } = new URL(url);
  const as = [`--user=${decodeURIComponent(username)}`, `--password=${decodeURIComponent(password)}`];
  return { to: [`--host=${hostname}`, `--port=${port}`, '--protocol=TCP', ...as], database: pathname.slice(1) };
}
