import type { CodecContent } from '../../job/codec/payload-codec.js';
import type { Values } from '../core/statement.js';

// Characters of the old text that a write compares. A whole text could exceed the packet size of the server. An encrypted
// text differs in its first hundred characters, because it has a nonce.
export const COMPARED_LENGTH = 4_000;

const unchanged = (column: string) => `COALESCE(SUBSTR(${column}, 1, ${COMPARED_LENGTH}), '') = :${column}Start`;

const READ_JOBS = `
  SELECT id, claim_id, payload, error
  FROM {jobs}
  WHERE id > :id
  ORDER BY id
  LIMIT :limit`;

const WRITE_JOB = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET payload = :payload, error = :error
  WHERE id = :id AND claim_id = 0 AND ${unchanged('payload')} AND ${unchanged('error')}`;

const READ_HISTORY = `
  SELECT id, payload, result, error
  FROM {history}
  WHERE id > :id
  ORDER BY id
  LIMIT :limit`;

const WRITE_HISTORY = `
  UPDATE {history} /*! FORCE INDEX (PRIMARY) */
  SET payload = :payload, result = :result, error = :error
  WHERE id = :id AND ${unchanged('payload')} AND ${unchanged('result')} AND ${unchanged('error')}`;

const READ_PROGRESS = `
  SELECT job_id, value
  FROM {progress}
  WHERE job_id > :job_id
  ORDER BY job_id
  LIMIT :limit`;

const WRITE_PROGRESS = `
  UPDATE {progress} /*! FORCE INDEX (PRIMARY) */
  SET value = :value
  WHERE job_id = :job_id AND ${unchanged('value')}`;

const READ_LOGS = `
  SELECT job_id, number, line
  FROM {logs}
  WHERE job_id >= :job_id AND (job_id > :job_id OR number > :number)
  ORDER BY job_id, number
  LIMIT :limit`;

const WRITE_LINE = `
  UPDATE {logs} /*! FORCE INDEX (PRIMARY) */
  SET line = :line
  WHERE job_id = :job_id AND number = :number AND ${unchanged('line')}`;

const READ_STEPS = `
  SELECT job_id, name, result
  FROM {steps}
  WHERE job_id >= :job_id AND (job_id > :job_id OR name > :name)
  ORDER BY job_id, name
  LIMIT :limit`;

const WRITE_STEP = `
  UPDATE {steps} /*! FORCE INDEX (PRIMARY) */
  SET result = :result
  WHERE job_id = :job_id AND name = :name AND ${unchanged('result')}`;

const READ_SIGNALS = `
  SELECT hash, data
  FROM {signals}
  WHERE hash > :hash
  ORDER BY hash
  LIMIT :limit`;

const WRITE_SIGNAL = `
  UPDATE {signals} /*! FORCE INDEX (PRIMARY) */
  SET data = :data
  WHERE hash = :hash AND ${unchanged('data')}`;

const READ_EDGES = `
  SELECT job_id, needs, result, error
  FROM {edges}
  WHERE job_id >= :job_id AND (job_id > :job_id OR needs > :needs)
  ORDER BY job_id, needs
  LIMIT :limit`;

const WRITE_EDGE = `
  UPDATE {edges} /*! FORCE INDEX (PRIMARY) */
  SET result = :result, error = :error
  WHERE job_id = :job_id AND needs = :needs AND ${unchanged('result')} AND ${unchanged('error')}`;

const READ_SCHEDULES = `
  SELECT name, payload
  FROM {schedules}
  WHERE name > :name
  ORDER BY name
  LIMIT :limit`;

const WRITE_SCHEDULE = `
  UPDATE {schedules} /*! FORCE INDEX (PRIMARY) */
  SET payload = :payload
  WHERE name = :name AND ${unchanged('payload')}`;

const READ_ARCHIVE = READ_HISTORY.replace('{history}', '{archive}');
const WRITE_ARCHIVE = WRITE_HISTORY.replace('{history}', '{archive}');

/** `schedule`: a payload without expiry. `errors`: the JSON of errors. `step`: the value of a step, or the data of a signal in a list. */
export type ContentKind = Exclude<CodecContent, 'error'> | 'errors' | 'schedule';

/** A table with content, and its statements, which read and write its rows in the order of its key. */
export interface ContentTable {
  readonly read: string;
  readonly write: string;
  /** The columns of the primary key, with values before that of the first row. */
  readonly start: Values;
  readonly content: Readonly<Record<string, ContentKind>>;
}

const BEFORE_ALL_IDS = -Number.MAX_SAFE_INTEGER;
const JOB = { id: BEFORE_ALL_IDS };
const FINISHED = { payload: 'payload', result: 'result', error: 'errors' } as const;

/** All but the event outbox, whose rows are kept for ten minutes. A job moves from an earlier table to a later one. */
export const CONTENT_TABLES: readonly ContentTable[] = [
  { read: READ_SCHEDULES, write: WRITE_SCHEDULE, start: { name: '' }, content: { payload: 'schedule' } },
  { read: READ_JOBS, write: WRITE_JOB, start: JOB, content: { payload: 'payload', error: 'errors' } },
  { read: READ_HISTORY, write: WRITE_HISTORY, start: JOB, content: FINISHED },
  { read: READ_PROGRESS, write: WRITE_PROGRESS, start: { job_id: BEFORE_ALL_IDS }, content: { value: 'progress' } },
  { read: READ_LOGS, write: WRITE_LINE, start: { job_id: BEFORE_ALL_IDS, number: 0 }, content: { line: 'log' } },
  { read: READ_SIGNALS, write: WRITE_SIGNAL, start: { hash: '' }, content: { data: 'signal' } },
  { read: READ_STEPS, write: WRITE_STEP, start: { job_id: BEFORE_ALL_IDS, name: '' }, content: { result: 'step' } },
  {
    read: READ_EDGES,
    write: WRITE_EDGE,
    start: { job_id: BEFORE_ALL_IDS, needs: BEFORE_ALL_IDS },
    content: { result: 'result', error: 'errors' },
  },
];

export const ARCHIVE_TABLE: ContentTable = {
  read: READ_ARCHIVE,
  write: WRITE_ARCHIVE,
  start: JOB,
  content: FINISHED,
};
