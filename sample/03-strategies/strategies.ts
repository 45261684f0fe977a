import { databaseOptions } from '../shared/database.js';
import type { ClaimStrategy } from './reports.js';

/** The strategies that the database supports. SQLite has one writer at a time and therefore one strategy. */
export const strategies: readonly ClaimStrategy[] =
  databaseOptions('').type === 'better-sqlite3' ? ['update'] : ['skip-locked', 'lock', 'optimistic', 'update'];
