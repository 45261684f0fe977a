import { query, type Work } from '../sql/statement.js';

// The least name above a constant is one entry of the index, whatever the statistics say.
const nextIn = (table: string, index: string) => `
  SELECT MIN(queue) AS queue
  FROM ${table} FORCE INDEX (${table}_${index})
  WHERE queue > :last`;

// Skips from name to name where the statistics are good, and reads the whole index where they are not: MariaDB keeps those of a
// table that was empty when it was opened.
const allIn = (table: string, index: string) => `
  SELECT DISTINCT queue
  FROM ${table} FORCE INDEX (${table}_${index})`;

const NEXT = { jobs: nextIn('{jobs}', 'claim'), history: nextIn('{history}', 'state') } as const;
const ALL = { jobs: allIn('{jobs}', 'claim'), history: allIn('{history}', 'state') } as const;

// With more of them a round trip for each costs more than even the whole index.
const MOST_ONE_BY_ONE = 30;

/** The queues that the table has jobs of. */
export function* queueNames(table: keyof typeof NEXT): Work<string[]> {
  const names: string[] = [];
  while (names.length < MOST_ONE_BY_ONE) {
    const [next] = yield* query<{ queue: string | null }>(NEXT[table], { last: names.at(-1) ?? '' });
    if (next!.queue === null) return names;
    names.push(next!.queue);
  }
  return (yield* query<{ queue: string }>(ALL[table])).map(({ queue }) => queue);
}
