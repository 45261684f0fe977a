import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { DataSource } from 'typeorm';
import type { StaticOptions } from './module-options.js';

/** A DataSource among the application's providers. */
export interface FoundDataSource {
  /** The static options with which SqlQueueModule works on it, as source text; empty if it needs none. */
  readonly options: string;
}

// A second copy of TypeORM has a class of its own.
const METHODS = ['initialize', 'destroy', 'createQueryRunner', 'getRepository'] as const;

const OF_TYPEORM_MODULE = /^(.+)DataSource$/;

/**
 * The DataSources among the providers, as far as they are known: a factory's product only when it is there. TypeOrmModule's
 * are known by their tokens, the others by their class.
 *
 * @param wanted the token of one that the application says is a DataSource
 */
export function dataSourcesAmong(wrappers: readonly InstanceWrapper[], wanted?: unknown): FoundDataSource[] {
  const options = wrappers.flatMap((wrapper) => {
    const name = nameInTypeOrmModule(wrapper);
    if (name !== undefined) return [`dataSource: '${name}'`];
    if (wrapper.token !== wanted && !isDataSource(wrapper)) return [];
    const { host, token } = wrapper;
    const imports = host?.isGlobal ? [] : [`imports: [${host?.name ?? 'its module'}]`];
    return [[...imports, ...(token === DataSource ? [] : [`dataSource: ${written(token)}`])].join(', ')];
  });
  return [...new Set(options)].map((text) => ({ options: text }));
}

/** The tokens under which the DataSource may be provided, the likelier one first. */
export function dataSourceTokens(
  dataSource: Exclude<StaticOptions['dataSource'], DataSource>,
): readonly Exclude<typeof dataSource, undefined>[] {
  if (dataSource === undefined || dataSource === 'default') return [DataSource];
  // Computed here as @nestjs/typeorm does it, since that may not be installed.
  return typeof dataSource === 'string' ? [`${dataSource}DataSource`, dataSource] : [dataSource];
}

/** Whether the class, or one that it extends, is TypeORM's DataSource, of whatever copy of TypeORM. */
export function isDataSourceClass(type: unknown): boolean {
  const prototype = typeof type === 'function' ? (type.prototype as unknown) : undefined;
  return METHODS.every((method) => typeof (prototype as Partial<DataSource> | undefined)?.[method] === 'function');
}

function nameInTypeOrmModule({ token, host }: InstanceWrapper): string | undefined {
  if (host?.name !== 'TypeOrmCoreModule' || typeof token !== 'string') return undefined;
  return OF_TYPEORM_MODULE.exec(token)?.[1];
}

function isDataSource(wrapper: InstanceWrapper): boolean {
  if (isDataSourceClass(wrapper.token)) return true;
  // What an alias stands for is found under its own token.
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
export function written(token: unknown): string {
  if (typeof token === 'function') return token.name;
  return typeof token === 'string' ? `'${token}'` : String(token);
}
