import { TypeOrmModule } from '@nestjs/typeorm';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { inspect } from 'node:util';
import { QueueProducer, SqlQueueModule, type SqlQueueModuleOptions } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { PlatformTools } from 'typeorm/platform/PlatformTools.js';
import { freePort } from '../support/free-port.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import {
  afterTest,
  compile,
  IN_MEMORY,
  Log,
  startError,
  startErrorOf,
  temporaryFolder,
} from './support/application.js';

afterEach(() => vi.restoreAllMocks());

/** Forwards a port to a server, from this call on. */
async function forward(port: number, url: string): Promise<void> {
  const { hostname, port: target } = new URL(url);
  const server = createServer((socket) => {
    const upstream = connect(Number(target), hostname);
    socket.pipe(upstream).pipe(socket);
    for (const each of [socket, upstream]) each.on('error', () => [socket, upstream].forEach((one) => one.destroy()));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  afterTest(async () => server.close());
}

function withPort(url: string, port: number, password = ''): string {
  const changed = new URL(url);
  Object.assign(changed, { host: `127.0.0.1:${port}`, password });
  return changed.href;
}

/** The error of a start, with everything that the application has logged meanwhile. */
async function failedStart(connection: NonNullable<SqlQueueModuleOptions['connection']>) {
  const log = new Log();
  const error = (await compile({ imports: [SqlQueueModule.forRoot({ connection, worker: false })] }, log).catch(
    (thrown: unknown) => thrown,
  )) as Error;
  return { error, log, shown: inspect(error, { depth: 9 }) + JSON.stringify(log.lines) };
}

describeServers(
  'the connection of the queue',
  (server) => {
    it('is tried again while the database is down, until it is up', async () => {
      const database = await freshDatabase(server);
      afterTest(() => database.drop());
      const port = await freePort();
      const { type, url } = database.connection as { type: 'mysql'; url: string };
      const log = new Log();
      const { warn } = log;
      // The first refusal brings the server up.
      log.warn = (message) => {
        warn(message);
        if (log.at('warn').length === 1) void forward(port, url);
      };

      const { get } = await compile(
        {
          imports: [
            SqlQueueModule.forRoot({
              connection: { type, url: withPort(url, port), retryAttempts: 1_000, retryDelay: 10 },
              worker: false,
            }),
          ],
        },
        log,
      );

      expect(await get(QueueProducer).enqueue('q', 1)).toMatchObject({ id: 1 });
      expect(log.at('warn')[0]).toBe(
        `Cannot connect to the database of the queue, "${new URL(url).pathname.slice(1)}" on 127.0.0.1:${port} as user "root" ` +
          `(option \`connection\`): connect ECONNREFUSED 127.0.0.1:${port}. Attempt 1 of 1000, the next one in 0.01 s.`,
      );
    });

    it('fails the boot after the last attempt, without the password in any line', async () => {
      const port = await freePort();
      const url = withPort(`${server.url}jobs`, port, 's3cret%40word');

      const { error, log, shown } = await failedStart({
        type: server.name as 'mysql',
        url,
        retryAttempts: 2,
        retryDelay: 1,
      });

      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'not-done' });
      expect(error.message).toBe(
        `Cannot connect to the database of the queue, "jobs" on 127.0.0.1:${port} as user "root" (option \`connection\`) after 2 ` +
          `attempts: connect ECONNREFUSED 127.0.0.1:${port}`,
      );
      expect(log.at('warn')).toHaveLength(1);
      expect(shown).not.toContain('s3cret');
    });

    it('fails the boot at once if the server rejects the password', async () => {
      const url = new URL(`${server.url}jobs`);
      url.password = 's3cret';

      const { error, log, shown } = await failedStart({ type: server.name as 'mysql', url: url.href });

      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(error.message).toMatch(
        /"jobs" on 127\.0\.0\.1:\d+ as user "root" \(option `connection`\): Access denied for/,
      );
      expect(log.at('warn')).toEqual([]);
      expect(shown).not.toContain('s3cret');
    });

    it('names the option of a DataSource object that cannot connect', async () => {
      const port = await freePort();
      const dataSource = new DataSource({ type: server.name as 'mysql', url: withPort(`${server.url}jobs`, port) });
      vi.spyOn(dataSource, 'initialize').mockRejectedValue(new Error('Unknown database'));

      const error = await startErrorOf({ imports: [SqlQueueModule.forRoot({ dataSource })] });

      expect(error.message).toContain('(option `dataSource`): Unknown database');
    });

    it('is rejected before any attempt if it names no database of the server', async () => {
      const error = await startError({}, { connection: { type: server.name as 'mysql', url: server.url } });

      expect(error.message).toContain('expected connection to name a database on the server, got none');
    });
  },
  ['mysql', 'mariadb'],
);

describe('the option `connection`', () => {
  it.each([
    ['url', { type: 'mysql', url: undefined }, 'expected connection.url to be the URL of a database, got undefined.'],
    ['url', { type: 'mariadb', url: '' }, 'expected connection.url to be the URL of a database, got "".'],
    [
      'database',
      { type: 'better-sqlite3', database: undefined },
      'expected connection.database to be the path of a file, got undefined.',
    ],
  ])('rejects an undefined or empty %s with its likely cause', async (_name, connection, message) => {
    const error = await startError({}, { connection: connection as never });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain(message);
    expect(error.message).toContain('forRoot() reads it while its file is loaded');
  });

  it('rejects a misspelt value with a suggestion', async () => {
    const error = await startError({}, { connection: 'embeded' as never });

    expect(error.message).toContain(
      `expected connection to be the options of a DataSource, or 'embedded', got "embeded", did you mean "embedded"?`,
    );
  });

  it('rejects a URL without its password, and says how to write it', async () => {
    const error = await startError({}, { connection: 'mysql://app:s3cret@db/jobs' as never });

    expect(error.message).toContain(`got "mysql://app:***@db/jobs". Write connection: { type: 'mysql', url: … }`);
    expect(inspect(error)).not.toContain('s3cret');
  });

  it('rejects invalid numbers of attempts and pauses', async () => {
    const connection = { ...IN_MEMORY, retryAttempts: 0, retryDelay: 'soon' };

    const error = await startError({}, { connection: connection as never });

    expect(error.message).toContain('expected connection.retryAttempts to be a whole number from 1 to 10000, got 0');
    expect(error.message).toContain('connection.retryDelay');
  });
});

describe('a forgotten TypeOrmModule', () => {
  it('is named before the driver of the embedded file that is missing', async () => {
    const load = PlatformTools.load.bind(PlatformTools);
    vi.spyOn(PlatformTools, 'load').mockImplementation((name) => {
      if (name === 'better-sqlite3') throw new Error('not installed');
      return load(name);
    });

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot()] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toMatch(
      /^SqlQueueModule options: expected a database for the queue, got none: the application has no DataSource\. Import TypeOrmModule\.forRoot\(\{ … \}\), .* cannot be opened: .*npm install better-sqlite3/,
    );
  });

  it('is named before the error of an embedded file that cannot be opened', async () => {
    const before = process.cwd();
    const folder = await temporaryFolder();
    process.chdir(folder);
    afterTest(async () => process.chdir(before));
    vi.spyOn(DataSource.prototype, 'initialize').mockRejectedValue(new Error('unable to open database file'));

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot()] });

    expect(error.message).toMatch(/the application has no DataSource\. .* unable to open database file$/);
  });
});

describe('an unknown DataSource', () => {
  it('is answered with the default one, if the application has no other', async () => {
    const error = await startErrorOf({
      imports: [TypeOrmModule.forRoot(IN_MEMORY), SqlQueueModule.forRoot({ dataSource: 'jobs' })],
    });

    expect(error.message).toBe(
      `SqlQueueModule options: expected a DataSource named 'jobs' in the application, got the default DataSource. Write ` +
        `SqlQueueModule.forRoot(), or import TypeOrmModule.forRoot({ name: 'jobs', … })`,
    );
  });

  it('is answered with all that exist, and the one that it probably means', async () => {
    const error = await startErrorOf({
      imports: [
        TypeOrmModule.forRoot(IN_MEMORY),
        TypeOrmModule.forRoot({ ...IN_MEMORY, name: 'jobs' }),
        SqlQueueModule.forRoot({ name: 'audit', dataSource: 'jbos' }),
      ],
    });

    expect(error.message).toBe(
      `SqlQueueModule options: expected a DataSource named 'jbos' in the application, got the default DataSource, jobs, did you ` +
        `mean "jobs"? Write SqlQueueModule.forRoot({ name: 'audit' }) or SqlQueueModule.forRoot({ name: 'audit', dataSource: ` +
        `'jobs' }), or import TypeOrmModule.forRoot({ name: 'jbos', … })`,
    );
  });
});
