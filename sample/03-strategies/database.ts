import type { ClaimStrategy } from './reports.js';
import type { DataSourceOptions } from 'typeorm';

const url = process.env.DATABASE_URL;

export function databaseOptions(): DataSourceOptions {
  if (!url) return { type: 'better-sqlite3', database: './strategies.sqlite', enableWAL: true };
  return { type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql', url };
}

/** What can be chosen there. SQLite has one writer at a time, and one way to claim. */
export const strategies: readonly ClaimStrategy[] = url ? ['skip-locked', 'lock', 'optimistic', 'update'] : ['update'];
