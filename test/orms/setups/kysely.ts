import Database from 'better-sqlite3';
import { Kysely, MysqlDialect, SqliteDialect } from 'kysely';
import { createPool } from 'mysql2';
import { signUp } from '../build/kysely.js';
import type { Connect } from './world.js';

export const connect: Connect = async ({ type, place, producer }) => {
  const dialect =
    type === 'better-sqlite3'
      ? new SqliteDialect({ database: new Database(place) })
      : new MysqlDialect({ pool: createPool(place) });
  const db = new Kysely<{ user: { email: string } }>({ dialect });
  return { signUp: (email) => signUp(db, producer, email), close: () => db.destroy() };
};
