import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { GROUPED_QUEUE, LIMITED_QUEUE, MAX_RUNNING } from './torture-job.js';

const INTERVAL_MS = 10;

const ACTIVE = `
  SELECT (SELECT COUNT(*) FROM sql_queue_jobs WHERE queue = '${LIMITED_QUEUE}' AND state = 'active') AS ofQueue,
         (SELECT MAX(jobs)
          FROM (
            SELECT COUNT(*) AS jobs
            FROM sql_queue_jobs
            WHERE queue = '${GROUPED_QUEUE}' AND state = 'active'
            GROUP BY group_key
          ) AS active_groups) AS ofGroup`;

/**
 * Counts the active jobs of the limited queue, and of each group, again and again. `end` returns violations if there were
 * ever too many.
 */
export function watchLimits(connect: () => Promise<Connection>): { end(): Promise<string[]> } {
  const over = new AbortController();
  const most = { ofQueue: 0, ofGroup: 0 };
  const watching = watch();

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      // The server may be down.
      await countWhileConnected().catch(() => undefined);
      await sleep(INTERVAL_MS);
    }
  }

  async function countWhileConnected(): Promise<void> {
    const connection = await connect();
    try {
      while (!over.signal.aborted) {
        const [[row]] = await connection.query<RowDataPacket[]>(ACTIVE);
        most.ofQueue = Math.max(most.ofQueue, Number(row!['ofQueue']));
        most.ofGroup = Math.max(most.ofGroup, Number(row!['ofGroup']));
        await sleep(INTERVAL_MS);
      }
    } finally {
      connection.destroy();
    }
  }

  return {
    end: async () => {
      over.abort();
      await watching;
      return [
        ...exceeding(`queue "${LIMITED_QUEUE}"`, most.ofQueue, MAX_RUNNING),
        ...exceeding(`a group of queue "${GROUPED_QUEUE}"`, most.ofGroup, 1),
      ];
    },
  };
}

function exceeding(where: string, jobs: number, limit: number): string[] {
  return jobs <= limit ? [] : [`${jobs} active jobs of ${where}, expected at most ${limit}`];
}
