import { MikroORM as OnSqlite } from '@mikro-orm/better-sqlite';
import { EntitySchema } from '@mikro-orm/core';
import { MikroORM as OnMariaDb } from '@mikro-orm/mariadb';
import { MikroORM as OnMySql, type SqlEntityManager } from '@mikro-orm/mysql';
import { signUp } from '../build/mikro-orm.js';
import type { Connect } from './world.js';

const User = new EntitySchema<{ email: string }>({
  ...{ name: 'User', tableName: 'user' },
  properties: { email: { type: 'string', primary: true } },
});

export const connect: Connect = async ({ type, place, producer }) => {
  const options = { entities: [User] };
  const orm =
    type === 'better-sqlite3'
      ? await OnSqlite.init({ ...options, dbName: place })
      : type === 'mariadb'
        ? await OnMariaDb.init({ ...options, clientUrl: place })
        : await OnMySql.init({ ...options, clientUrl: place });
  const em = orm.em.fork() as SqlEntityManager;
  return { signUp: (email) => signUp(em, producer, email), close: () => orm.close() };
};
