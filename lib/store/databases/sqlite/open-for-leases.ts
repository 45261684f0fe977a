import { systemClock } from '../../../common/clock.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { Templates } from '../../core/template.js';
import type { Tables } from '../../tables/table-names.js';
import type { LeaseSettings } from '../port/database.js';
import { SqliteHandle } from './sqlite-handle.js';
import { sqlite } from './sqlite.js';

export function openSqliteForLeases({ dataSource, skewMs }: LeaseSettings, tables: Tables): Promise<SqlDatabase> {
  return SqliteHandle.open(dataSource, new Templates(tables, sqlite, { ms: skewMs }), systemClock);
}
