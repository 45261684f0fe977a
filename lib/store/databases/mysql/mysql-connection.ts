import type { Pool } from 'mysql2';
import type { DataSource } from 'typeorm';
import { expected } from '../../../job/expectation.js';
import type { ConnectionRules, PlaceProblem } from '../port/database.js';
import { connectionOptions, type MysqlOptions } from './mysql-options.js';
import { MysqlSockets } from './mysql-sockets.js';

export const MYSQL_CONNECTION: ConnectionRules = {
  placeOf(options) {
    const {
      host = 'localhost',
      port = 3306,
      user = '',
      database,
      socketPath,
    } = connectionOptions(options as MysqlOptions);
    return `"${database}" on ${socketPath ?? `${host}:${port}`} as user "${user}"`;
  },

  placeProblem(options) {
    const { url, host, socketPath, replication } = options as MysqlOptions;
    const wrongUrl = (seen: unknown, isUnset: boolean): PlaceProblem => ({
      problem: expected(false, 'connection.url to be the URL of a database', seen)!,
      isUnset,
    });
    if (url !== undefined && typeof url !== 'string') return wrongUrl(typeof url, false);
    if ('url' in options && !url && ![host, socketPath, replication].some(Boolean)) return wrongUrl(url, true);
    const { database, uri } = connectionOptions(options as MysqlOptions);
    if (database ?? uri) return undefined;
    return { problem: 'expected connection to name a database on the server, got none', isUnset: false };
  },

  unsharedBecause: () => undefined,

  socketsOf(dataSource: DataSource) {
    const { pool } = dataSource.driver as { pool?: Pool };
    return pool && new MysqlSockets(pool);
  },
};
