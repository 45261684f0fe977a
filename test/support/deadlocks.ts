import type { World } from './engines.js';

/** The number of deadlocks that the server has broken since its start. */
export async function countDeadlocks({ server, sql }: Pick<World, 'server' | 'sql'>): Promise<number> {
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
export async function readLatestDeadlock({ sql }: Pick<World, 'sql'>): Promise<string> {
  const [row] = await sql<{ Status: string }>('SHOW ENGINE INNODB STATUS');
  return /LATEST DETECTED DEADLOCK\n-+\n(.*?)\n-+\nTRANSACTIONS\n/s.exec(row!.Status)?.[1] ?? '';
}
