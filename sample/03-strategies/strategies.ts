import type { ClaimStrategy } from './reports.js';

/** The strategies that the database supports. SQLite has one writer at a time and therefore one strategy. */
export const strategies: readonly ClaimStrategy[] = process.env.DATABASE_URL
  ? ['skip-locked', 'lock', 'optimistic', 'update']
  : ['update'];
