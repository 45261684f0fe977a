import type { Pool } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import { withTimeout } from '../common/with-timeout.js';
import { MysqlSockets } from './databases/mysql/mysql-sockets.js';

const CLOSE_TIMEOUT_MS = 200;

/** Closes a DataSource that the library opened. TypeORM alone would wait forever for a server that does not answer. */
export async function closeDataSource(dataSource: DataSource, clock: Clock): Promise<void> {
  const { pool } = dataSource.driver as { pool?: Pool };
  const sockets = pool && new MysqlSockets(pool);
  await withTimeout(clock, CLOSE_TIMEOUT_MS, dataSource.destroy());
  sockets?.destroy();
}
