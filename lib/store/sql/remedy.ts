import { hasCode } from '../../job/errors.js';

/** What can be done about an error of the database. */
export type Remedy =
  /** The whole transaction was, or has to be, rolled back, and can be done again. */
  | 'again'
  /** The connection is gone or of no use; on another one it can be done again. */
  | 'reconnect'
  /** Trying again changes nothing. */
  | 'none';

// 1213 deadlock, 1205 lock wait timeout, 1020 record has changed, 3101 and 1180 certification, 9007 and 8028 TiDB; 1021, 1026
// and 1114 a full disk, which somebody will clear: no reason to fail a job for it.
const AGAIN = new Set([1213, 1205, 1020, 3101, 1180, 9007, 8028, 1021, 1026, 1114]);
const SQLITE_AGAIN = /^SQLITE_(BUSY|LOCKED|FULL)/;
// Refused or ended connections, and servers that became read-only in a failover (1290, 1792, 1836).
const RECONNECT = new Set([2006, 2013, 1053, 1927, 1040, 1047, 1290, 1792, 1836, 1158, 1159, 1160, 1161, 4031]);
const RECONNECT_CODES = new Set([
  ...['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
]);

/** Whether somebody else has had a row locked for too long. */
export function isLockWait(error: unknown): boolean {
  return (error as { errno?: number } | null)?.errno === 1205;
}

/** Whether the connection was known to be closed, so that nothing was sent. */
export function isUnsent(error: unknown): boolean {
  return /new command .* closed state/.test((error as DriverError | null)?.message ?? '');
}

interface DriverError {
  errno?: number;
  code?: string;
  fatal?: boolean;
  sqlState?: string;
  message?: string;
}

export function remedyFor(error: unknown): Remedy {
  // What has been translated for the caller is settled; its message may quote what matches below.
  if (hasCode(error, 'STORE_UNAVAILABLE')) return 'none';
  const { errno, code, fatal, sqlState, message } = (error ?? {}) as DriverError;
  if (code !== undefined && SQLITE_AGAIN.test(code)) return 'again';
  if ((errno !== undefined && AGAIN.has(errno)) || sqlState === '40001') return 'again';
  if (errno !== undefined && RECONNECT.has(errno)) return 'reconnect';
  if (code !== undefined && RECONNECT_CODES.has(code)) return 'reconnect';
  // mysql2 says no more than this of a connection that has been closed.
  if (fatal && errno === undefined) return 'reconnect';
  return /closed state|Connection lost/i.test(message ?? '') ? 'reconnect' : 'none';
}
