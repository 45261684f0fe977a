import type { DataSourceOptions } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { TABLE_SCHEMAS } from './table-schemas.js';

export const DEFAULT_PREFIX = 'sql_queue_';

export type Tables = Readonly<Record<keyof typeof TABLE_SCHEMAS, string>>;

export const TABLES = Object.keys(TABLE_SCHEMAS) as (keyof Tables)[];

/** The prefix becomes part of SQL, so this check prevents injection. */
export function tableNames(prefix: string = DEFAULT_PREFIX): Tables {
  InvalidOptionsError.throwIfAny('Invalid tables', [
    expected(
      typeof prefix === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(prefix),
      'prefix to be 1 to 40 of the characters A-Z a-z 0-9 _',
      prefix,
    ),
  ]);
  return Object.fromEntries(TABLES.map((table) => [table, `${prefix}${table}`])) as Tables;
}

/** Adds the `entityPrefix` that TypeORM puts before the tables of all entities. The check prevents SQL injection. */
export function tablesOn<Names extends Readonly<Record<string, string>>>(
  { entityPrefix, namingStrategy }: Pick<DataSourceOptions, 'entityPrefix' | 'namingStrategy'>,
  tables: Names,
): Names {
  if (!entityPrefix) return tables;
  const prefixed = (name: string) => namingStrategy?.prefixTableName(entityPrefix, name) ?? `${entityPrefix}${name}`;
  const entries = Object.entries(tables).map(([table, name]) => [table, prefixed(name)] as const);
  InvalidOptionsError.throwIfAny('Invalid tables', [
    expected(
      entries.every(([, name]) => /^[A-Za-z0-9_]{1,55}$/.test(name)),
      'entityPrefix of the DataSource to make tables with names of at most 55 of the characters A-Z a-z 0-9 _',
      entityPrefix,
    ),
  ]);
  return Object.fromEntries(entries) as Names;
}
