import Database from 'better-sqlite3';
import { drizzle as onSqlite } from 'drizzle-orm/better-sqlite3';
import { drizzle } from 'drizzle-orm/mysql2';
import mysql from 'mysql2/promise';
import { signUp } from '../build/drizzle.js';
import { signUp as signUpOnSqlite } from '../build/drizzle-sqlite.js';
import type { Connect } from './world.js';

export const connect: Connect = async ({ type, place, producer }) => {
  if (type === 'better-sqlite3') {
    const client = new Database(place);
    const db = onSqlite({ client });
    return { signUp: (email) => signUpOnSqlite(db, producer, email), close: async () => client.close() };
  }
  const client = mysql.createPool(place);
  const db = drizzle({ client: client as never });
  return { signUp: (email) => signUp(db, producer, email), close: () => client.end() };
};
