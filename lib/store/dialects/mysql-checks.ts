import { UnsupportedDatabaseError } from '../../job/errors.js';
import type { Unfit } from '../claims/choose-strategy.js';
import type { Dialect } from '../sql/dialect.js';
import { query, type Work } from '../sql/statement.js';
import { mariadb, mysql } from './mysql.js';
import type { MysqlPool } from './mysql-pool.js';

const SERVER = `SELECT @@version AS version, @@max_allowed_packet AS packet`;

// Servers differ in which of these they have; SHOW leaves out what they do not.
const BINLOG = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format')`;

// What travels together: a million characters of up to four bytes. A payload and a result travel in one statement too, and
// escaping can double each.
const LEAST_PACKET = 4_000_000;

const LOCK_QUEUE_IF_FREE = `SELECT queue FROM {queues} FORCE INDEX (PRIMARY) WHERE queue = :queue FOR UPDATE SKIP LOCKED`;

/** What keeps this library from working on a server of that version, or undefined. */
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

/** How the server is spoken to. Refuses one that cannot do what the queue stands on, and says what to change. */
export async function checkServer(pool: MysqlPool, largestPayloadBytes: number): Promise<Dialect> {
  const [server] = await pool.repeatable(() => query<{ version: string; packet: number }>(SERVER));
  const binlog = await pool.repeatable(() => query<{ Variable_name: string; Value: string }>(BINLOG));
  const setting = Object.fromEntries(binlog.map(({ Variable_name, Value }) => [Variable_name, Value]));
  const statementBased = setting.log_bin === 'ON' && setting.binlog_format === 'STATEMENT';
  const packetNeeded = Math.max(LEAST_PACKET, 4 * largestPayloadBytes + 65_536);
  const problems = [
    versionProblem(server!.version),
    statementBased
      ? `expected binlog_format ROW or MIXED, got STATEMENT: it forbids READ COMMITTED. Set binlog_format = ROW on the server`
      : undefined,
    server!.packet < packetNeeded
      ? `expected max_allowed_packet of at least ${packetNeeded} bytes for payloads of ${largestPayloadBytes}, got ` +
        `${server!.packet}. Raise it on the server` +
        (server!.packet < LEAST_PACKET ? '' : ', or lower the option `maxPayloadBytes`')
      : undefined,
  ].filter((line) => line !== undefined);
  if (problems.length > 0)
    throw new UnsupportedDatabaseError(`The queue cannot work on this server: ${problems.join('; ')}.`);
  return isMariadb(server!.version) ? mariadb : mysql;
}

// Neither is there on most servers; MariaDB has the first one anywhere.
const WRITERS = `
  SHOW GLOBAL VARIABLES
  WHERE Variable_name IN ('wsrep_on', 'group_replication_single_primary_mode')`;

const SEVERAL_WRITERS =
  'several nodes of this cluster can be written to, and each knows its own row locks alone, so that workers on other ' +
  `nodes would take living ones for dead; choose 'skip-locked', whose claims are rows that every node has`;
const NOT_SKIPPED = 'this server accepts SKIP LOCKED but hands out rows that another transaction has locked';

/**
 * Why strategies do not work on this server. Tries on two connections whether a row which one has locked is passed over by
 * the other: some engines parse SKIP LOCKED and do not lock; on those two workers would be handed the same job.
 */
export async function unfitStrategies(pool: MysqlPool, queue: string): Promise<Unfit> {
  const holder = await pool.borrow();
  try {
    await holder.send(() => begin());
    // Nothing where another worker tries the same just now: then it has been passed over, and nobody waits for anybody.
    const held = await holder.send(() => query(LOCK_QUEUE_IF_FREE, { queue }));
    if (held.length > 0 && (await isHandedOut(pool, queue))) return { 'skip-locked': NOT_SKIPPED, lock: NOT_SKIPPED };
  } finally {
    holder.drop();
  }
  return (await hasSeveralWriters(pool)) ? { lock: SEVERAL_WRITERS } : {};
}

async function hasSeveralWriters(pool: MysqlPool): Promise<boolean> {
  const variables = await pool.repeatable(() => query<{ Variable_name: string; Value: string }>(WRITERS));
  const setting = Object.fromEntries(variables.map(({ Variable_name, Value }) => [Variable_name, Value]));
  return setting.wsrep_on === 'ON' || setting.group_replication_single_primary_mode === 'OFF';
}

async function isHandedOut(pool: MysqlPool, queue: string): Promise<boolean> {
  const other = await pool.borrow();
  try {
    await other.send(() => begin());
    return (await other.send(() => query(LOCK_QUEUE_IF_FREE, { queue }))).length > 0;
  } finally {
    other.drop();
  }
}

function* begin(): Work<void> {
  yield* query('START TRANSACTION');
}
