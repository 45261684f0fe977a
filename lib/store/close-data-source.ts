import type { Pool } from 'mysql2';
import type { DataSource } from 'typeorm';
import type { Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import { MysqlSockets } from './dialects/mysql-sockets.js';

const LONGEST_CLOSE_MS = 200;

/** Closes a DataSource of the library's own. TypeORM waits for a server that does not answer, without an end. */
export async function closeDataSource(dataSource: DataSource, clock: Clock): Promise<void> {
  const { pool } = dataSource.driver as { pool?: Pool };
  const sockets = pool && new MysqlSockets(pool);
  await within(clock, LONGEST_CLOSE_MS, dataSource.destroy());
  sockets?.destroy();
}
