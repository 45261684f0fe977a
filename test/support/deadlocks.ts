import type { World } from './engines.js';

type Connection = Pick<World, 'server' | 'sql'>;

/**
 * Expects at most this number of deadlocks since the start of the server, in all its databases. So the test needs a
 * server of its own.
 */
export async function expectDeadlocksAtMost(world: Connection, most: number): Promise<void> {
  const count = await countDeadlocks(world);
  // If there are more, the latest deadlock report of the server is the only clue to the cause.
  expect({ count, last: count > most && (await readLatestDeadlock(world)) }).toEqual({ count, last: false });
}

async function countDeadlocks({ server, sql }: Connection): Promise<number> {
  const [row] =
    server.name === 'mysql'
      ? await sql<{ count: number }>(`
          SELECT SUM_ERROR_RAISED AS count
          FROM performance_schema.events_errors_summary_global_by_error
          WHERE ERROR_NAME = 'ER_LOCK_DEADLOCK'`)
      : await sql<{ count: number }>(`
          SELECT VARIABLE_VALUE AS count
          FROM information_schema.GLOBAL_STATUS
          WHERE VARIABLE_NAME = 'INNODB_DEADLOCKS'`);
  return Number(row!.count);
}

/** The report of the server on its last deadlock. Empty if there was none since its start. */
async function readLatestDeadlock({ sql }: Pick<World, 'sql'>): Promise<string> {
  const [row] = await sql<{ Status: string }>('SHOW ENGINE INNODB STATUS');
  return /LATEST DETECTED DEADLOCK\n-+\n(.*?)\n-+\nTRANSACTIONS\n/s.exec(row!.Status)?.[1] ?? '';
}
