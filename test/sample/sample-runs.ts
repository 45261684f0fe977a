import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type TestConnection, type TestServer } from '../support/servers.js';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

/** A folder and a database of its own for sample processes. Both are deleted after the test. */
export interface SampleRuns {
  readonly cwd: string;
  readonly connection: TestConnection;
  start(): SampleProcess;
}

/** Builds the sample once per suite, and returns the setup of a test. */
export function runsOf(name: string): (server: TestServer) => Promise<SampleRuns> {
  let main: string;
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    main = await buildSample(name);
  });

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  return async (server) => {
    const cwd = await mkdtemp(join(tmpdir(), `sql-queue-${name}-`));
    cleanups.push(() => rm(cwd, { recursive: true, force: true }));
    const { connection, drop } = await freshDatabase(server);
    cleanups.push(drop);
    const env = { DATABASE_URL: 'url' in connection ? connection.url : undefined };
    const start = () => {
      const sample = new SampleProcess({ main, args: [], cwd, env });
      cleanups.push(async () => {
        sample.kill();
        await sample.ended;
      });
      return sample;
    };
    return { cwd, connection, start };
  };
}
