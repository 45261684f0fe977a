import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { LIMITED_QUEUE, MAX_RUNNING } from './torture-job.js';

const INTERVAL_MS = 10;

/** Counts the active jobs of the limited queue again and again. `end` returns a violation if there were ever too many. */
export function watchLimit(connect: () => Promise<Connection>): { end(): Promise<string[]> } {
  const over = new AbortController();
  let most = 0;
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
        most = Math.max(most, await countActive(connection));
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
      return most <= MAX_RUNNING
        ? []
        : [`${most} active jobs of queue "${LIMITED_QUEUE}", expected at most ${MAX_RUNNING}`];
    },
  };
}

async function countActive(connection: Connection): Promise<number> {
  const [[row]] = await connection.query<RowDataPacket[]>(
    `SELECT COUNT(*) AS jobs FROM sql_queue_jobs WHERE queue = '${LIMITED_QUEUE}' AND state = 'active'`,
  );
  return Number(row!['jobs']);
}
