import type { JobRecord } from '../../job/job.js';
import { FINAL_STATES, isFinalState } from '../../job/job-state.js';
import type { PageRequest, PagePosition } from '../../job/page-options.js';
import type { FoundJobs, JobSearch } from './admin-store.js';
import {
  candidatesById,
  sortByPosition,
  candidatesInRanges,
  isAfter,
  type Candidate,
  type QueueNames,
  type ReadCandidates,
} from './candidates.js';
import { toJobRecord, LIVE_STATE, READ_FINISHED, READ_LIVE, type RecordRow } from '../jobs/job-record.js';
import { selectClaimed, selectLive, selectScheduled, selectWaiting } from './live-candidates.js';
import { idsOf } from '../core/safe-id.js';
import { query, type SqlValue, type Work } from '../core/statement.js';

const filterLive = (conditions: string) => `
  SELECT j.id
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */
  WHERE j.id IN (:ids) ${conditions}`;

const filterFinished = (conditions: string) => `
  SELECT h.id
  FROM {history} h /*! FORCE INDEX (PRIMARY) */
  WHERE h.id IN (:ids) ${conditions}`;

// A page examines at most this number of jobs. It may then be short, and `next` continues after them.
const MAX_EXAMINED = 2_000;
const EXAMINED_BATCH_SIZE = 1_000;
// Most searches find their page among the first candidates.
const FIRST_BATCH_SIZE = 100;
const MAX_ROUNDS = 10;

const TIMES = [
  { bound: 'createdAfter', column: 'created_at', operator: '>=' },
  { bound: 'createdBefore', column: 'created_at', operator: '<' },
  { bound: 'finishedAfter', column: 'finished_at', operator: '>=' },
  { bound: 'finishedBefore', column: 'finished_at', operator: '<' },
] as const;

interface Conditions {
  readonly sql: string;
  readonly values: Readonly<Record<string, SqlValue>>;
}

/** A search in one of the two tables of jobs. */
interface SearchedTable {
  readonly candidates: ReadCandidates;
  readonly conditions: Conditions;
  readonly filter: (conditions: string) => string;
  readonly read: string;
}

export function* findJobs(search: JobSearch, page: PageRequest, names: QueueNames): Work<FoundJobs<JobRecord>> {
  const { found, next } = yield* readPage(search, page, names, function* ({ read }, candidates) {
    const ids = candidates.map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = new Map((yield* query<RecordRow>(read, { ids })).map((row) => [Number(row.id), toJobRecord(row)]));
    return candidates.flatMap(({ id, position }) => {
      const job = rows.get(id);
      return job ? [{ job, position }] : [];
    });
  });
  return { jobs: found.map(({ job }) => job), ...(next && { next }) };
}

export function* findJobIds(search: JobSearch, page: PageRequest, names: QueueNames): Work<FoundJobs<number>> {
  // oxlint-disable-next-line require-yield
  const { found, next } = yield* readPage(search, page, names, function* (_, candidates) {
    return [...candidates];
  });
  return { jobs: found.map(({ id }) => id), ...(next && { next }) };
}

type Positioned = { readonly position: PagePosition };

function* readPage<Each extends Positioned>(
  search: JobSearch,
  page: PageRequest,
  names: QueueNames,
  read: (table: SearchedTable, candidates: readonly Candidate[]) => Work<Each[]>,
): Work<{ found: Each[]; next: PagePosition | undefined }> {
  const { limit, order } = page;
  const found = new Map<number, Each>();
  let end: PagePosition | undefined;
  // Reads the history last: a job that finishes between the two reads is in both results, and the later one is current.
  for (const table of [yield* searchLive(search, page, names), yield* searchFinished(search, page, names)]) {
    if (!table) continue;
    const { candidates, next } = yield* scan(table, page);
    for (const job of yield* read(table, candidates)) found.set(Number(job.position.at(-1)), job);
    if (next && (!end || isAfter(end, next, order))) end = next;
  }
  const all = sortByPosition([...found.values()], order);
  const within = end ? all.filter(({ position }) => !isAfter(position, end, order)) : all;
  if (within.length > limit) return { found: within.slice(0, limit), next: within[limit - 1]!.position };
  return { found: within, next: end };
}

/** Up to `limit` candidates that meet the conditions, and the position to continue after if there may be more. */
function* scan({ candidates: readCandidates, conditions, filter }: SearchedTable, { after, limit }: PageRequest) {
  const matches: Candidate[] = [];
  const isFiltered = conditions.sql !== '';
  let size = isFiltered ? Math.max(FIRST_BATCH_SIZE, 2 * limit) : limit + 1;
  let last = after;
  for (let examined = 0, rounds = 0; examined < MAX_EXAMINED && rounds < MAX_ROUNDS; rounds++) {
    const { candidates, isEnd } = yield* readCandidates(last, size);
    const ids = candidates.map(({ id }) => id);
    const values = { ...conditions.values, ids };
    const rows = isFiltered && ids.length > 0 ? yield* query<{ id: number }>(filter(conditions.sql), values) : [];
    const matchingIds = isFiltered ? new Set(idsOf(rows)) : undefined;
    for (const candidate of candidates) {
      if (matches.length === limit) return { candidates: matches, next: last };
      last = candidate.position;
      if (!matchingIds || matchingIds.has(candidate.id)) matches.push(candidate);
    }
    if (isEnd) return { candidates: matches, next: undefined };
    examined += candidates.length;
    size = Math.max(EXAMINED_BATCH_SIZE, size);
  }
  return { candidates: matches, next: last };
}

function* searchLive(search: JobSearch, { order }: PageRequest, names: QueueNames): Work<SearchedTable | undefined> {
  const { queue, state, owner, worker, finishedAfter, finishedBefore } = search;
  if (finishedAfter || finishedBefore || (state && isFinalState(state))) return undefined;
  const isHeld = owner !== undefined || worker !== undefined;
  if (isHeld && state && state !== 'active') return undefined;
  const unindexed = conditionsOn('j', search);
  const table = { filter: filterLive, read: READ_LIVE };
  const inState = state ? withCondition(unindexed, `AND ${LIVE_STATE} = :state`, { state }) : unindexed;
  if (state === 'active' || isHeld)
    return { ...table, conditions: inState, candidates: yield* selectClaimed({ queue, owner, worker }, order) };
  if (state === 'scheduled') {
    return { ...table, conditions: inState, candidates: yield* selectScheduled(queue, order, names) };
  }
  const ofQueue = queue === undefined ? inState : withCondition(inState, 'AND j.queue = :queue', { queue });
  if (state === 'waiting' || state === 'blocked')
    return { ...table, conditions: ofQueue, candidates: yield* selectWaiting(queue, order, names) };
  const candidates = queue === undefined ? candidatesById('jobs', order) : yield* selectLive(queue, order);
  return { ...table, conditions: ofQueue, candidates };
}

function* searchFinished(
  search: JobSearch,
  { order }: PageRequest,
  names: QueueNames,
): Work<SearchedTable | undefined> {
  const { queue, state } = search;
  if (state && !isFinalState(state)) return undefined;
  const table = { filter: filterFinished, read: READ_FINISHED, conditions: conditionsOn('h', search) };
  if (queue === undefined && state === undefined) return { ...table, candidates: candidatesById('history', order) };
  const queues = queue === undefined ? yield* names.queueNames('history') : [queue];
  const states = state === undefined ? FINAL_STATES : [state];
  const ranges = queues.flatMap((name) =>
    states.map((final) => ({
      from: '{history} /*! FORCE INDEX ({history}_state) */',
      values: { queue: name, state: final },
    })),
  );
  return { ...table, candidates: candidatesInRanges(ranges, order) };
}

/** The conditions of the search that no index covers. */
function conditionsOn(table: 'h' | 'j', search: JobSearch): Conditions {
  const { name, error, otherThan, key, headers = {} } = search;
  let all: Conditions = holderConditions(table, search);
  if (name !== undefined) all = withCondition(all, `AND ${table}.name = :name`, { name });
  if (error !== undefined) all = withCondition(all, `AND ${failedBy(table, 'error')}`, errorValues('error', error));
  if (otherThan !== undefined) {
    const sql = `AND (${table}.error IS NULL OR NOT ${failedBy(table, 'other')})`;
    all = withCondition(all, sql, errorValues('other', otherThan));
  }
  if (key !== undefined)
    all = withCondition(all, `AND INSTR(${table}.options, :key) > 0`, { key: `"key":${JSON.stringify(key)}` });
  all = withHeaders(all, table, headers);
  for (const { bound, column, operator } of TIMES) {
    const time = search[bound];
    if (time) all = withCondition(all, `AND ${table}.${column} ${operator} :${bound}`, { [bound]: +time });
  }
  return all;
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

function withCondition(conditions: Conditions, sql: string, values: Conditions['values']): Conditions {
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
