import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine, type Engine } from '../../engine/engine.js';
import type { EngineOptions } from '../../engine/engine-options.js';
import type { QueueOptions } from '../../job/queue-options.js';
import { UsageError } from './errors.js';

/** The database of a call, and where its warnings go. */
export interface Target {
  readonly url: string;
  readonly prefix: string | undefined;
  readonly warn: (message: string) => void;
}

/** Opens the queue without a worker, and creates or updates its tables. */
export function connect(target: Target): Promise<Engine> {
  return openOn(new DataSource(connectionOf(target.url)), target, { schema: { migrate: 'run' } });
}

/** Opens the queue of an existing database without a worker. Rejects tables of another version. */
export async function connectExisting(target: Target, defaults: QueueOptions = {}) {
  const dataSource = existingDataSource(target);
  const engine = await openOn(dataSource, target, { defaults, schema: { migrate: 'check' } });
  return { dataSource, engine };
}

function openOn(dataSource: DataSource, { prefix, warn }: Target, options: EngineOptions): Promise<Engine> {
  const ignore = () => {};
  return openEngine({
    ...{ dataSource, prefix },
    options: { ...options, worker: false },
    logger: { log: ignore, debug: ignore, warn, error: warn },
  });
}

/** Rejects to connect if it is a file that does not exist: a file with a misspelled name would be created. */
export function existingDataSource({ url }: Target): DataSource {
  const connection = connectionOf(url);
  return new DataSource(connection.type === 'better-sqlite3' ? { ...connection, fileMustExist: true } : connection);
}

/** Never shows the URL, which contains a password. */
export function connectionOf(url: string): DataSourceOptions {
  const [, scheme, rest] = /^(\w+):(.+)$/.exec(url) ?? [];
  if (scheme === 'sqlite') return { type: 'better-sqlite3', database: rest! };
  if (scheme === 'mysql' || scheme === 'mariadb') return { type: scheme, url: url.replace(/^mariadb/, 'mysql') };
  throw new UsageError('expected the URL to begin with mysql:, mariadb: or sqlite:');
}
