import { openRows } from './ours-rows.mjs';

// A transaction of this size is quick and fits every server's log.
const CHUNK = 100_000;

const SEQUENCE = 'WITH RECURSIVE sequence (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM sequence WHERE n < ? - 1)';

// A plain INSERT is a documented way to enqueue.
const WAITING = (payload) => `
  INSERT INTO sql_queue_jobs (queue, payload)
  ${SEQUENCE}
  SELECT ?, ${payload} FROM sequence`;

// Negative ids, so that no job of the run has the same id.
const FINISHED = (payload) => `
  INSERT INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, created_at, started_at,
    finished_at, expires_at, payload)
  ${SEQUENCE}
  SELECT -1 - (n + ?), ?, 'default', 'completed', 0, 1, 5, ?, ?, ?, ?, ${payload} FROM sequence`;

/** Fills the library's tables with the rows that it would write, but faster. */
export function prefillOurs(url, queue) {
  const type = new URL(url).protocol.slice(0, -1);
  const concat = (parts) => (type === 'sqlite' ? `(${parts.join(' || ')})` : `CONCAT(${parts.join(', ')})`);
  return {
    waiting: ({ from, count, payload }) =>
      chunks(url, type, count, (first, rows) => {
        const [head, tail] = JSON.stringify(payload).split(':-1,');
        return [WAITING(concat(['?', '(n + ?)', '?'])), [rows, queue, `${head}:`, from + first, `,${tail}`]];
      }),
    finished: ({ count, payload }) =>
      chunks(url, type, count, (first, rows) => {
        const at = Date.now();
        const text = JSON.stringify(payload);
        return [FINISHED('?'), [rows, first, queue, at, at, at, at + 86_400_000, text]];
      }),
  };
}

async function chunks(url, type, count, statement) {
  const database = await openRows(url);
  if (type !== 'sqlite') {
    const limit = type === 'mysql' ? 'cte_max_recursion_depth' : 'max_recursive_iterations';
    await database.run(`SET SESSION ${limit} = ${CHUNK}`);
  }
  for (let first = 0; first < count; first += CHUNK) {
    await database.run(...statement(first, Math.min(CHUNK, count - first)));
  }
  await database.close();
}
