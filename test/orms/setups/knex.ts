import knex from 'knex';
import { signUp } from '../build/knex.js';
import type { Connect } from './world.js';

export const connect: Connect = async ({ type, place, producer }) => {
  const db =
    type === 'better-sqlite3'
      ? knex.default({ client: 'better-sqlite3', connection: { filename: place }, useNullAsDefault: true })
      : knex.default({ client: 'mysql2', connection: place });
  return { signUp: (email) => signUp(db, producer, email), close: () => db.destroy() };
};
