import type { JobRecord } from '../../job/job.js';
import { FINAL_STATES, isFinal } from '../../job/job-state.js';
import type { PageRequest, Position } from '../../job/page-options.js';
import type { Found, JobSearch } from '../admin-store.js';
import {
  byId,
  inOrderOf,
  inRanges,
  isBeyond,
  type Candidate,
  type QueueNames,
  type ReadCandidates,
} from './candidates.js';
import { FINISHED_COLUMNS, jobRecord, LIVE_COLUMNS, LIVE_STATE, type RecordRow } from './job-record.js';
import { claimed, liveOf, scheduled, waiting } from './live-candidates.js';
import { query, type SqlValue, type Work } from './statement.js';

const liveWith = (conditions: string) => `
  SELECT j.id
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */
  WHERE j.id IN (:ids) ${conditions}`;

const finishedWith = (conditions: string) => `
  SELECT h.id
  FROM {history} h /*! FORCE INDEX (PRIMARY) */
  WHERE h.id IN (:ids) ${conditions}`;

const READ_LIVE = `
  SELECT ${LIVE_COLUMNS}
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */ LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE j.id IN (:ids)`;

const READ_FINISHED = `
  SELECT ${FINISHED_COLUMNS}
  FROM {history} h /*! FORCE INDEX (PRIMARY) */
  WHERE h.id IN (:ids)`;

// So many jobs are looked at for one page, whatever the conditions leave out: the page can be short then, and says where the
// next one begins.
const MAX_EXAMINED = 5_000;
const EXAMINED_AT_A_TIME = 1_000;
const MAX_ROUNDS = 10;

interface Conditions {
  readonly sql: string;
  readonly values: Readonly<Record<string, SqlValue>>;
}

/** One of the two tables that have jobs: what of it may be in the list, and what is. */
interface Part {
  readonly candidates: ReadCandidates;
  readonly conditions: Conditions;
  readonly filter: (conditions: string) => string;
  readonly read: string;
}

/** By id; scheduled jobs by the time at which they are due. */
export function* find(search: JobSearch, page: PageRequest, names: QueueNames): Work<Found<JobRecord>> {
  const { found, next } = yield* pageOf(search, page, names, function* ({ read }, candidates) {
    const ids = candidates.map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = new Map((yield* query<RecordRow>(read, { ids })).map((row) => [Number(row.id), jobRecord(row)]));
    return candidates.flatMap(({ id, position }) => {
      const job = rows.get(id);
      return job ? [{ job, position }] : [];
    });
  });
  return { jobs: found.map(({ job }) => job), ...(next && { next }) };
}

/** The same without the jobs themselves. */
export function* findIds(search: JobSearch, page: PageRequest, names: QueueNames): Work<Found<number>> {
  // oxlint-disable-next-line require-yield
  const { found, next } = yield* pageOf(search, page, names, function* (_, candidates) {
    return [...candidates];
  });
  return { jobs: found.map(({ id }) => id), ...(next && { next }) };
}

type Placed = { readonly position: Position };

function* pageOf<Each extends Placed>(
  search: JobSearch,
  page: PageRequest,
  names: QueueNames,
  read: (part: Part, candidates: readonly Candidate[]) => Work<Each[]>,
): Work<{ found: Each[]; next: Position | undefined }> {
  const { limit, order } = page;
  const found = new Map<number, Each>();
  let end: Position | undefined;
  // The history last: a job that finished between the two is in both, and the later look is right.
  for (const part of [yield* livePart(search, page, names), yield* finishedPart(search, page, names)]) {
    if (!part) continue;
    const { candidates, next } = yield* scan(part, page);
    for (const each of yield* read(part, candidates)) found.set(each.position.at(-1)!, each);
    if (next && (!end || isBeyond(end, next, order))) end = next;
  }
  const all = inOrderOf([...found.values()], order);
  const within = end ? all.filter(({ position }) => !isBeyond(position, end, order)) : all;
  if (within.length > limit) return { found: within.slice(0, limit), next: within[limit - 1]!.position };
  return { found: within, next: end };
}

/** Up to `limit` candidates that meet the conditions, and where to go on if there may be more. */
function* scan({ candidates, conditions, filter }: Part, { after, limit }: PageRequest) {
  const met: Candidate[] = [];
  const isFiltered = conditions.sql !== '';
  const size = isFiltered ? Math.max(EXAMINED_AT_A_TIME, limit + 1) : limit + 1;
  let last = after;
  for (let examined = 0, rounds = 0; examined < MAX_EXAMINED && rounds < MAX_ROUNDS; rounds++) {
    const { some, isEnd } = yield* candidates(last, size);
    const ids = some.map(({ id }) => id);
    const values = { ...conditions.values, ids };
    const rows = isFiltered && ids.length > 0 ? yield* query<{ id: number }>(filter(conditions.sql), values) : [];
    const meets = isFiltered ? new Set(rows.map(({ id }) => Number(id))) : undefined;
    for (const candidate of some) {
      if (met.length === limit) return { candidates: met, next: last };
      last = candidate.position;
      if (!meets || meets.has(candidate.id)) met.push(candidate);
    }
    if (isEnd) return { candidates: met, next: undefined };
    examined += some.length;
  }
  return { candidates: met, next: last };
}

function* livePart(search: JobSearch, { order }: PageRequest, names: QueueNames): Work<Part | undefined> {
  const { queue, state, finishedAfter, finishedBefore } = search;
  if (finishedAfter || finishedBefore || (state && isFinal(state))) return undefined;
  const given = conditionsOn('j', search);
  const about = { filter: liveWith, read: READ_LIVE };
  const inState = state ? and(given, `AND ${LIVE_STATE} = :state`, { state }) : given;
  if (state === 'active') return { ...about, conditions: inState, candidates: yield* claimed(queue ?? null, order) };
  if (state === 'scheduled') {
    return { ...about, conditions: inState, candidates: yield* scheduled(queue, order, names) };
  }
  const ofQueue = queue === undefined ? inState : and(inState, 'AND j.queue = :queue', { queue });
  if (state === 'waiting') return { ...about, conditions: ofQueue, candidates: yield* waiting(queue, order, names) };
  const candidates = queue === undefined ? byId('jobs', order) : yield* liveOf(queue, order);
  return { ...about, conditions: ofQueue, candidates };
}

function* finishedPart(search: JobSearch, { order }: PageRequest, names: QueueNames): Work<Part | undefined> {
  const { queue, state } = search;
  if (state && !isFinal(state)) return undefined;
  const about = { filter: finishedWith, read: READ_FINISHED, conditions: conditionsOn('h', search) };
  if (queue === undefined && state === undefined) return { ...about, candidates: byId('history', order) };
  const queues = queue === undefined ? yield* names.queueNames('history') : [queue];
  const states = state === undefined ? FINAL_STATES : [state];
  const ranges = queues.flatMap((each) =>
    states.map((final) => ({
      from: '{history} /*! FORCE INDEX ({history}_state) */',
      values: { queue: each, state: final },
    })),
  );
  return { ...about, candidates: inRanges(ranges, order) };
}

/** The conditions that no index knows. Only those that are asked for stand in the statement. */
function conditionsOn(table: 'h' | 'j', search: JobSearch): Conditions {
  const { name, error, otherThan, finishedAfter, finishedBefore } = search;
  let all: Conditions = { sql: '', values: {} };
  if (name !== undefined) all = and(all, `AND ${table}.name = :name`, { name });
  if (error !== undefined) all = and(all, `AND ${failedBy(table, 'error')}`, namesOf('error', error));
  if (otherThan !== undefined) {
    const sql = `AND (${table}.error IS NULL OR NOT ${failedBy(table, 'other')})`;
    all = and(all, sql, namesOf('other', otherThan));
  }
  if (finishedAfter) all = and(all, `AND ${table}.finished_at >= :finishedAfter`, { finishedAfter: +finishedAfter });
  if (finishedBefore) all = and(all, `AND ${table}.finished_at < :finishedBefore`, { finishedBefore: +finishedBefore });
  return all;
}

function and(conditions: Conditions, sql: string, values: Conditions['values']): Conditions {
  return { sql: `${conditions.sql} ${sql}`, values: { ...conditions.values, ...values } };
}

// A quote within a JSON text is escaped, so these stand nowhere else in it. Foreign text is none, and is not found.
function failedBy(table: string, what: string): string {
  return `(INSTR(${table}.error, :${what}Code) > 0 OR INSTR(${table}.error, :${what}Name) > 0)`;
}

function namesOf(what: string, error: string): Record<string, string> {
  const text = JSON.stringify(error);
  return { [`${what}Code`]: `"code":${text}`, [`${what}Name`]: `{"name":${text},` };
}
