import type { PageOrder, Position } from '../../job/page-options.js';
import type { Dialect } from './dialect.js';
import { query, type SqlValue, type Work } from './statement.js';

/** A job that may be in a list, in the list's order, as an index has it. */
export interface Candidate {
  readonly id: number;
  readonly position: Position;
}

/** The next candidates of a list. */
export interface Candidates {
  readonly some: readonly Candidate[];
  /** Whether the list ends with them. */
  readonly isEnd: boolean;
}

/** Reads candidates from an index, from a position on: at most `limit`, and at least one unless the list ends. */
export type ReadCandidates = (after: Position | undefined, limit: number) => Work<Candidates>;

export type QueueNames = Pick<Dialect, 'queueNames'>;

/** The smallest and the greatest that a column of a position can be. Lists leave out ids that no number can hold. */
const LEAST = -Number.MAX_SAFE_INTEGER;
export const MOST = Number.MAX_SAFE_INTEGER;

// So many ranges of an index are read by one statement.
const RANGES_AT_A_TIME = 16;
// About so many entries of several ranges are read at a time, and at least so many of each.
const ENTRIES = 2_000;
const LEAST_ENTRIES = 20;

/** The words of SQL that depend on the order. */
export function wordsOf(order: PageOrder) {
  return order === 'oldest' ? { beyond: '>', way: 'ASC' } : { beyond: '<', way: 'DESC' };
}

/** Where a list begins. */
export function startOf(order: PageOrder): number {
  return order === 'oldest' ? LEAST : MOST;
}

/** All jobs of a table along its key. */
export function byId(table: 'jobs' | 'history', order: PageOrder): ReadCandidates {
  const { beyond, way } = wordsOf(order);
  const sql = `
  SELECT id
  FROM {${table}} /*! FORCE INDEX (PRIMARY) */
  WHERE id ${beyond} :id AND id <= :most
  ORDER BY id ${way}
  LIMIT :limit`;
  return function* (after, limit) {
    const rows = yield* query<{ id: number }>(sql, { id: after?.[0] ?? startOf(order), limit, most: MOST });
    return { some: rows.map(({ id }) => candidateOf(id)), isEnd: rows.length < limit };
  };
}

/** Known ids. */
export function among(ids: readonly number[], order: PageOrder): ReadCandidates {
  const inOrder = [...new Set(ids)].sort(order === 'oldest' ? (a, b) => a - b : (a, b) => b - a);
  // oxlint-disable-next-line require-yield
  return function* (after, limit) {
    const first = after === undefined ? 0 : inOrder.findIndex((id) => isBeyond([id], after, order));
    const from = first < 0 ? inOrder.length : first;
    return { some: inOrder.slice(from, from + limit).map(candidateOf), isEnd: from + limit >= inOrder.length };
  };
}

/** A range of an index in which ids are in order. */
export interface Range {
  readonly from: string;
  /** Of the columns before the id, by their names. */
  readonly values: Readonly<Record<string, SqlValue>>;
  /** A condition on the index besides. */
  readonly also?: string;
}

/** The jobs of several ranges, by their ids. */
export function inRanges(ranges: readonly Range[], order: PageOrder): ReadCandidates {
  return function* (after, limit) {
    const ofEach = Math.max(LEAST_ENTRIES, Math.min(limit, Math.floor(ENTRIES / ranges.length)));
    const lists: Candidates[] = [];
    for (let first = 0; first < ranges.length; first += RANGES_AT_A_TIME) {
      const some = ranges.slice(first, first + RANGES_AT_A_TIME);
      const [sql, values] = readRanges(some, order);
      const given = { ...values, id: after?.[0] ?? startOf(order), ofEach, most: MOST };
      const rows = yield* query<{ place: number; id: number }>(sql, given);
      some.forEach((_, place) => {
        const found = rows.filter((row) => Number(row.place) === place).map(({ id }) => candidateOf(id));
        lists.push({ some: inOrderOf(found, order), isEnd: found.length < ofEach });
      });
    }
    return merged(lists, limit, order);
  };
}

function readRanges(ranges: readonly Range[], order: PageOrder): [sql: string, values: Record<string, SqlValue>] {
  const { beyond, way } = wordsOf(order);
  const values: Record<string, SqlValue> = {};
  const parts = ranges.map((range, place) => {
    const conditions = Object.entries(range.values).map(([column, value]) => {
      values[`${column}${place}`] = value;
      return `${column} = :${column}${place}`;
    });
    if (range.also) conditions.push(range.also);
    return `
  SELECT ${place} AS place, id
  FROM (
    SELECT id
    FROM ${range.from}
    WHERE ${conditions.join(' AND ')} AND id ${beyond} :id AND id <= :most
    ORDER BY id ${way}
    LIMIT :ofEach
  ) AS place_${place}`;
  });
  return [parts.join(' UNION ALL '), values];
}

/** Several lists of ids as one. */
export function together(lists: readonly ReadCandidates[], order: PageOrder): ReadCandidates {
  return function* (after, limit) {
    const found: Candidates[] = [];
    for (const list of lists) found.push(yield* list(after, limit));
    return merged(found, limit, order);
  };
}

/** Only as far as every list has been read. */
export function merged(lists: readonly Candidates[], limit: number, order: PageOrder): Candidates {
  const read = lists.filter(({ isEnd }) => !isEnd).map(({ some }) => some.at(-1)!);
  const bound = inOrderOf(read, order)[0]?.position;
  const all = lists.flatMap(({ some }) => some);
  const within = inOrderOf(bound ? all.filter(({ position }) => !isBeyond(position, bound, order)) : all, order);
  return { some: within.slice(0, limit), isEnd: bound === undefined && within.length <= limit };
}

/** Whether a position comes later in the list than another one. */
export function isBeyond(position: Position, other: Position, order: PageOrder): boolean {
  const way = order === 'oldest' ? 1 : -1;
  const place = position.findIndex((part, index) => part !== other[index]);
  return place >= 0 && (position[place]! - other[place]!) * way > 0;
}

export function inOrderOf<Placed extends { position: Position }>(placed: Placed[], order: PageOrder): Placed[] {
  return placed.sort((a, b) => (isBeyond(a.position, b.position, order) ? 1 : -1));
}

export function candidateOf(id: number): Candidate {
  return { id: Number(id), position: [Number(id)] };
}
