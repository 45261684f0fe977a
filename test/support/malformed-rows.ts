import type { World } from './engines.js';

export interface Column {
  readonly name: string;
  readonly kind: keyof typeof MALFORMED_VALUES;
}

/** Values, as SQL, that this library never writes into a column of that kind. */
export const MALFORMED_VALUES = {
  number: ['-9223372036854775808', '-2147483648', '-5', '2147483647', '9007199254740993', '9223372036854775807', `'x'`],
  text: [`''`, `' '`, `'x y; --'`, `'q '`, `'null'`, `'5'`, `'[1'`, `'{"backoff":null}'`, `'["a"]'`, `x'00ff'`, 'NULL'],
} as const;

/** The columns of a table according to the server. */
export async function columnsOf(world: Pick<World, 'sql' | 'server'>, table: string): Promise<Column[]> {
  if (world.server.name === 'sqlite') {
    const rows = await world.sql<{ name: string; type: string }>(
      `SELECT name, type FROM pragma_table_info('${table}')`,
    );
    return rows.map(({ name, type }) => ({ name, kind: /INT/.test(type) ? 'number' : 'text' }));
  }
  const rows = await world.sql<{ name: string; type: string }>(
    `SELECT COLUMN_NAME AS name, DATA_TYPE AS type FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}' ORDER BY ORDINAL_POSITION`,
  );
  return rows.map(({ name, type }) => ({ name, kind: /int/.test(type) ? 'number' : 'text' }));
}

/**
 * Whether a malformed value in the column is harmless, so that the job runs.
 *
 * @param standing the storage form of the job
 */
export function isHarmless(column: string, value: string, standing: string): boolean {
  const number = Number(value);
  switch (column) {
    // The job is dead under another id, or runs if the id is below 1.
    case 'id':
    // A job of a queue without a worker waits.
    case 'queue':
    // The last error of a job is only displayed.
    case 'error':
    // Every text is a group, and every worker runs the jobs of groups.
    case 'group_key':
    // Only statistics use the time at which a job became due.
    case 'due_at':
      return true;
    // Valid names.
    case 'name':
      return [`'null'`, `'5'`].includes(value);
    // In the past, so the job is due.
    case 'run_at':
      return number < 8.64e15;
    // Promotion and rescue use the other columns, and set this one.
    case 'state':
      return standing !== 'waiting';
    // A claimed job is selected by its claim, which rewrites this column when the job returns to waiting.
    case 'runnable':
      return standing === 'claimed' || standing === 'unlisted';
    // The claim of a waiting job overwrites it.
    case 'claim_id':
      return standing === 'waiting';
    // NULL means the number of the queue, like 0.
    case 'max_attempts':
      return number === 2147483647;
    // Before 1970, which is a valid date.
    case 'created_at':
    case 'priority':
      return number === -5 || (column === 'created_at' && Math.abs(number) <= 8.64e15);
    // The next run is counted as the first.
    case 'attempt':
    // NULL means no options and no headers.
    case 'options':
    case 'headers':
      return value === 'NULL' || value === `'null'`;
    case 'payload':
      return [`'null'`, `'5'`, `'{"backoff":null}'`, `'["a"]'`].includes(value);
    default:
      return false;
  }
}

/** A valid row for each other table. `id` is new for each row, and below the ids of all claims. */
export const VALID_ROWS: Readonly<
  Record<string, (id: number, now: number) => Readonly<Record<string, string | number>>>
> = {
  history: (id, now) => ({
    ...{ id, queue: `'q'`, name: `'default'`, state: `'dead'`, priority: 0, attempt: 1, max_attempts: 3 },
    ...{ worker_id: `'w'`, created_at: now, started_at: now, finished_at: now, expires_at: now - 1, payload: `'1'` },
    ...{
      headers: `'{}'`,
      options: `'{"key":"k","keyUntil":"finished"}'`,
      result: `'1'`,
      error: 'NULL',
      due_at: 'NULL',
    },
    owner: 'NULL',
  }),
  queues: (id, now) => ({
    ...{ queue: `'queue-${id}'`, paused: 0, created_at: now, expires_after_ms: 1_000, used_at: now - 2_000 },
  }),
  subscriptions: (id, now) => ({
    ...{ queue: `'subscriber-${id}'`, topic: `'topic.x'`, header_filter: `'{"a":"b"}'`, created_at: now },
  }),
  workers: (id, now) => ({
    ...{ id: `'worker-${id}'`, host: `'h'`, pid: 1, queues: `'{"q":1}'`, started_at: now, seen_at: now - 90_000_000 },
  }),
  commit_log: (id, now) => ({ id, number: 1, first_id: 1, id_step: 1, seen_at: now - 90_000_000 }),
  stages: (id) => ({ job_id: id, queue: `'q'`, stage: `'review'`, priority: 0 }),
  waits: (id, now) => ({ waiter: id, job_id: id, expires_at: now - 1 }),
  progress: (id, now) => ({ job_id: id, value: `'1'`, lines_logged: 1, updated_at: now, expires_at: now - 1 }),
  logs: (id, now) => ({ job_id: id, number: 1, logged_at: now, line: `'x'` }),
  events: (id, now) => ({
    ...{ event: `'dead'`, queue: `'q'`, job_id: id, name: `'default'`, attempt: 1, ran_ms: 1, delay_ms: 1 },
    ...{ recorded_at: now, result: `'1'`, error: `'{"name":"E","message":"m"}'`, owner: 'NULL' },
  }),
  locks: (id, now) => ({ id, worker_id: `'w'`, locked_at: now }),
  keys: (id, now) => ({
    ...{ queue: `'q'`, key_hash: `'hash-${id}'`, job_id: id, key_until: `'finished'`, expires_at: 'NULL' },
    kept_until: now - 1,
  }),
};
