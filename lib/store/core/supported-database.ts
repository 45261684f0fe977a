import { UnsupportedDatabaseError } from '../../job/errors.js';

const SUPPORTED = ['mysql', 'mariadb', 'better-sqlite3'];

const ALTERNATIVES: Readonly<Record<string, string>> = {
  postgres: 'On PostgreSQL, pg-boss and graphile-worker are the queues to choose. ',
  cockroachdb: 'On PostgreSQL, pg-boss and graphile-worker are the queues to choose. ',
  sqlite: `For a SQLite file write type: 'better-sqlite3' and install better-sqlite3. `,
  sqljs: `For a SQLite file write type: 'better-sqlite3' and install better-sqlite3. `,
};

/** Throws UnsupportedDatabaseError for other database types. Call it before connecting: their driver may be missing. */
export function checkDatabaseType(type: string): void {
  if (SUPPORTED.includes(type)) return;
  const instead = Object.hasOwn(ALTERNATIVES, type) ? ALTERNATIVES[type] : '';
  throw new UnsupportedDatabaseError(
    `Expected a DataSource of type mysql, mariadb or better-sqlite3, got ${type}. ${instead}To keep the application on ${type}, give ` +
      `the queue a database of its own: SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }).`,
  );
}
