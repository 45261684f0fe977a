import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine, type Engine } from '../engine/engine.js';
import { UsageError } from './command.js';

export interface ConnectSettings {
  readonly url: string;
  readonly prefix: string | undefined;
  readonly migrates: boolean;
  readonly warn: (message: string) => void;
}

/** Opens the queue without a worker. */
export function connect({ url, prefix, migrates, warn }: ConnectSettings): Promise<Engine> {
  const ignore = () => {};
  const given = connectionOf(url);
  // A file with a misspelled name would be created.
  const connection = given.type === 'better-sqlite3' && !migrates ? { ...given, fileMustExist: true } : given;
  return openEngine({
    dataSource: new DataSource(connection),
    prefix,
    options: { worker: false, schema: { migrate: migrates ? 'run' : 'check' } },
    logger: { log: ignore, debug: ignore, warn, error: warn },
  });
}

/** Never shows the URL, which contains a password. */
export function connectionOf(url: string): DataSourceOptions {
  const [, scheme, rest] = /^(\w+):(.+)$/.exec(url) ?? [];
  if (scheme === 'sqlite') return { type: 'better-sqlite3', database: rest! };
  if (scheme === 'mysql' || scheme === 'mariadb') return { type: scheme, url: url.replace(/^mariadb/, 'mysql') };
  throw new UsageError('expected the URL to begin with mysql:, mariadb: or sqlite:');
}
