import type { Tables } from '../tables/table-names.js';

/**
 * Steps, subjects and flows outlive the rows of their jobs by about this time: so long after they are added, and after the
 * retention of their jobs, the pruner checks whether the jobs still exist.
 */
export const CHECK_INTERVAL_MS = 3_600_000;

/** The rows that have expired. Skips any number of locked rows, so that they do not delay the others. */
export const expiredIn = (table: keyof Tables, columns: string) => `
  SELECT ${columns}
  FROM {${table}} {by ${table}.expiry}
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit {lock free}`;
