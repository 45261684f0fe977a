import type { DataSourceOptions } from 'typeorm';

/** The database at DATABASE_URL (`mysql://…` or `mariadb://…`), or an SQLite file in the current folder without it. */
export function databaseOptions(file: string, url = process.env.DATABASE_URL): DataSourceOptions {
  if (!url) return { type: 'better-sqlite3', database: file, enableWAL: true };
  return { type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql', url };
}
