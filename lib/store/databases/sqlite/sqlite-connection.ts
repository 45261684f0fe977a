import { expected } from '../../../job/expectation.js';
import type { ConnectionRules } from '../port/database.js';
import { driverProblem, isInstalledDriver, usesInstalledDriver } from './sqlite-driver.js';
import { isInMemory, type SqliteOptions } from './sqlite-handle.js';

export const SQLITE_CONNECTION: ConnectionRules = {
  placeOf: (options) => `the file ${(options as SqliteOptions).database}`,

  placeProblem(options) {
    const { database } = options as Partial<SqliteOptions>;
    const isSet = database !== undefined && database !== '';
    const problem = expected(isSet, 'connection.database to be the path of a file', database);
    return problem === undefined ? undefined : { problem, isUnset: true };
  },

  driverProblem,

  unsharedBecause: (options) =>
    isInMemory((options as SqliteOptions).database)
      ? 'a database in memory, which no other thread can open'
      : undefined,

  closedToThreadsBecause(options) {
    return usesInstalledDriver(options) || isInstalledDriver((options as SqliteOptions).driver)
      ? undefined
      : 'a driver other than better-sqlite3, which no other thread can receive';
  },
};
