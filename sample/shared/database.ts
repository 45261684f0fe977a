import type { DataSourceOptions } from 'typeorm';

const SQLITE = 'sqlite:';

/**
 * The database at DATABASE_URL (`mysql://…`, `mariadb://…` or `sqlite:FILE`), or an SQLite file in the current folder
 * without it.
 */
export function databaseOptions(file: string, url = process.env.DATABASE_URL): DataSourceOptions {
  if (!url) return { type: 'better-sqlite3', database: file, enableWAL: true };
  if (url.startsWith(SQLITE)) return { type: 'better-sqlite3', database: url.slice(SQLITE.length), enableWAL: true };
  return { type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql', url };
}
