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
} from '../reads/candidates.js';
import { toJobRecord, LIVE_STATE, READ_FINISHED, READ_LIVE, type RecordRow } from '../rows/job-record.js';
import { selectClaimed, selectLive, selectScheduled, selectWaiting } from '../reads/live-candidates.js';
import { conditionsOn, withCondition, type Conditions } from './search-conditions.js';
import { idsOf } from '../../job/identifiers.js';
import { query, type Work } from '../core/statement.js';

const filterLive = (conditions: string) => `
  SELECT j.id
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids) ${conditions}`;

const filterFinished = (conditions: string) => `
  SELECT h.id
  FROM {history} h {by primary}
  WHERE h.id IN (:ids) ${conditions}`;

// A page examines at most this number of jobs. It may then be short, and `next` continues after them.
const MAX_EXAMINED = 1_000;
// Most searches find their page among the first candidates.
const FIRST_BATCH_SIZE = 100;
const MAX_ROUNDS = 10;

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
  let size = isFiltered ? Math.min(MAX_EXAMINED, Math.max(FIRST_BATCH_SIZE, 2 * limit)) : limit + 1;
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
    if (isFiltered) size = MAX_EXAMINED - examined;
  }
  return { candidates: matches, next: last };
}

function* searchLive(search: JobSearch, { order }: PageRequest, names: QueueNames): Work<SearchedTable | undefined> {
  const { queue, group, state, owner, worker, finishedAfter, finishedBefore } = search;
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
    return { ...table, conditions: ofQueue, candidates: yield* selectWaiting(search, order, names) };
  const candidates = queue === undefined ? candidatesById('jobs', order) : yield* selectLive(queue, group, order);
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
      from: '{history} {by history.state}',
      values: { queue: name, state: final },
    })),
  );
  return { ...table, candidates: candidatesInRanges(ranges, order) };
}
