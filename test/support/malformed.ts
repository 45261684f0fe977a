import type { World } from './engines.js';

export interface Column {
  readonly name: string;
  readonly kind: keyof typeof BAD_VALUES;
}

/** Values, as SQL, that no program of this library writes into a column of that kind. */
export const BAD_VALUES = {
  number: ['-9223372036854775808', '-2147483648', '-5', '2147483647', '9007199254740993', '9223372036854775807', `'x'`],
  text: [`''`, `' '`, `'x y; --'`, `'q '`, `'null'`, `'5'`, `'[1'`, `'{"backoff":null}'`, `'["a"]'`, `x'00ff'`, 'NULL'],
} as const;

/** The columns of a table, as the server describes them. */
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
 * Columns in which a bad value does no harm, so that the job goes on, and why.
 *
 * @param standing how the job is kept
 */
export function isHarmless(column: string, value: string, standing: string): boolean {
  const number = Number(value);
  switch (column) {
    // The job is dead under another id, or, below 1, runs.
    case 'id':
    // A job of a queue that no worker has waits, as it would in any other.
    case 'queue':
    // The last failure of a job decides nothing but what is shown of it.
    case 'error':
    // The time at which a job became due decides nothing: statistics use it.
    case 'due_at':
      return true;
    // These are names.
    case 'name':
      return [`'null'`, `'5'`].includes(value);
    // In the past: it is due.
    case 'run_at':
      return number < 8.64e15;
    // Promotion and rescue decide by the other columns, and set this one.
    case 'state':
      return standing !== 'waiting';
    // Of a claimed job nothing reads it; the claim writes it anew when the job waits.
    case 'runnable':
      return standing === 'claimed' || standing === 'unlisted';
    // The claim of a job that waits overwrites it.
    case 'claim_id':
      return standing === 'waiting';
    // NULL is the queue's number, as 0 is.
    case 'max_attempts':
      return number === 2147483647;
    // Before 1970, which is a date.
    case 'created_at':
    case 'priority':
      return number === -5 || (column === 'created_at' && Math.abs(number) <= 8.64e15);
    // The run that was counted last is the first of all.
    case 'attempt':
    // No text for no options and no headers.
    case 'options':
    case 'headers':
      return value === 'NULL' || value === `'null'`;
    case 'payload':
      return [`'null'`, `'5'`, `'{"backoff":null}'`, `'["a"]'`].includes(value);
    default:
      return false;
  }
}

/** A row of each other table, as this library would write it; `id` is new for each row, and below those of all claims. */
export const ROWS: Readonly<Record<string, (id: number, now: number) => Readonly<Record<string, string | number>>>> = {
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
    ...{ queue: `'subscriber-${id}'`, topic: `'topic.x'`, headers: `'{"a":"b"}'`, created_at: now },
  }),
  workers: (id, now) => ({
    ...{ id: `'worker-${id}'`, host: `'h'`, pid: 1, queues: `'["q"]'`, started_at: now, seen_at: now - 90_000_000 },
  }),
  producers: (id, now) => ({ id, number: 1, first_id: 1, id_step: 1, seen_at: now - 90_000_000 }),
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
    ...{ queue: `'q'`, key_hash: `'hash-${id}'`, job_id: id, held_until: `'finished'`, expires_at: 'NULL' },
    kept_until: now - 1,
  }),
};
