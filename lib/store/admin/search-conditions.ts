import { isFinalState } from '../../job/job-state.js';
import { LIVE_STATE } from '../rows/job-record.js';
import { ascending, idsOf } from '../../job/identifiers.js';
import { query, type SqlValue, type Work } from '../core/statement.js';
import type { JobSearch } from './admin-store.js';

const TIMES = [
  { bound: 'createdAfter', column: 'created_at', operator: '>=' },
  { bound: 'createdBefore', column: 'created_at', operator: '<' },
  { bound: 'finishedAfter', column: 'finished_at', operator: '>=' },
  { bound: 'finishedBefore', column: 'finished_at', operator: '<' },
] as const;

export interface Conditions {
  readonly sql: string;
  readonly values: Readonly<Record<string, SqlValue>>;
}

const lockLive = (conditions: string) => `
  SELECT j.id
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids) ${conditions}
  ORDER BY j.id {lock}`;

const lockFinished = (conditions: string) => `
  SELECT h.id
  FROM {history} h {by primary}
  WHERE h.id IN (:ids) ${conditions}
  ORDER BY h.id {lock}`;

/**
 * Locks those of the jobs that match the filter now: since their ids were read, another transaction may have retried, moved
 * or changed them. Without a filter, or with one that matches every job, returns all ids and locks none.
 */
export function* lockMatching(ids: readonly number[], filter: JobSearch | undefined): Work<readonly number[]> {
  if (!filter || ids.length === 0 || Object.values(filter).every((value) => value === undefined)) return ids;
  const { state, finishedAfter, finishedBefore } = filter;
  const inOrder = ascending(ids);
  const mayBeLive = !finishedAfter && !finishedBefore && !(state && isFinalState(state));
  const mayBeFinished = !state || isFinalState(state);
  const matching = new Set([
    ...(mayBeLive ? yield* lock(lockLive, inQueueAndState('j', LIVE_STATE, filter), inOrder) : []),
    ...(mayBeFinished ? yield* lock(lockFinished, inQueueAndState('h', 'h.state', filter), inOrder) : []),
  ]);
  // In their order: a replay at a rate starts the jobs one after the other.
  return ids.filter((id) => matching.has(id));
}

function* lock(text: (conditions: string) => string, { sql, values }: Conditions, ids: readonly number[]) {
  return idsOf(yield* query<{ id: number }>(text(sql), { ...values, ids }));
}

function inQueueAndState(table: 'h' | 'j', stateColumn: string, filter: JobSearch): Conditions {
  const { queue, state } = filter;
  const others = conditionsOn(table, filter);
  const inState = state ? withCondition(others, `AND ${stateColumn} = :state`, { state }) : others;
  return queue === undefined ? inState : withCondition(inState, `AND ${table}.queue = :queue`, { queue });
}

/** The conditions of the search that no index covers. */
export function conditionsOn(table: 'h' | 'j', search: JobSearch): Conditions {
  const { name, error, otherThan, key, group, schedule, headers = {} } = search;
  let all: Conditions = holderConditions(table, search);
  if (name !== undefined) all = withCondition(all, `AND ${table}.name = :name`, { name });
  if (error !== undefined) all = withCondition(all, `AND ${failedBy(table, 'error')}`, errorValues('error', error));
  if (otherThan !== undefined) {
    const sql = `AND (${table}.error IS NULL OR NOT ${failedBy(table, 'other')})`;
    all = withCondition(all, sql, errorValues('other', otherThan));
  }
  if (key !== undefined) all = withOption(all, table, 'key', key);
  if (group !== undefined) {
    // The history has no column for the group.
    const inColumn = { sql: `j.group_key = :group OR`, values: { group } };
    all = withOption(all, table, 'group', group, table === 'j' ? inColumn : undefined);
  }
  // The name in the tick of a job: no other option has a key `name`, and a server may change the order of the keys.
  if (schedule !== undefined) all = withOption(all, table, 'name', schedule);
  all = withHeaders(all, table, headers);
  for (const { bound, column, operator } of TIMES) {
    const time = search[bound];
    if (time) all = withCondition(all, `AND ${table}.${column} ${operator} :${bound}`, { [bound]: +time });
  }
  return all;
}

/** Functions of MySQL and MariaDB that change JSON write a space after each colon. */
function withOption(
  conditions: Conditions,
  table: 'h' | 'j',
  name: 'key' | 'group' | 'name',
  value: string,
  otherwise: Conditions = { sql: '', values: {} },
): Conditions {
  const has = (written: string) => `INSTR(${table}.options, :${name}${written}) > 0`;
  const text = JSON.stringify(value);
  return withCondition(conditions, `AND (${otherwise.sql} ${has('Written')} OR ${has('Rewritten')})`, {
    ...otherwise.values,
    [`${name}Written`]: `"${name}":${text}`,
    [`${name}Rewritten`]: `"${name}": ${text}`,
  });
}

function withHeaders(conditions: Conditions, table: 'h' | 'j', headers: Record<string, string>): Conditions {
  const pairs = Object.entries(headers).map(([header, value]) => `${JSON.stringify(header)}:${JSON.stringify(value)}`);
  const sql = pairs.map((_, index) => `AND INSTR(${table}.headers, :header${index}) > 0`).join(' ');
  return withCondition(conditions, sql, Object.fromEntries(pairs.map((pair, index) => [`header${index}`, pair])));
}

/** The conditions on the worker or the person that has the job. */
function holderConditions(table: 'h' | 'j', { owner, worker }: JobSearch): Conditions {
  if (owner === undefined && worker === undefined) return { sql: '', values: {} };
  const of = (from: string) =>
    `(:owner IS NULL OR ${from}.owner = :owner) AND (:worker IS NULL OR ${from}.worker_id = :worker)`;
  // A claim lists jobs that have left it, too.
  const isHeld = `EXISTS (SELECT 1 FROM {claims} c WHERE c.id = j.claim_id AND ${of('c')})`;
  return {
    sql: `AND ${table === 'h' ? of('h') : isHeld}`,
    values: { owner: owner ?? null, worker: worker ?? null },
  };
}

export function withCondition(conditions: Conditions, sql: string, values: Conditions['values']): Conditions {
  return { sql: `${conditions.sql} ${sql}`, values: { ...conditions.values, ...values } };
}

// JSON escapes quotes within texts, so the search text matches only the code or the name. It does not match text that
// another program has written and that is not JSON.
function failedBy(table: string, what: string): string {
  return `(INSTR(${table}.error, :${what}Code) > 0 OR INSTR(${table}.error, :${what}Name) > 0)`;
}

function errorValues(what: string, error: string): Record<string, string> {
  const text = JSON.stringify(error);
  return { [`${what}Code`]: `"code":${text}`, [`${what}Name`]: `{"name":${text},` };
}
