import { UnsupportedDatabaseError } from '../../../job/errors.js';
import type { Dialect, SqlDatabase } from '../../core/sql-database.js';
import { query } from '../../core/statement.js';
import { mariadb, mysql } from './mysql.js';
import type { MysqlPool } from './mysql-pool.js';

const SERVER = `SELECT @@version AS version, @@max_allowed_packet AS packet, @@innodb_page_size AS page`;

// SHOW omits the variables that the server does not have.
const showVariables = (names: readonly string[]) => `
  SHOW GLOBAL VARIABLES
  WHERE Variable_name IN ('${names.join("', '")}')`;

// Statements sent as one text have up to a million characters of up to four bytes. One statement can also contain a
// payload and a result, and escaping can double each.
const MIN_PACKET_BYTES = 4_000_000;

// MySQL limits the keys of an index to 768 bytes on pages of 4 KB, and 255 characters take up to 1,020. MariaDB accepts
// such indexes, and has stored rows with the longest values on these pages.
const MIN_PAGE_BYTES = 8_192;

export function versionProblem(version: string): string | undefined {
  const [, major, minor, patch] = (/(\d+)\.(\d+)\.(\d+)/.exec(version.replace(/^5\.5\.5-/, '')) ?? []).map(Number);
  const number = major! * 1e6 + minor! * 1e3 + patch!;
  if (number >= (isMariadb(version) ? 10_006_000 : 8_000_013)) return undefined;
  const needed = isMariadb(version) ? 'MariaDB 10.6 or newer' : 'MySQL 8.0.13 or newer';
  return `expected ${needed} (for SKIP LOCKED and defaults that are expressions), got ${version}. Upgrade the server`;
}

function isMariadb(version: string): boolean {
  return /mariadb/i.test(version);
}

/** The settings of a server without which the queue cannot work. */
export interface ServerSettings {
  readonly dialect: Dialect;
  readonly version: string;
  readonly packetBytes: number;
  readonly pageBytes: number;
  /** Undefined: no binary log. */
  readonly binlogFormat: string | undefined;
}

interface ServerRow {
  readonly version: string;
  readonly packet: number;
  readonly page: number;
}

export async function readServer(database: Pick<SqlDatabase, 'runIdempotent'>): Promise<ServerSettings> {
  const [server] = await database.runIdempotent(() => query<ServerRow>(SERVER));
  const { version, packet, page } = server!;
  const setting = await readVariables(database, ['log_bin', 'binlog_format']);
  const binlogFormat = setting.log_bin === 'ON' ? setting.binlog_format : undefined;
  const dialect = isMariadb(version) ? mariadb : mysql;
  return { dialect, version, packetBytes: packet, pageBytes: Number(page), binlogFormat };
}

/** Expectation, value and way out of each setting with which the queue cannot work. */
export function serverProblems(
  { dialect, version, packetBytes, pageBytes, binlogFormat }: ServerSettings,
  largestPayloadBytes: number,
): string[] {
  const packetNeeded = Math.max(MIN_PACKET_BYTES, 4 * largestPayloadBytes + 65_536);
  return [
    versionProblem(version),
    binlogFormat === 'STATEMENT'
      ? `expected binlog_format ROW or MIXED, got STATEMENT: it forbids READ COMMITTED. Set binlog_format = ROW on the server`
      : undefined,
    packetBytes < packetNeeded
      ? `expected max_allowed_packet of at least ${packetNeeded} bytes for payloads of ${largestPayloadBytes}, got ` +
        `${packetBytes}. Raise it on the server` +
        (packetBytes < MIN_PACKET_BYTES ? '' : ', or lower the option `maxPayloadBytes`')
      : undefined,
    dialect.name === 'mysql' && pageBytes < MIN_PAGE_BYTES
      ? `expected innodb_page_size of at least ${MIN_PAGE_BYTES}, got ${pageBytes}: the indexes of the queue do not fit. ` +
        `Use a server whose data directory was initialized with larger pages`
      : undefined,
  ].filter((line) => line !== undefined);
}

/** Throws UnsupportedDatabaseError, with the changes to make, if the server cannot run the queue. */
export async function checkServer(pool: MysqlPool, largestPayloadBytes: number): Promise<Dialect> {
  const server = await readServer(pool);
  const problems = serverProblems(server, largestPayloadBytes);
  if (problems.length > 0)
    throw new UnsupportedDatabaseError(`The queue cannot work on this server: ${problems.join('; ')}.`);
  return server.dialect;
}

/** The global variables with these names that the server has. */
export async function readVariables(
  database: Pick<SqlDatabase, 'runIdempotent'>,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const rows = await database.runIdempotent(() =>
    query<{ Variable_name: string; Value: string }>(showVariables(names)),
  );
  return Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
}
