import { DataSource, type DataSourceOptions } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import type { OpenStore, StoreSettings } from '../../lib/store/open-store.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import { pooledDatabase, rowDeleter } from './database-pool.js';
import { claimFrom, newJob, suiteClaims as suiteOf, type Claim } from './jobs.js';
import { openRecordedStore } from './recorded-store.js';
import type { ClaimStrategy } from '../../lib/job/claim-strategy.js';
import { describeServers, type ServerName, type TestConnection, type TestServer } from './servers.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import type { NewJob } from '../../lib/job/job.js';

export interface TestStore {
  readonly server: TestServer;
  /** A database without a file, which allows one connection only. */
  readonly inMemory: boolean;
  readonly title: string;
  /** The claim strategy of the suite. */
  readonly strategy: ClaimStrategy;
}

/** An empty store with the tools of a test. */
export interface World extends OpenStore {
  readonly store: TestStore;
  readonly dataSource: DataSource;
  /** Advances the time of the store. */
  advance(ms: number): void;
  /** Opens a store on the same tables, like another process. Closed after the test. */
  open(settings?: Partial<StoreSettings>): Promise<OpenStore>;
  /** Opens a connection of the application. Destroyed after the test. */
  connect(options?: Partial<DataSourceOptions>): Promise<DataSource>;
  /** Runs a statement of the application. */
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Enqueues jobs with default columns, except for those given. */
  put(...jobs: Partial<NewJob>[]): Promise<number[]>;
  /** Claims one job, or as the request sets. */
  claim(request?: Partial<ClaimRequest>): Promise<Claim>;
}

export type Setup = () => Promise<World>;

/** Runs the suite on every store. Each `setup()` gives a test an empty one. */
export function describeStores(title: string, suite: (setup: Setup, store: TestStore) => void): void {
  describeServers(title, (server) => onStore(storeOn(server), suite));
  describeServers(
    `${title}, in memory,`,
    (server) => onStore({ ...storeOn(server), inMemory: true, title: 'memory' }, suite),
    ['sqlite'],
  );
}

/** Runs the suite once for each claim strategy of the store. */
export function describeStrategies(title: string, suite: (setup: Setup, store: TestStore) => void): void {
  describeStores(title, suite);
  for (const strategy of ['optimistic', 'update', 'lock'] as const) {
    describeServers(`${title} by ${strategy}`, (server) => onStore({ ...storeOn(server), strategy }, suite), [
      'mysql',
      'mariadb',
    ]);
  }
}

function storeOn(server: TestServer): TestStore {
  const { name } = server;
  return { server, inMemory: false, title: name, strategy: name === 'sqlite' ? 'update' : 'skip-locked' };
}

/** Runs the suite on some servers only. */
export function describeStoresOf(
  names: ServerName[],
  title: string,
  suite: (setup: Setup, store: TestStore) => void,
  strategy?: ClaimStrategy,
): void {
  describeServers(title, (server) => onStore({ ...storeOn(server), ...(strategy && { strategy }) }, suite), names);
}

function onStore(store: TestStore, suite: (setup: Setup, store: TestStore) => void): void {
  const cleanups: (() => Promise<unknown>)[] = [];
  const afterTest: (() => Promise<unknown>)[] = [];
  const skew = { ms: 0 };
  let base: ReturnType<typeof prepare> | undefined;

  const settings = (dataSource: DataSource): StoreSettings => ({
    dataSource,
    migrate: 'run',
    clock: systemClock,
    skew,
    shortestLeaseMs: 30_000,
    largestPayloadBytes: 1_048_576,
  });

  const prepare = async () => {
    const database = await pooledDatabase(store.server);
    cleanups.push(() => database.drop());
    const options = (
      store.inMemory ? { type: 'better-sqlite3', database: ':memory:' } : database.connection
    ) as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    cleanups.push(() => dataSource.destroy());
    const opened = await openRecordedStore(settings(dataSource));
    cleanups.push(() => opened.jobs.close());
    return { dataSource, options, opened, deleteRows: await openDeletion(database.connection, dataSource) };
  };

  const openDeletion = async (connection: TestConnection, dataSource: DataSource) => {
    if (!('url' in connection)) {
      const { schema: _, ...emptied } = tableNames();
      return async () => {
        for (const table of Object.values(emptied)) await dataSource.query(`DELETE FROM ${table}`);
      };
    }
    const { deleteRows, end } = await rowDeleter(connection);
    cleanups.push(end);
    return deleteRows;
  };

  afterEach(async () => {
    for (const cleanup of afterTest.splice(0).reverse()) await cleanup();
  });
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  const setup: Setup = async () => {
    skew.ms = 0;
    suiteOf.strategy = store.strategy;
    const { dataSource, options, opened, deleteRows } = await (base ??= prepare());
    await deleteRows();
    const open = async (more: Partial<StoreSettings> = {}) => {
      const another = await openRecordedStore({ ...settings(dataSource), ...more });
      afterTest.push(() => another.jobs.close());
      return another;
    };
    // An optimistic store remembers conflicts and then claims at random positions. A test must not inherit that memory.
    const stores = store.strategy === 'optimistic' ? await open() : opened;
    const { jobs, workerLocks } = stores;
    suiteOf.lockId = 0;
    if (store.strategy === 'lock') {
      const lock = await workerLocks!.acquire('worker-1');
      suiteOf.lockId = lock.id;
      afterTest.push(() => lock.release());
    }
    return {
      ...stores,
      store,
      dataSource,
      advance: (ms) => void (skew.ms += ms),
      open,
      connect: async (more = {}) => {
        const another = await new DataSource({ ...options, ...more } as DataSourceOptions).initialize();
        afterTest.push(async () => another.isInitialized && another.destroy());
        return another;
      },
      sql: (text, values) => dataSource.query(text, values),
      put: (...given) => jobs.enqueue(given.map(newJob)),
      claim: (request = {}) => claimFrom(jobs, request),
    };
  };
  suite(setup, store);
}
