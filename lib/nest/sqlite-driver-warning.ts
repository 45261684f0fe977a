import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { sqliteDriverIncompatibility, usesInstalledDriver } from '../store/databases/sqlite/sqlite-driver.js';

/**
 * Warns when a DataSource of this process is about to open a SQLite file with a driver that aborts the process. The
 * application opens its DataSource before the queue can reject the driver, so TypeORM's method is replaced until then.
 *
 * @param problem undefined: the driver fits, or is not installed
 */
export function warnOfSqliteDriver(problem = sqliteDriverIncompatibility()): void {
  const { prototype } = DataSource;
  const original = Object.getOwnPropertyDescriptor(prototype, 'initialize')!;
  const initialize = original.value as DataSource['initialize'] & { [WATCHES]?: true };
  if (problem === undefined || initialize[WATCHES]) return;
  async function initializeWithWarning(this: DataSource): Promise<DataSource> {
    if (usesInstalledDriver(this.options)) {
      Object.defineProperty(prototype, 'initialize', original);
      Logger.warn(problem, 'SqlQueue');
    }
    return initialize.call(this);
  }
  Object.defineProperty(prototype, 'initialize', {
    ...original,
    value: Object.assign(initializeWithWarning, { [WATCHES]: true }),
  });
}

const WATCHES = Symbol.for('nestjs-sql-queue:watches-sqlite-driver');
