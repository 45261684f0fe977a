import { query, type Work } from '../core/statement.js';

// The smallest name above a constant is always one index entry, even with bad statistics.
const nextIn = (table: string, index: string) => `
  SELECT MIN(queue) AS queue
  FROM ${table} FORCE INDEX (${table}_${index})
  WHERE queue > :last`;

// Skips from name to name if the statistics are good, and otherwise reads the whole index: MariaDB keeps the statistics
// of a table that was empty when it was opened.
const allIn = (table: string, index: string) => `
  SELECT DISTINCT queue
  FROM ${table} FORCE INDEX (${table}_${index})`;

const NEXT = { jobs: nextIn('{jobs}', 'queue'), history: nextIn('{history}', 'state') } as const;
const ALL = { jobs: allIn('{jobs}', 'queue'), history: allIn('{history}', 'state') } as const;

// With more queues, a round trip per queue costs more than reading the whole index.
const MAX_SINGLE_READS = 30;

export function* queueNames(table: keyof typeof NEXT): Work<string[]> {
  const names: string[] = [];
  while (names.length < MAX_SINGLE_READS) {
    const [next] = yield* query<{ queue: string | null }>(NEXT[table], { last: names.at(-1) ?? '' });
    if (next!.queue === null) return names;
    names.push(next!.queue);
  }
  return (yield* query<{ queue: string }>(ALL[table])).map(({ queue }) => queue);
}
