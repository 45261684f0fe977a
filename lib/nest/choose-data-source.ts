import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { DataSource } from 'typeorm';
import { InvalidOptionsError, SqlQueueError, StoreUnavailableError, UnsupportedDatabaseError } from '../job/errors.js';
import { didYouMean } from '../common/message-text.js';
import { databaseOf, EMBEDDED_TYPE } from '../store/databases/index.js';
import { dataSourceOptions, withoutPassword } from './connection-options.js';
import { OPTIONS_PLACE, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';

export const EMBEDDED_FILE = './sql-queue.sqlite';

// `instanceof` fails if the application has a second copy of TypeORM, so these methods identify the class.
const DATA_SOURCE_METHODS = ['initialize', 'destroy', 'createQueryRunner', 'getRepository'] as const;

/**
 * Chooses the database of the queue: `connection`, else the configured DataSource, else the default DataSource of the
 * application. If the application has no DataSource, it is an embedded file, but not in production.
 *
 * All other cases throw, because jobs in a database that the application does not expect are lost.
 *
 * @param resolved the provider under the default token, or under the configured token
 * @param found see `dataSourcesAmong`
 * @returns `isFallback` if it is the embedded file because the application has no DataSource, `isApplications` if the
 * application provides it, and so initializes it
 */
export function chooseDataSource(
  { connection }: SqlQueueModuleOptions,
  given: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly string[],
): { dataSource: DataSource; isFallback: boolean; isApplications?: boolean } {
  if (connection) return { dataSource: createDataSource(connection), isFallback: false };
  if (typeof given.dataSource === 'object') return { dataSource: given.dataSource, isFallback: false };
  if (resolved) return { dataSource: resolved, isFallback: false, isApplications: true };
  if (given.dataSource !== undefined) throw unknownDataSource(given, found);
  rejectFallback(given, found);
  if (process.env.NODE_ENV === 'production') throw missingDatabaseInProduction();
  return { dataSource: createFallback(), isFallback: true };
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
  const typeOrm = `TypeOrmModule.forRoot({ name: ${name}, … })`;
  if (found.length === 0) {
    return new InvalidOptionsError(OPTIONS_PLACE, [
      `expected a DataSource named ${name} in the application, got none. Import ${typeOrm}, or the module that provides it: ` +
        `SqlQueueModule.forRoot({ imports: […], dataSource: ${name} })`,
    ]);
  }
  const names = found.map(nameOf);
  const suggestion = typeof given.dataSource === 'string' ? didYouMean(given.dataSource, names) : '';
  return new InvalidOptionsError(OPTIONS_PLACE, [
    `expected a DataSource named ${name} in the application, got ${names.join(', ')}${suggestion || '.'} ` +
      `Write ${forRootCalls(given, found)}, or import ${typeOrm}`,
  ]);
}

/** The name of a DataSource that `dataSourcesAmong` has found. */
function nameOf(options: string): string {
  return /dataSource: '?(.+?)'?$/.exec(options)?.[1] ?? 'the default DataSource';
}

function missingDatabaseInProduction(): InvalidOptionsError {
  return new InvalidOptionsError(OPTIONS_PLACE, [
    `expected a database for the queue, got none: the application has no DataSource, and NODE_ENV is "production". Import ` +
      `TypeOrmModule.forRoot({ … }), or write SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }), or, for the ` +
      `file ${EMBEDDED_FILE}, SqlQueueModule.forRoot({ connection: 'embedded' })`,
  ]);
}

/** The embedded file cannot be opened. The application has probably forgotten its DataSource, so the message begins with it. */
export function fallbackError(error: unknown): unknown {
  const isOfDatabase = error instanceof UnsupportedDatabaseError || error instanceof StoreUnavailableError;
  if (error instanceof SqlQueueError && !isOfDatabase) return error;
  return new InvalidOptionsError(OPTIONS_PLACE, [
    `expected a database for the queue, got none: the application has no DataSource. Import TypeOrmModule.forRoot({ … }), or write ` +
      `SqlQueueModule.forRoot({ connection: { type: 'mysql', url: … } }). The file ${EMBEDDED_FILE}, which the queue uses without ` +
      `a DataSource, cannot be opened: ${(error as Error).message}`,
  ]);
}

function forRootCalls({ name }: StaticOptions, found: readonly string[]): string {
  const instance = name === undefined ? [] : [`name: '${name}'`];
  const calls = found.map((options) => [...instance, ...(options === '' ? [] : [options])].join(', '));
  return calls.map((options) => `SqlQueueModule.forRoot(${options && `{ ${options} }`})`).join(' or ');
}

function createFallback(): DataSource {
  try {
    return createDataSource('embedded');
  } catch (error) {
    throw fallbackError(error);
  }
}

function createDataSource(connection: NonNullable<SqlQueueModuleOptions['connection']>): DataSource {
  if (connection === 'embedded') return new DataSource({ type: EMBEDDED_TYPE, database: EMBEDDED_FILE });
  databaseOf(connection.type);
  try {
    return new DataSource(dataSourceOptions(connection));
  } catch (error) {
    // The error of an invalid URL has the URL, with its password, as a property.
    throw new InvalidOptionsError(OPTIONS_PLACE, [
      `connection: ${withoutPassword((error as Error).message, connection)}`,
    ]);
  }
}

/**
 * Finds the DataSources among the providers: those of TypeOrmModule by their tokens, all others by their class. The result
 * of a factory is found only after the factory has run.
 *
 * @param configured the token that the application configured as its DataSource
 * @returns for each the static options that make SqlQueueModule use it, as source text. Empty if it needs none
 */
export function dataSourcesAmong(wrappers: readonly InstanceWrapper[], configured?: unknown): string[] {
  const options = wrappers.flatMap((wrapper) => {
    const name = nameInTypeOrmModule(wrapper);
    if (name !== undefined) return [`dataSource: '${name}'`];
    if (wrapper.token !== configured && !isDataSource(wrapper)) return [];
    const { host, token } = wrapper;
    const imports = host?.isGlobal ? [] : [`imports: [${host?.name ?? 'its module'}]`];
    return [[...imports, ...(token === DataSource ? [] : [`dataSource: ${formatToken(token)}`])].join(', ')];
  });
  return [...new Set(options)];
}

/** The more likely token first. */
export function dataSourceTokens(
  dataSource: Exclude<StaticOptions['dataSource'], DataSource>,
): readonly Exclude<typeof dataSource, undefined>[] {
  if (dataSource === undefined || dataSource === 'default') return [DataSource];
  // A copy of the rule in @nestjs/typeorm, which may not be installed.
  return typeof dataSource === 'string' ? [`${dataSource}DataSource`, dataSource] : [dataSource];
}

/** Whether the class is or extends the DataSource of any copy of TypeORM. */
function isDataSourceClass(type: unknown): boolean {
  const prototype = typeof type === 'function' ? (type.prototype as unknown) : undefined;
  return DATA_SOURCE_METHODS.every(
    (method) => typeof (prototype as Partial<DataSource> | undefined)?.[method] === 'function',
  );
}

function nameInTypeOrmModule({ token, host }: InstanceWrapper): string | undefined {
  if (host?.name !== 'TypeOrmCoreModule' || typeof token !== 'string') return undefined;
  return /^(.+)DataSource$/.exec(token)?.[1];
}

function isDataSource(wrapper: InstanceWrapper): boolean {
  if (isDataSourceClass(wrapper.token)) return true;
  // The provider behind an alias is found under its own token.
  if (wrapper.isAlias) return false;
  if (!wrapper.isNotMetatype && isDataSourceClass(wrapper.metatype)) return true;
  const instance = wrapper.instance as object | null | undefined;
  return (
    typeof instance === 'object' &&
    instance !== null &&
    isDataSourceClass((Object.getPrototypeOf(instance) as object | null)?.constructor)
  );
}

/** A token as source text. */
function formatToken(token: unknown): string {
  if (typeof token === 'function') return token.name;
  return typeof token === 'string' ? `'${token}'` : String(token);
}
