import type { CodecContent } from '../../../job/codec/payload-codec.js';
import type { Values } from '../../core/statement.js';

// Characters of the old text that a write compares. A whole text could exceed the packet size of the server. An encrypted
// text differs in its first hundred characters, because it has a nonce.
export const COMPARED_LENGTH = 4_000;

/** `schedule`: a payload without expiry. `errors`: the JSON of errors. `step`: the value of a step, or the data of a signal in a list. */
export type ContentKind = Exclude<CodecContent, 'error'> | 'errors' | 'schedule';

/** A table with content, and its statements, which read and write its rows in the order of its key. */
export interface ContentTable {
  readonly table: string;
  readonly read: string;
  readonly write: string;
  /** The columns of the primary key, with values before that of the first row. */
  readonly start: Values;
  readonly content: Readonly<Record<string, ContentKind>>;
}

const BEFORE_ALL_IDS = -Number.MAX_SAFE_INTEGER;
/** The columns on which the expiry of the blobs of a job depends. A blocked job has its delay in its options. */
const DUE_COLUMNS = ['run_at', "CASE WHEN state = 'blocked' THEN options END AS blocked_options"];
const FINISHED = { payload: 'payload', result: 'result', error: 'errors' } as const;

/** All but the event outbox, whose rows are kept for ten minutes. A job moves from an earlier table to a later one. */
export const CONTENT_TABLES: readonly ContentTable[] = [
  contentTable('{schedules}', { name: '' }, { payload: 'schedule' }),
  contentTable('{jobs}', { id: BEFORE_ALL_IDS }, { payload: 'payload', error: 'errors' }, 'claim_id', DUE_COLUMNS),
  contentTable('{history}', { id: BEFORE_ALL_IDS }, FINISHED),
  contentTable('{progress}', { job_id: BEFORE_ALL_IDS }, { value: 'progress' }),
  contentTable('{logs}', { job_id: BEFORE_ALL_IDS, number: 0 }, { line: 'log' }),
  contentTable('{signals}', { hash: '' }, { data: 'signal' }),
  contentTable('{steps}', { job_id: BEFORE_ALL_IDS, name: '' }, { result: 'step' }),
  contentTable('{edges}', { job_id: BEFORE_ALL_IDS, needs: BEFORE_ALL_IDS }, { result: 'result', error: 'errors' }),
];

export const ARCHIVE_TABLE = contentTable('{archive}', { id: BEFORE_ALL_IDS }, FINISHED);

/** @param claimColumn a row is written only while this column is 0 */
function contentTable(
  table: string,
  start: Values,
  content: ContentTable['content'],
  claimColumn?: string,
  due: readonly string[] = [],
): ContentTable {
  const keyColumns = Object.keys(start);
  const [first, second] = keyColumns;
  const columns = Object.keys(content);
  const claims = claimColumn === undefined ? [] : [claimColumn];
  const order = keyColumns.join(', ');
  const after = second
    ? `${first} >= :${first} AND (${first} > :${first} OR ${second} > :${second})`
    : `${first} > :${first}`;
  const given = (column: string) => `${column} = :${column}`;
  const assignments = columns.map(given).join(', ');
  const key = [...keyColumns.map(given), ...claims.map((column) => `${column} = 0`)].join(' AND ');
  const compared = columns
    .map((column) => `${column}, 1, ${COMPARED_LENGTH}), '') = :${column}Start`)
    .join(' AND COALESCE(SUBSTR(');
  return {
    ...{ table, start, content },
    read: `
  SELECT ${[...keyColumns, ...claims, ...due, ...columns].join(', ')}
  FROM ${table}
  WHERE ${after}
  ORDER BY ${order}
  LIMIT :limit`,
    write: `
  UPDATE ${table} {by primary}
  SET ${assignments}
  WHERE ${key} AND COALESCE(SUBSTR(${compared}`,
  };
}
