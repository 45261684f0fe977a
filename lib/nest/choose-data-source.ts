import { DataSource } from 'typeorm';
import { InvalidOptionsError, StoreUnavailableError } from '../job/errors.js';
import { checkDatabaseType } from '../store/supported-database.js';
import { written, type FoundDataSource } from './data-sources.js';
import type { SqlQueueModuleOptions, StaticOptions } from './module-options.js';

export const EMBEDDED_FILE = './sql-queue.sqlite';

const WHERE = 'SqlQueueModule options';

export interface Chosen {
  readonly dataSource: DataSource;
  /** The embedded file, which the application has not asked for. */
  readonly isFallback: boolean;
}

/**
 * The database of the queue: `connection`, else the DataSource that is given or named, else the application's default one. If
 * the application has none at all, an embedded file, outside production. A queue that is kept in another database than its
 * application means loses jobs, so anything else is refused.
 *
 * @param resolved the provider under the default token, or under the name that is given
 * @param found all DataSources of the application that are known
 */
export function chooseDataSource(
  { connection }: SqlQueueModuleOptions,
  given: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly FoundDataSource[],
): Chosen {
  if (connection) return { dataSource: openable(connection), isFallback: false };
  if (typeof given.dataSource === 'object') return { dataSource: given.dataSource, isFallback: false };
  if (resolved) return { dataSource: resolved, isFallback: false };
  if (given.dataSource !== undefined) throw unknownDataSource(given, found);
  refuseFallback(given, found);
  if (process.env.NODE_ENV === 'production') throw unaskedInProduction();
  return { dataSource: openable('embedded'), isFallback: true };
}

/** Throws if the application has a DataSource after all, so that the embedded file is none that it means. */
export function refuseFallback(given: StaticOptions, found: readonly FoundDataSource[]): void {
  if (found.length === 0) return;
  if (found.some(({ options }) => options === '')) {
    throw new StoreUnavailableError(`The application's DataSource could not be connected.`, 'not-done');
  }
  throw new InvalidOptionsError(WHERE, [
    `expected to be told which database holds the queue, got nothing, and the application's DataSource is not visible to ` +
      `SqlQueueModule as its default one. Write ${linesFor(given, found)}, or a \`connection\` of the queue's own`,
  ]);
}

function unknownDataSource(given: StaticOptions, found: readonly FoundDataSource[]): InvalidOptionsError {
  const name = written(given.dataSource);
  const wayOut =
    found.length > 0
      ? `Write ${linesFor({ ...given, dataSource: undefined }, found)}`
      : `Import TypeOrmModule.forRoot({ name: ${name}, … }), or the module that provides it: SqlQueueModule.forRoot({ ` +
        `imports: […], dataSource: ${name} })`;
  return new InvalidOptionsError(WHERE, [
    `expected a DataSource named ${name} in the application, got none. ${wayOut}`,
  ]);
}

function unaskedInProduction(): InvalidOptionsError {
  return new InvalidOptionsError(WHERE, [
    `expected a database for the queue, got none: the application has no DataSource, and NODE_ENV is "production". Import ` +
      `TypeOrmModule.forRoot({ … }), or write SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }), or, for the ` +
      `file ${EMBEDDED_FILE}, SqlQueueModule.forRoot({ connection: 'embedded' })`,
  ]);
}

function linesFor({ name }: StaticOptions, found: readonly FoundDataSource[]): string {
  const instance = name === undefined ? '' : `name: '${name}', `;
  return found.map(({ options }) => `SqlQueueModule.forRoot({ ${instance}${options} })`).join(' or ');
}

function openable(connection: NonNullable<SqlQueueModuleOptions['connection']>): DataSource {
  if (connection !== 'embedded') checkDatabaseType(connection.type);
  return new DataSource(connection === 'embedded' ? { type: 'better-sqlite3', database: EMBEDDED_FILE } : connection);
}
