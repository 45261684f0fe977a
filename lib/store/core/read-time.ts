/**
 * The time of the database. A claim sends it after the statement that locks a row: the time of that statement is from before
 * its wait, and the transaction that had the lock may have written a later one.
 */
export const READ_TIME = 'SELECT :now AS at';
