import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import { withTimeout } from '../common/abort.js';
import { databaseOf } from './databases/index.js';

const CLOSE_TIMEOUT_MS = 200;

/** Closes a DataSource that the library opened. TypeORM alone would wait forever for a server that does not answer. */
export async function closeDataSource(dataSource: DataSource, clock: Clock): Promise<void> {
  const sockets = databaseOf(dataSource.options.type).connection.socketsOf?.(dataSource);
  await withTimeout(clock, CLOSE_TIMEOUT_MS, dataSource.destroy());
  sockets?.destroy();
}
