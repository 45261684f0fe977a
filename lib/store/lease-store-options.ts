import type { DataSource, DataSourceOptions } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { databaseOf } from './databases/index.js';
import type { HostList } from './databases/port/hosts.js';
import { tableNames, tablesOn, type Tables } from './tables/table-names.js';

/** Can be cloned into another thread. */
export interface LeaseStoreOptions {
  readonly options: DataSourceOptions;
  readonly tables: Tables;
  readonly hosts: HostList;
  readonly shortestLeaseMs: number;
  /** Milliseconds to add to the database's time; 0 outside tests. */
  readonly skewMs: number;
}

// Only these are passed on: a DataSource also has options that cannot be cloned, such as entities with functions.
const CONNECTION_OPTIONS =
  'type url host port username password database ssl socketPath connectTimeout extra replication nativeBinding key';

/** Throws InvalidOptionsError if another thread cannot reach the database, or if the options cannot be cloned. */
export function leaseStoreOptions(
  dataSource: DataSource,
  { prefix, ...settings }: Omit<LeaseStoreOptions, 'options' | 'tables'> & { readonly prefix: string | undefined },
): LeaseStoreOptions {
  const given = dataSource.options as unknown as Record<string, unknown>;
  const found = CONNECTION_OPTIONS.split(' ').filter((key) => given[key] !== undefined);
  const options = Object.fromEntries(found.map((key) => [key, given[key]])) as unknown as DataSourceOptions;
  const { connection } = databaseOf(options.type);
  const problem =
    connection.unsharedBecause(options) ??
    connection.closedToThreadsBecause?.(dataSource.options) ??
    cloneProblem(options);
  if (problem) {
    throw new InvalidOptionsError('SqlQueueModule options', [
      `worker: expected for heartbeat 'thread' a database that a thread can open on its own, got ${problem}`,
    ]);
  }
  return { options, tables: tablesOn(dataSource.options, tableNames(prefix)), ...settings };
}

function cloneProblem(options: DataSourceOptions): string | undefined {
  try {
    structuredClone(options);
    return undefined;
  } catch (error) {
    return `options that cannot be cloned (${(error as Error).message})`;
  }
}
