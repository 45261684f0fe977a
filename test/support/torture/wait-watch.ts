import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { GROUPED_QUEUE, LIMITED_QUEUE, MAX_RUNNING } from './torture-job.js';

const INTERVAL_MS = 2_000;
// Locked rows let a few jobs pass.
const MOST_PASSED = 20;

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

// The jobs that have the places of a group or of the limited queue. A job that has run keeps the place of its group until its
// next attempt, also while it waits for a signal, which takes back the number of its first attempt.
const HOLDERS = `
  SELECT j.queue, j.group_key, COUNT(*) AS jobs, GROUP_CONCAT(j.id ORDER BY j.id) AS ids
  FROM sql_queue_jobs j
  LEFT JOIN sql_queue_groups g ON g.queue = j.queue AND g.group_key = j.group_key
  WHERE (j.queue = '${LIMITED_QUEUE}' AND j.state = 'active')
     OR (j.queue = '${GROUPED_QUEUE}' AND j.state = 'active')
     OR (j.queue = '${GROUPED_QUEUE}' AND j.state = 'scheduled'
         AND (j.attempt > 0 OR JSON_CONTAINS(g.active_ids, CAST(j.id AS CHAR))))
  GROUP BY j.queue, j.group_key`;

interface Wait {
  /** The beginning of the time in which no other job had its place. */
  since: number;
  holders: string | undefined;
  /** How often another job took the place. */
  passed: number;
}

/**
 * Looks again and again for jobs that could run: the first one of each group that waits, because the others wait for it, and
 * those whose needs have ended. `end` returns those that waited for longer than `maxMs` for nothing, and those that others
 * passed again and again.
 */
export function watchWaits(connect: () => Promise<Connection>, maxMs: number): { end(): Promise<string[]> } {
  const over = new AbortController();
  const found = new Map<string, string>();
  let waits = new Map<string, Wait>();
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
      const [jobs] = await connection.query<RowDataPacket[]>(CAN_RUN);
      const [holders] = await connection.query<RowDataPacket[]>(HOLDERS);
      const full = holders.filter(({ queue, jobs: count }) => queue !== LIMITED_QUEUE || Number(count) >= MAX_RUNNING);
      const holdersOf = new Map(full.map((row) => [placeOf(row), String(row['ids'])]));
      const now = performance.now();
      const next = new Map<string, Wait>();
      for (const row of firstOfEach(jobs)) {
        const { id, queue, attempt, state } = row;
        const key = `job ${id} of queue "${queue}" in attempt ${attempt} was ${state}`;
        next.set(key, waitAfter(waits.get(key), holdersOf.get(placeOf(row)), now));
      }
      waits = next;
      for (const [key, { since, passed }] of waits) {
        if (now - since > maxMs) found.set(key, `${key} for more than ${maxMs / 1_000} s`);
        if (passed > MOST_PASSED) found.set(key, `${key} while others passed it ${passed} times`);
      }
    } finally {
      connection.destroy();
    }
  }

  return {
    end: async () => {
      over.abort();
      await watching;
      return [...found.values()];
    },
  };
}

function waitAfter(before: Wait | undefined, holders: string | undefined, now: number): Wait {
  if (!before) return { since: now, holders, passed: 0 };
  if (holders === undefined) return { ...before, holders };
  const isPassed = holders !== before.holders;
  return { since: now, holders, passed: before.passed + (isPassed ? 1 : 0) };
}

function firstOfEach(jobs: readonly RowDataPacket[]): RowDataPacket[] {
  const places = new Set<string>();
  return jobs.filter((row) => row['state'] === 'blocked' || (!places.has(placeOf(row)) && places.add(placeOf(row))));
}

function placeOf({ queue, group_key }: RowDataPacket): string {
  return JSON.stringify([queue, group_key]);
}
