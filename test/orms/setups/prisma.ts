import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaClient } from '../build/generated/client.js';
import { PrismaClient as SqlitePrismaClient } from '../build/generated-sqlite/client.js';
import { signUp } from '../build/prisma.js';
import { partsOf, type Connect } from './world.js';

export const connect: Connect = async ({ type, place, producer }) => {
  const prisma =
    type === 'better-sqlite3'
      ? // Prisma generates a client of its own for each database. Both have the methods of the example.
        (new SqlitePrismaClient({
          adapter: new PrismaBetterSqlite3({ url: `file:${place}` }),
        }) as never as PrismaClient)
      : new PrismaClient({ adapter: new PrismaMariaDb(partsOf(place)) });
  return { signUp: (email) => signUp(prisma, producer, email), close: () => prisma.$disconnect() };
};
