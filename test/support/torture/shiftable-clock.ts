import type { Connection } from 'mysql2/promise';

const TABLE = 'torture_clock';
const FILE = 'lib/store/databases/mysql/mysql.ts';
const CLOCK = 'now: NOW.mysql,';
const LOCK_ERRORS = ['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'];

/** Programs with this environment read the time of the database from a table of the test. */
export const SHIFTABLE_CLOCK = { SQL_QUEUE_CLOCK_TABLE: TABLE };

/** Returns the source to compile: with `SHIFTABLE_CLOCK`, all statements of all processes see a jump at once. */
export function shiftableClock(file: string, text: string): string {
  if (file !== FILE) return text;
  if (!text.includes(CLOCK)) throw new Error(`${file}: expected to find ${CLOCK}`);
  const shifted = '`((${NOW.mysql}) + (SELECT ms FROM ${process.env.SQL_QUEUE_CLOCK_TABLE}))`';
  return text.replace(CLOCK, `now: process.env.SQL_QUEUE_CLOCK_TABLE ? ${shifted} : NOW.mysql,`);
}

export async function addClock(admin: Connection): Promise<void> {
  await admin.query(`CREATE TABLE ${TABLE} (id INT PRIMARY KEY, ms BIGINT NOT NULL)`);
  await admin.query(`INSERT INTO ${TABLE} VALUES (1, 0)`);
}

/** Lets the clock of the database jump to this distance from the true time. */
export async function shiftDatabaseClock(admin: Connection, byMs: number): Promise<void> {
  for (;;) {
    try {
      await admin.query(`UPDATE ${TABLE} SET ms = ?`, [byMs]);
      return;
    } catch (error) {
      // Statements that write lock the row of the clock, which they read.
      if (!LOCK_ERRORS.includes((error as { code: string }).code)) throw error;
    }
  }
}
