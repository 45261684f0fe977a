import type { JobRecord } from '../../job/job.js';
import { FINAL_STATES, isFinal } from '../../job/job-state.js';
import type { JobPage, JobSearch } from '../admin-store.js';
import { nameable } from './claimed-row.js';
import type { Dialect } from './dialect.js';
import { FINISHED_COLUMNS, jobRecord, LIVE_COLUMNS, LIVE_STATE, type RecordRow } from './job-record.js';
import { query, type Work } from './statement.js';

type Page = Required<JobPage>;

// So many queues are asked at a time, in each state that is wanted.
const QUEUES_AT_A_TIME = 16;

type Names = Pick<Dialect, 'queueNames'>;

/** What is read of a job. */
interface Reading {
  readonly live: string;
  readonly joined: string;
  readonly finished: string;
}

const WHOLE: Reading = {
  live: LIVE_COLUMNS,
  joined: 'LEFT JOIN {claims} c ON c.id = j.claim_id',
  finished: FINISHED_COLUMNS,
};

const ID: Reading = { live: 'j.id', joined: '', finished: 'h.id' };

// Left to itself, MySQL sorts all jobs of a queue for a page of them: 10 s of 500,000.
const findLive = ({ live, joined }: Reading, conditions: string) => `
  SELECT ${live}
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */ ${joined}
  WHERE j.id > :after ${conditions}
  ORDER BY j.id
  LIMIT :limit`;

// Not in the order of ids, which is why it is asked only of a queue that has few.
const idsOfFew = (conditions: string) => `
  SELECT j.id
  FROM {jobs} j /*! FORCE INDEX ({jobs}_claim) */
  WHERE j.queue = :queue AND j.id > :after ${conditions}
  ORDER BY j.id
  LIMIT :limit`;

const readThese = ({ live, joined }: Reading) => `
  SELECT ${live}
  FROM {jobs} j /*! FORCE INDEX (PRIMARY) */ ${joined}
  WHERE j.id IN (:ids)
  ORDER BY j.id`;

// A walk along the whole table finds a page of a queue that has more than this before long, and is in order.
const FEW = 50_000;

const HAS_FEW = `
  SELECT COUNT(*) AS jobs
  FROM (
    SELECT 1
    FROM {jobs} /*! FORCE INDEX ({jobs}_claim) */
    WHERE queue = :queue
    LIMIT ${FEW + 1}
  ) AS some`;

// Without a queue and a state, the table itself is in order.
const findInAll = ({ finished }: Reading, conditions: string) => `
  SELECT ${finished}
  FROM {history} h /*! FORCE INDEX (PRIMARY) */
  WHERE h.id > :after ${conditions}
  ORDER BY h.id
  LIMIT :limit`;

// Index state has the jobs of one queue in one state in order: no more of them are read than the page has, but for those
// that the other conditions leave out.
const idsIn = (place: number, conditions: string) => `
    SELECT id
    FROM (
      SELECT h.id
      FROM {history} h /*! FORCE INDEX ({history}_state) */
      WHERE h.queue = :queue${place} AND h.state = :state${place} AND h.id > :after ${conditions}
      ORDER BY h.id
      LIMIT :limit
    ) AS place_${place}`;

const findIn = ({ finished }: Reading, places: number, conditions: string) => `
  SELECT /*! STRAIGHT_JOIN */ ${finished}
  FROM (
    SELECT id
    FROM (${Array.from({ length: places }, (_, place) => idsIn(place, conditions)).join(' UNION ALL ')}
    ) AS places
    ORDER BY id
    LIMIT :limit
  ) AS page
  JOIN {history} h /*! FORCE INDEX (PRIMARY) */ ON h.id = page.id
  ORDER BY h.id`;

/** In ascending order of ids. */
export function* find(search: JobSearch, page: Page, dialect: Names): Work<JobRecord[]> {
  return nameable(yield* read<RecordRow>(WHOLE, search, page, dialect)).map(jobRecord);
}

/** The same without the jobs themselves. */
export function* findIds(search: JobSearch, page: Page, dialect: Names): Work<number[]> {
  return nameable(yield* read<{ id: number }>(ID, search, page, dialect)).map(({ id }) => Number(id));
}

function* read<Row extends { id: number }>(
  reading: Reading,
  search: JobSearch,
  page: Page,
  dialect: Names,
): Work<Row[]> {
  const { state } = search;
  const isOver = search.finishedAfter !== undefined || search.finishedBefore !== undefined;
  const live = isOver || (state && isFinal(state)) ? [] : yield* liveRows<Row>(reading, search, page);
  const finished = state && !isFinal(state) ? [] : yield* finishedRows<Row>(reading, search, page, dialect);
  // A job that finished between the two looks is in both: the later look is right.
  const byId = new Map([...live, ...finished].map((row) => [Number(row.id), row]));
  return firstOf([...byId.values()], page.limit);
}

function* liveRows<Row>(reading: Reading, search: JobSearch, page: Page): Work<readonly Row[]> {
  const { queue, state } = search;
  const { sql, values } = conditionsOn('j', search);
  const conditions = `${state === undefined ? '' : `AND ${LIVE_STATE} = :state`} ${sql}`;
  const given = { ...values, ...page, ...(state && { state }) };
  if (queue === undefined) return yield* query<Row>(findLive(reading, conditions), given);
  if (!(yield* hasFew(queue)))
    return yield* query<Row>(findLive(reading, `AND j.queue = :queue ${conditions}`), { ...given, queue });
  const ids = nameable(yield* query<{ id: number }>(idsOfFew(conditions), { ...given, queue }));
  if (ids.length === 0) return [];
  return yield* query<Row>(readThese(reading), { ids: ids.map(({ id }) => Number(id)) });
}

function* hasFew(queue: string): Work<boolean> {
  const [row] = yield* query<{ jobs: number }>(HAS_FEW, { queue });
  return Number(row!.jobs) <= FEW;
}

function* finishedRows<Row extends { id: number }>(
  reading: Reading,
  search: JobSearch,
  page: Page,
  dialect: Names,
): Work<readonly Row[]> {
  const { queue, state } = search;
  const { sql, values } = conditionsOn('h', search);
  if (queue === undefined && state === undefined) {
    return yield* query<Row>(findInAll(reading, sql), { ...values, ...page });
  }
  const queues = queue === undefined ? yield* dialect.queueNames('history') : [queue];
  const found: Row[] = [];
  for (let from = 0; from < queues.length; from += QUEUES_AT_A_TIME) {
    const places: Record<string, string> = {};
    let count = 0;
    for (const name of queues.slice(from, from + QUEUES_AT_A_TIME)) {
      for (const each of state === undefined ? FINAL_STATES : [state]) {
        places[`queue${count}`] = name;
        places[`state${count++}`] = each;
      }
    }
    found.push(...(yield* query<Row>(findIn(reading, count, sql), { ...values, ...places, ...page })));
  }
  return firstOf(found, page.limit);
}

/** What no index knows. Only what is asked for stands in the statement. */
function conditionsOn(table: 'h' | 'j', { name, error, otherThan, finishedAfter, finishedBefore }: JobSearch) {
  const wanted: [sql: string, values: Record<string, string | number>][] = [];
  if (name !== undefined) wanted.push([`AND ${table}.name = :name`, { name }]);
  if (error !== undefined) wanted.push([`AND ${failedBy(table, 'error')}`, namesOf('error', error)]);
  if (otherThan !== undefined) {
    const sql = `AND (${table}.error IS NULL OR NOT ${failedBy(table, 'other')})`;
    wanted.push([sql, namesOf('other', otherThan)]);
  }
  if (finishedAfter) wanted.push([`AND ${table}.finished_at >= :finishedAfter`, { finishedAfter: +finishedAfter }]);
  if (finishedBefore) wanted.push([`AND ${table}.finished_at < :finishedBefore`, { finishedBefore: +finishedBefore }]);
  return { sql: wanted.map(([sql]) => sql).join(' '), values: Object.assign({}, ...wanted.map(([, each]) => each)) };
}

// A quote within a JSON text is escaped, so these stand nowhere else in it. Foreign text is none, and is not found.
function failedBy(table: string, what: string): string {
  return `(INSTR(${table}.error, :${what}Code) > 0 OR INSTR(${table}.error, :${what}Name) > 0)`;
}

function namesOf(what: string, error: string): Record<string, string> {
  const text = JSON.stringify(error);
  return { [`${what}Code`]: `"code":${text}`, [`${what}Name`]: `{"name":${text},` };
}

function firstOf<Row extends { id: number }>(rows: readonly Row[], limit: number): Row[] {
  return [...rows].sort((a, b) => Number(a.id) - Number(b.id)).slice(0, limit);
}
