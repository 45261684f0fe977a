import { systemClock } from '../../../common/clock.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { Templates } from '../../core/template.js';
import type { Tables } from '../../tables/table-names.js';
import type { LeaseSettings } from '../port/database.js';
import { Hosts } from './mysql-connections.js';
import { connectionOptions, type MysqlOptions } from './mysql-options.js';
import { MysqlPool } from './mysql-pool.js';
import { mysql } from './mysql.js';

export function openMysqlForLeases(
  { dataSource, hosts, shortestLeaseMs, skewMs }: LeaseSettings,
  tables: Tables,
): Promise<SqlDatabase> {
  const templates = new Templates(tables, mysql, { ms: skewMs });
  const { port } = connectionOptions(dataSource.options as MysqlOptions);
  return MysqlPool.open(dataSource, templates, systemClock, shortestLeaseMs, new Hosts(hosts, port));
}
