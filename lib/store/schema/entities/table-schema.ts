import { EntitySchema } from 'typeorm';
import type { Tables } from '../../tables.js';
import type { Columns, RowOf } from './columns.js';

/** One table: the source of its entity and of its row type. A test compares it to the tables of the migrations. */
export interface TableSchema<TableColumns extends Columns = Columns> {
  readonly table: keyof Tables;
  readonly entity: string;
  readonly columns: TableColumns;
  /** By the part of their names after the table's name. */
  readonly indexes?: Readonly<Record<string, readonly (keyof TableColumns & string)[]>>;
}

/** Checks the columns of the indexes at compile time. */
export function tableSchema<TableColumns extends Columns>(
  schema: TableSchema<TableColumns>,
): TableSchema<TableColumns> {
  return schema;
}

export function entityOf<TableColumns extends Columns>(
  { columns, indexes = {} }: Pick<TableSchema<TableColumns>, 'columns' | 'indexes'>,
  tableName: string,
  name: string,
): EntitySchema<RowOf<TableColumns>> {
  const indices = Object.entries(indexes).map(([index, on]) => ({ name: `${tableName}_${index}`, columns: [...on] }));
  return new EntitySchema<Record<string, unknown>>({
    name,
    tableName,
    synchronize: false,
    columns: { ...columns },
    indices,
  }) as unknown as EntitySchema<RowOf<TableColumns>>;
}
