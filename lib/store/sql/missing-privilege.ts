import { MissingPrivilegeError } from '../../job/errors.js';

// A table, a column, a database, a routine, or what takes an administrator's privilege.
const DENIED = new Set([1142, 1143, 1044, 1370, 1227]);

/** The error, or one that has the way out if the account may not do what was asked of it. */
export function explained(error: unknown): unknown {
  const { errno, driverError, message } = (error ?? {}) as {
    errno?: number;
    driverError?: { errno?: number };
    message?: string;
  };
  const number = errno ?? driverError?.errno;
  if (number === undefined || !DENIED.has(number)) return error;
  return new MissingPrivilegeError(message ?? '', { cause: error });
}

/** Rejects with the explained error. */
export async function explaining<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw explained(error);
  }
}
