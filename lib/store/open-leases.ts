import type { DataSource, DataSourceOptions } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { systemClock } from '../time/clock.js';
import { Hosts, type HostList } from './dialects/hosts.js';
import { mysql } from './dialects/mysql.js';
import { MysqlPool } from './dialects/mysql-pool.js';
import { isInMemory, SqliteHandle } from './dialects/sqlite-handle.js';
import { sqlite } from './dialects/sqlite.js';
import type { JobStore } from './job-store.js';
import { extend } from './sql/lease.js';
import type { SqlDatabase } from './sql/sql-database.js';
import { Templates } from './sql/template.js';
import { seen } from './sql/workers.js';
import { tableNames, tablesOn, type Tables } from './tables.js';

/** Where leases are kept, in words that can be given to another thread. */
export interface LeaseDatabase {
  readonly options: DataSourceOptions;
  readonly tables: Tables;
  readonly hosts: HostList;
  readonly shortestLeaseMs: number;
  /** Added to the database's time; 0 outside tests. */
  readonly skewMs: number;
}

type LeaseSettings = Omit<LeaseDatabase, 'options' | 'tables'> & { readonly prefix: string | undefined };

/** The verbs of a JobStore that keep leases alive. */
export interface LeaseStore extends Pick<JobStore, 'extend' | 'seen' | 'close'> {}

// What says how to connect. A DataSource may hold much else, entities with their functions among it.
const SERVER = ['type', 'url', 'host', 'port', 'username', 'password', 'database', 'ssl', 'socketPath'];
const MORE = ['connectTimeout', 'extra', 'replication', 'nativeBinding', 'key'];

/** Refuses a database that another thread could not reach, or whose options cannot be given to it. */
export function leaseDatabase(dataSource: DataSource, { prefix, ...more }: LeaseSettings): LeaseDatabase {
  const given = dataSource.options as unknown as Record<string, unknown>;
  const found = [...SERVER, ...MORE].flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]));
  const options = Object.fromEntries(found) as unknown as DataSourceOptions;
  const inMemory = options.type === 'better-sqlite3' && isInMemory(options.database);
  const refused = inMemory ? 'a database in memory, which no other thread can see' : uncloneable(options);
  if (refused) {
    throw new InvalidOptionsError('SqlQueueModule options', [
      `worker: expected for heartbeat 'thread' a database that a thread can connect to by itself, got ${refused}`,
    ]);
  }
  return { options, tables: tablesOn(dataSource.options, tableNames(prefix)), ...more };
}

/** Opens no more than what renewing leases takes: one connection. */
export async function openLeases({
  options,
  tables,
  hosts,
  shortestLeaseMs,
  skewMs,
}: LeaseDatabase): Promise<LeaseStore> {
  const dataSource = { options } as DataSource;
  const isSqlite = options.type === 'better-sqlite3';
  const templates = new Templates(tables, isSqlite ? sqlite.now : mysql.now, () => skewMs);
  const database: SqlDatabase = isSqlite
    ? await SqliteHandle.open(dataSource, templates, systemClock)
    : await MysqlPool.open(dataSource, templates, systemClock, shortestLeaseMs, new Hosts(hosts));
  return {
    extend: (claimIds) => database.repeatable(() => extend(claimIds)),
    seen: (workerId) => database.repeatable(() => seen(workerId)),
    close: () => database.close(),
  };
}

function uncloneable(options: DataSourceOptions): string | undefined {
  try {
    structuredClone(options);
    return undefined;
  } catch (error) {
    return `options that cannot be given to it (${(error as Error).message})`;
  }
}
