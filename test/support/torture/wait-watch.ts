import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';

const INTERVAL_MS = 2_000;

// A job that waits for others can run as soon as these have ended. A sweep finds it within two minutes.
const CAN_RUN = `
  SELECT id, queue, group_key, attempt, TRIM(state) AS state
  FROM sql_queue_jobs
  WHERE state = 'waiting'
     OR (state = 'blocked' AND NOT EXISTS (
          SELECT 1
          FROM sql_queue_edges e
          JOIN sql_queue_jobs needed ON needed.id = e.needs
          WHERE e.job_id = sql_queue_jobs.id
        ))
  ORDER BY priority, id`;

/**
 * Looks again and again for jobs that could run: the first one of each group that waits, because the others wait for it, and
 * those whose needs have ended. `end` returns those that waited for longer than `maxMs` at a time.
 */
export function watchWaits(connect: () => Promise<Connection>, maxMs: number): { end(): Promise<string[]> } {
  const over = new AbortController();
  const found = new Set<string>();
  let since = new Map<string, number>();
  const watching = watch();

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      // The server may be down.
      await readOnce().catch(() => undefined);
      await sleep(INTERVAL_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }

  async function readOnce(): Promise<void> {
    const connection = await connect();
    try {
      const [rows] = await connection.query<RowDataPacket[]>(CAN_RUN);
      const now = performance.now();
      const places = new Set<string>();
      const next = rows.filter(({ queue, group_key, state }) => {
        const place = JSON.stringify([queue, group_key]);
        return state === 'blocked' || (!places.has(place) && places.add(place));
      });
      const keys = next.map(
        ({ id, queue, attempt, state }) => `job ${id} of queue "${queue}" in attempt ${attempt} was ${state}`,
      );
      since = new Map(keys.map((key) => [key, since.get(key) ?? now]));
      for (const [key, at] of since) if (now - at > maxMs) found.add(key);
    } finally {
      connection.destroy();
    }
  }

  return {
    end: async () => {
      over.abort();
      await watching;
      return [...found].map((key) => `${key} for more than ${maxMs / 1_000} s`);
    },
  };
}
