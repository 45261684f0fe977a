import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine, type Engine } from '../../engine/engine.js';
import { UsageError } from './errors.js';

/** The database of a call, and where its warnings go. */
export interface Target {
  readonly url: string;
  readonly prefix: string | undefined;
  readonly warn: (message: string) => void;
}

/**
 * Opens the queue without a worker.
 *
 * @param migrate `run` creates and updates the tables, `check` rejects tables of another version
 */
export function connect(target: Target, migrate: 'run' | 'check'): Promise<Engine> {
  const { prefix, warn } = target;
  const ignore = () => {};
  return openEngine({
    dataSource: migrate === 'run' ? new DataSource(connectionOf(target.url)) : existingDataSource(target),
    prefix,
    options: { worker: false, schema: { migrate } },
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
