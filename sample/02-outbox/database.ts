import type { DataSourceOptions } from 'typeorm';

/** Orders, invoices and jobs are in one database: that is all an outbox needs. */
export function databaseOptions(url: string | undefined): DataSourceOptions {
  if (!url) return { type: 'better-sqlite3', database: './outbox.sqlite', enableWAL: true };
  return { type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql', url };
}
