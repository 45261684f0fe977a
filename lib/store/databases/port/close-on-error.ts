import type { SqlDatabase } from '../../core/sql-database.js';

/** Closes the database if `act` rejects. */
export async function closeOnError<T>(database: Pick<SqlDatabase, 'close'>, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await database.close();
    throw error;
  }
}
