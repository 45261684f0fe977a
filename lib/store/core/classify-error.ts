import { hasCode, MissingPrivilegeError, SchemaOutOfDateError } from '../../job/errors.js';

/** The right reaction to an error of the database. */
export type ErrorClass =
  /** The transaction was rolled back, or must be; it can be repeated. */
  | 'again'
  /** The connection is lost or unusable; the transaction can be repeated on another one. */
  | 'reconnect'
  /** A retry would fail again. */
  | 'none';

// 1213 deadlock, 1205 lock wait timeout, 1020 record has changed, 3101 and 1180 certification, 9007 and 8028 TiDB;
// 1021, 1026 and 1114 a full disk, which an operator will clear: no reason to fail a job.
const RETRYABLE = new Set([1213, 1205, 1020, 3101, 1180, 9007, 8028, 1021, 1026, 1114]);
const SQLITE_RETRYABLE = /^SQLITE_(BUSY|LOCKED|FULL)/;
// Refused or closed connections, and servers that became read-only in a failover (1290, 1792, 1836).
const RECONNECT = new Set([2006, 2013, 1053, 1927, 1040, 1047, 1290, 1792, 1836, 1158, 1159, 1160, 1161, 4031]);
/** Code of an error for a statement that was not sent, since the server may have closed the idle connection. */
export const IDLE_CONNECTION = 'IDLE_CONNECTION';
const RECONNECT_CODES = new Set([
  IDLE_CONNECTION,
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

// No privilege on a table, a column, a database or a routine, or no administrator's privilege.
const DENIED = new Set([1142, 1143, 1044, 1370, 1227]);

export function isLockWaitTimeout(error: unknown): boolean {
  return (error as { errno?: number } | null)?.errno === 1205;
}

/** Also the explanation of such an error. On SQLite the driver reports it by its message alone. */
export function isMissingTable(error: unknown): boolean {
  const { errno, message, cause } = (error ?? {}) as DriverError & { readonly cause?: unknown };
  if (hasCode(error, 'SCHEMA_OUT_OF_DATE')) return isMissingTable(cause);
  return errno === 1146 || (message?.startsWith('no such table') ?? false);
}

/** Whether a statement of a migration failed because an earlier run had added its column or index, or dropped it. */
export function isAppliedBefore(error: unknown): boolean {
  const { errno, message, driverError } = (error ?? {}) as DriverError & { readonly driverError?: DriverError };
  const number = errno ?? driverError?.errno;
  return number === 1060 || number === 1061 || number === 1091 || (message?.includes('duplicate column name') ?? false);
}

/** Whether nothing was sent, because the connection was known to be closed or had been idle for too long. */
export function isUnsent(error: unknown): boolean {
  return (
    hasCode(error, IDLE_CONNECTION) || /new command .* closed state/.test((error as DriverError | null)?.message ?? '')
  );
}

interface DriverError {
  errno?: number;
  code?: string;
  fatal?: boolean;
  sqlState?: string;
  message?: string;
}

export function classifyError(error: unknown): ErrorClass {
  // A translated error is final. Its message may quote a driver's message that matches below.
  if (hasCode(error, 'STORE_UNAVAILABLE')) return 'none';
  const { errno, code, fatal, sqlState, message } = (error ?? {}) as DriverError;
  if (code !== undefined && SQLITE_RETRYABLE.test(code)) return 'again';
  if ((errno !== undefined && RETRYABLE.has(errno)) || sqlState === '40001') return 'again';
  if (errno !== undefined && RECONNECT.has(errno)) return 'reconnect';
  if (code !== undefined && RECONNECT_CODES.has(code)) return 'reconnect';
  // mysql2 reports a closed connection without any code.
  if (fatal && errno === undefined) return 'reconnect';
  return /closed state|Connection lost/i.test(message ?? '') ? 'reconnect' : 'none';
}

/** The error, or one that explains the solution, if the account lacks a privilege or a table of the queue is missing. */
export function explainRejection(error: unknown): unknown {
  if (isMissingTable(error) && !hasCode(error, 'SCHEMA_OUT_OF_DATE')) return missingTableError(error as Error);
  const { errno, driverError, message } = (error ?? {}) as DriverError & { readonly driverError?: DriverError };
  const number = errno ?? driverError?.errno;
  if (number === undefined || !DENIED.has(number)) return error;
  return new MissingPrivilegeError(message ?? '', { cause: error });
}

function missingTableError(error: Error): SchemaOutOfDateError {
  return new SchemaOutOfDateError(
    `A table of the queue is missing: ${error.message}. Is this the database of the queue? \`npx nestjs-sql-queue migrate\` ` +
      `creates the tables, and so does \`schema: { migrate: 'run' }\`. If their names begin with another prefix, set ` +
      `\`prefix\`, or pass --prefix to the command. \`npx nestjs-sql-queue doctor\` names each missing table.`,
    { cause: error },
  );
}
