import type { Work } from '../core/statement.js';
import type { SqlTable } from '../schema/sql-tables.js';
import type { Tables } from '../tables/table-names.js';
import type { ActualTable } from './actual-tables.js';
import type { TableDifferences } from './compare-tables.js';

/** How one kind of database describes its tables, and the statements that repair them. */
export interface TableTools {
  /** Undefined if there is no such table. May reject instead, as if a statement had read the table. */
  read(key: keyof Tables, tables: Tables): Work<ActualTable | undefined>;
  /** The statements that give the table the columns, the primary key and the indexes of this release. */
  repair(table: SqlTable, actual: ActualTable, differences: TableDifferences): string[];
  dropIndex(table: string, index: string): string;
}
