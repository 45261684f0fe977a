import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { DataSource } from 'typeorm';
import type { StaticOptions } from './module-options.js';

// `instanceof` fails if the application has a second copy of TypeORM, so these methods identify the class.
const DATA_SOURCE_METHODS = ['initialize', 'destroy', 'createQueryRunner', 'getRepository'] as const;

const OF_TYPEORM_MODULE = /^(.+)DataSource$/;

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
export function isDataSourceClass(type: unknown): boolean {
  const prototype = typeof type === 'function' ? (type.prototype as unknown) : undefined;
  return DATA_SOURCE_METHODS.every(
    (method) => typeof (prototype as Partial<DataSource> | undefined)?.[method] === 'function',
  );
}

function nameInTypeOrmModule({ token, host }: InstanceWrapper): string | undefined {
  if (host?.name !== 'TypeOrmCoreModule' || typeof token !== 'string') return undefined;
  return OF_TYPEORM_MODULE.exec(token)?.[1];
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
export function formatToken(token: unknown): string {
  if (typeof token === 'function') return token.name;
  return typeof token === 'string' ? `'${token}'` : String(token);
}
