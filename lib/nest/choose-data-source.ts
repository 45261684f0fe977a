import { DataSource } from 'typeorm';
import { InvalidOptionsError, StoreUnavailableError } from '../job/errors.js';
import { checkDatabaseType } from '../store/core/supported-database.js';
import { formatToken } from './data-sources.js';
import { OPTIONS_PLACE, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';

export const EMBEDDED_FILE = './sql-queue.sqlite';

export interface ChosenDataSource {
  readonly dataSource: DataSource;
  /** Whether it is the embedded file because the application has no DataSource. */
  readonly isFallback: boolean;
}

/**
 * Chooses the database of the queue: `connection`, else the configured DataSource, else the default DataSource of the
 * application. If the application has no DataSource, it is an embedded file, but not in production.
 *
 * All other cases throw, because jobs in a database that the application does not expect are lost.
 *
 * @param resolved the provider under the default token, or under the configured token
 * @param found see `dataSourcesAmong`
 */
export function chooseDataSource(
  { connection }: SqlQueueModuleOptions,
  given: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly string[],
): ChosenDataSource {
  if (connection) return { dataSource: createDataSource(connection), isFallback: false };
  if (typeof given.dataSource === 'object') return { dataSource: given.dataSource, isFallback: false };
  if (resolved) return { dataSource: resolved, isFallback: false };
  if (given.dataSource !== undefined) throw unknownDataSource(given, found);
  rejectFallback(given, found);
  if (process.env.NODE_ENV === 'production') throw missingDatabaseInProduction();
  return { dataSource: createDataSource('embedded'), isFallback: true };
}

/** Throws if the application has a DataSource, because it then does not expect its jobs in the embedded file. */
export function rejectFallback(given: StaticOptions, found: readonly string[]): void {
  if (found.length === 0) return;
  if (found.includes('')) {
    throw new StoreUnavailableError(`The application's DataSource could not be connected.`, 'not-done');
  }
  throw new InvalidOptionsError(OPTIONS_PLACE, [
    `expected the database of the queue, got none, and the application's DataSource is not visible to SqlQueueModule as ` +
      `its default DataSource. Write ${forRootCalls(given, found)}, or set \`connection\` to a database for the queue`,
  ]);
}

function unknownDataSource(given: StaticOptions, found: readonly string[]): InvalidOptionsError {
  const name = formatToken(given.dataSource);
  const wayOut =
    found.length > 0
      ? `Write ${forRootCalls({ ...given, dataSource: undefined }, found)}`
      : `Import TypeOrmModule.forRoot({ name: ${name}, … }), or the module that provides it: SqlQueueModule.forRoot({ ` +
        `imports: […], dataSource: ${name} })`;
  return new InvalidOptionsError(OPTIONS_PLACE, [
    `expected a DataSource named ${name} in the application, got none. ${wayOut}`,
  ]);
}

function missingDatabaseInProduction(): InvalidOptionsError {
  return new InvalidOptionsError(OPTIONS_PLACE, [
    `expected a database for the queue, got none: the application has no DataSource, and NODE_ENV is "production". Import ` +
      `TypeOrmModule.forRoot({ … }), or write SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }), or, for the ` +
      `file ${EMBEDDED_FILE}, SqlQueueModule.forRoot({ connection: 'embedded' })`,
  ]);
}

function forRootCalls({ name }: StaticOptions, found: readonly string[]): string {
  const instance = name === undefined ? '' : `name: '${name}', `;
  return found.map((options) => `SqlQueueModule.forRoot({ ${instance}${options} })`).join(' or ');
}

function createDataSource(connection: NonNullable<SqlQueueModuleOptions['connection']>): DataSource {
  if (connection !== 'embedded') checkDatabaseType(connection.type);
  return new DataSource(connection === 'embedded' ? { type: 'better-sqlite3', database: EMBEDDED_FILE } : connection);
}
