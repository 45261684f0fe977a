import { MissingPrivilegeError } from '../../job/errors.js';
import type { DriverError } from './classify-error.js';

// No privilege on a table, a column, a database or a routine, or no administrator's privilege.
const DENIED = new Set([1142, 1143, 1044, 1370, 1227]);

/** The error. If the account lacks a privilege, a MissingPrivilegeError that explains the solution. */
export function explainMissingPrivilege(error: unknown): unknown {
  const { errno, driverError, message } = (error ?? {}) as DriverError & { readonly driverError?: DriverError };
  const number = errno ?? driverError?.errno;
  if (number === undefined || !DENIED.has(number)) return error;
  return new MissingPrivilegeError(message ?? '', { cause: error });
}

export async function withMissingPrivilegeExplained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw explainMissingPrivilege(error);
  }
}
