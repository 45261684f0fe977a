import { DataSource } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { JobToEnqueue } from '../../lib/producer/enqueued-job.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { sqlite } from '../../lib/store/databases/sqlite/sqlite.js';
import { pooledDatabase } from './database-pool.js';
import { openEngine, type Engine, type EngineSettings } from './engine.js';
import { FakeClock, advanceUntilDone } from './fake-clock.js';
import { OwnServer } from './own-server.js';
import {
  describeServers,
  freshDatabase,
  type ServerName,
  type TestConnection,
  type TestDatabase,
  type TestServer,
} from './servers.js';

type Settings = Partial<EngineSettings> & { autoStart?: boolean };

/** A database without jobs, and the engines that a test starts on it. */
export interface World {
  readonly server: TestServer;
  readonly connection: TestConnection;
  /** The connections of the application. */
  readonly dataSource: DataSource;
  /** Opens an engine like a process of its own, and starts it unless `autoStart` is false. Closed after the test. */
  start(settings?: Settings): Promise<Engine>;
  /** Advances the database time of engines without a FakeClock. */
  advance(ms: number): void;
  /** The database time of those engines in milliseconds. */
  now(): Promise<number>;
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  connect(options?: object): Promise<DataSource>;
  /** Runs after the test, in reverse order. */
  afterTest(cleanup: () => unknown): void;
}

/** Gives a test a database with empty tables, or one without tables. */
type Setup = (options?: { withoutTables?: boolean }) => Promise<World>;

/** Runs the suite on every server. */
export function describeEngines(
  title: string,
  suite: (setup: Setup, server: TestServer) => void,
  only?: ServerName[],
): void {
  describeServers(title, (server) => onServer(server, suite, pooledDatabase), only);
}

/** Like describeEngines(), but each test has a server of its own. Servers count deadlocks for all their databases. */
export function describeOwnServers(
  title: string,
  suite: (setup: () => Promise<World>, server: TestServer) => void,
  only?: ServerName[],
): void {
  describeServers(title, (server) => onServer(server, suite, databaseOfOwnServer), only);
}

function onServer(
  server: TestServer,
  suite: (setup: Setup, server: TestServer) => void,
  createDatabase: (server: TestServer) => Promise<TestDatabase>,
): void {
  const cleanups: (() => unknown)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  suite(async ({ withoutTables = false } = {}) => {
    const database = await (withoutTables ? freshDatabase : createDatabase)(server);
    cleanups.push(() => database.drop());
    const { world, close } = await openWorld(database.server, database.connection);
    cleanups.push(close);
    return world;
  }, server);
}

async function databaseOfOwnServer(server: TestServer): Promise<TestDatabase> {
  if (server.name === 'sqlite') return freshDatabase(server);
  const own = await OwnServer.start(server.name);
  return { server: own.server, connection: await own.emptyDatabase('own'), drop: () => own.end() };
}

/** Opens a world on an existing database. The caller closes it. */
export async function openWorld(server: TestServer, connection: TestConnection) {
  const cleanups: (() => unknown)[] = [];
  let skewMs = 0;
  const connect = async (more: object = {}) => {
    const opened = await new DataSource({ ...connection, ...more }).initialize();
    cleanups.push(() => opened.isInitialized && opened.destroy());
    return opened;
  };
  const dataSource = await connect();
  const sql = <Row>(text: string, values?: unknown[]) => dataSource.query<Row[]>(text, values);
  const world: World = {
    ...{ server, connection, dataSource, connect, sql },
    start: async ({ autoStart = true, ...settings } = {}) => {
      const { clock } = settings;
      const skew = clock instanceof FakeClock ? () => clock.elapsedMs : () => skewMs;
      const engine = await openEngine({ dataSource, skewMs: skew, ...settings });
      cleanups.push(() => (clock instanceof FakeClock ? advanceUntilDone(clock, engine.close()) : engine.close()));
      if (autoStart) await engine.runner.start();
      return engine;
    },
    advance: (ms) => void (skewMs += ms),
    now: async () => {
      const { now } = server.name === 'sqlite' ? sqlite : mysql;
      const [row] = await sql<{ now: number }>(`SELECT ${now} AS now`);
      return Number(row!.now) + skewMs;
    },
    afterTest: (cleanup) => void cleanups.push(cleanup),
  };
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  return { world, close };
}

/** This many jobs for enqueueMany(). */
export function plainJobs(count: number, options: EnqueueOptions = {}): JobToEnqueue<number>[] {
  return Array.from({ length: count }, () => ({ payload: 0, options }));
}

/** A promise that the test resolves. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { open, opened };
}

/** Resolves when the signal is aborted, or at once if it already is. */
export async function untilAborted(signal: AbortSignal): Promise<AbortSignal> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return signal;
}

/** The same connection through another port. */
export function connectionThrough(connection: TestConnection, port: number): { url: string } {
  const url = new URL((connection as { url: string }).url);
  url.port = String(port);
  return { url: url.href };
}
