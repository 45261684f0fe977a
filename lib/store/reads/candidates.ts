import type { PageOrder, PagePosition } from '../../job/page-options.js';
import type { Dialect } from '../core/sql-database.js';
import { nextRanges, type FirstOfRange } from './next-ranges.js';
import { query, type SqlValue, type Work } from '../core/statement.js';

/** A job that an index returns for a list. */
export interface Candidate {
  readonly id: number;
  readonly position: PagePosition;
}

export interface CandidatePage {
  readonly candidates: readonly Candidate[];
  readonly isEnd: boolean;
}

/** Reads the candidates after a position: at most `limit`, and at least one unless the list ends. */
export type ReadCandidates = (after: PagePosition | undefined, limit: number) => Work<CandidatePage>;

export type QueueNames = Pick<Dialect, 'queueNames'>;

/** Lists omit ids that are not safe integers. */
const MIN_POSITION_VALUE = -Number.MAX_SAFE_INTEGER;
export const MAX_POSITION_VALUE = Number.MAX_SAFE_INTEGER;

const RANGE_BATCH_SIZE = 16;
// The approximate number of entries that one read returns from all ranges, and the minimum from each range.
const ENTRY_BATCH_SIZE = 2_000;
const MIN_ENTRIES_PER_RANGE = 20;

export function orderKeywordsOf(order: PageOrder) {
  return order === 'oldest' ? { beyond: '>', way: 'ASC' } : { beyond: '<', way: 'DESC' };
}

/** The value before the first position of a list. */
export function startValueOf(order: PageOrder): number {
  return order === 'oldest' ? MIN_POSITION_VALUE : MAX_POSITION_VALUE;
}

export function candidatesById(table: 'jobs' | 'history', order: PageOrder): ReadCandidates {
  const { beyond, way } = orderKeywordsOf(order);
  const sql = `
  SELECT id
  FROM {${table}} {by primary}
  WHERE id ${beyond} :id AND id <= :most
  ORDER BY id ${way}
  LIMIT :limit`;
  return function* (after, limit) {
    const rows = yield* query<{ id: number }>(sql, {
      id: after?.[0] ?? startValueOf(order),
      limit,
      most: MAX_POSITION_VALUE,
    });
    return { candidates: rows.map(({ id }) => toCandidate(id)), isEnd: rows.length < limit };
  };
}

export function candidatesAmong(ids: readonly number[], order: PageOrder): ReadCandidates {
  const inOrder = [...new Set(ids)].sort(order === 'oldest' ? (a, b) => a - b : (a, b) => b - a);
  // oxlint-disable-next-line require-yield
  return function* (after, limit) {
    const first = after === undefined ? 0 : inOrder.findIndex((id) => isAfter([id], after, order));
    const from = first < 0 ? inOrder.length : first;
    return { candidates: inOrder.slice(from, from + limit).map(toCandidate), isEnd: from + limit >= inOrder.length };
  };
}

/** A range of an index that is sorted by id. */
export interface IndexRange {
  readonly from: string;
  /** The values of the index columns before the id. */
  readonly values: Readonly<Record<string, SqlValue>>;
  readonly condition?: string;
}

export function candidatesInRanges(ranges: readonly IndexRange[], order: PageOrder): ReadCandidates {
  return function* (after, limit) {
    const cursor = { id: after?.[0] ?? startValueOf(order), most: MAX_POSITION_VALUE };
    const firstOf = (range: IndexRange) => firstOfRange(range, order);
    // The first entry of each other range comes after those of as many ranges as the page has entries.
    const { chosen, rest } = yield* nextRanges(ranges, limit, order, cursor, firstOf);
    const perRange = Math.max(MIN_ENTRIES_PER_RANGE, Math.min(limit, Math.floor(ENTRY_BATCH_SIZE / chosen.length)));
    const lists: CandidatePage[] = [];
    for (let first = 0; first < chosen.length; first += RANGE_BATCH_SIZE) {
      const batch = chosen.slice(first, first + RANGE_BATCH_SIZE);
      const [sql, values] = selectRanges(batch, order);
      const given = { ...values, ...cursor, perRange };
      const rows = yield* query<{ range_index: number; id: number }>(sql, given);
      batch.forEach((_, index) => {
        const found = rows.filter((row) => Number(row.range_index) === index).map(({ id }) => toCandidate(id));
        lists.push({ candidates: sortByPosition(found, order), isEnd: found.length < perRange });
      });
    }
    const { candidates, isEnd } = mergePages(lists, limit, order);
    return { candidates, isEnd: isEnd && rest === undefined };
  };
}

function conditionOf(
  { values, condition }: IndexRange,
  index: number,
): [sql: string, values: Record<string, SqlValue>] {
  const columns = Object.keys(values).map((column) => `${column} = :${column}${index}`);
  const named = Object.entries(values).map(([column, value]) => [`${column}${index}`, value] as const);
  return [[...columns, ...(condition ? [condition] : [])].join(' AND '), Object.fromEntries(named)];
}

function firstOfRange({ from, values, condition }: IndexRange, order: PageOrder): FirstOfRange {
  const { beyond, way } = orderKeywordsOf(order);
  const columns = Object.keys(values).map((column) => `${column} = ranges.${column}`);
  const conditions = [...columns, ...(condition ? [condition] : []), `id ${beyond} :id`, 'id <= :most'];
  const inOrder = [...Object.keys(values), 'id'].map((column) => `${column} ${way}`);
  const sql = `SELECT id FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${inOrder.join(', ')} LIMIT 1`;
  return { sql, values };
}

function selectRanges(
  ranges: readonly IndexRange[],
  order: PageOrder,
): [sql: string, values: Record<string, SqlValue>] {
  const { beyond, way } = orderKeywordsOf(order);
  const values: Record<string, SqlValue> = {};
  const selects = ranges.map((range, index) => {
    const [conditions, own] = conditionOf(range, index);
    Object.assign(values, own);
    return `
  SELECT ${index} AS range_index, id
  FROM (
    SELECT id
    FROM ${range.from}
    WHERE ${conditions} AND id ${beyond} :id AND id <= :most
    ORDER BY id ${way}
    LIMIT :perRange
  ) AS range_${index}`;
  });
  return [selects.join(' UNION ALL '), values];
}

/** Merges pages up to the position that every list has reached. */
export function mergePages(lists: readonly CandidatePage[], limit: number, order: PageOrder): CandidatePage {
  const read = lists.filter(({ isEnd }) => !isEnd).map(({ candidates }) => candidates.at(-1)!);
  const bound = sortByPosition(read, order)[0]?.position;
  const all = lists.flatMap(({ candidates }) => candidates);
  const merged = sortByPosition(bound ? all.filter(({ position }) => !isAfter(position, bound, order)) : all, order);
  return { candidates: merged.slice(0, limit), isEnd: bound === undefined && merged.length <= limit };
}

export function isAfter(position: PagePosition, other: PagePosition, order: PageOrder): boolean {
  const direction = order === 'oldest' ? 1 : -1;
  const column = position.findIndex((part, index) => part !== other[index]);
  return column >= 0 && compareParts(position[column]!, other[column]!) * direction > 0;
}

/** Texts are compared like their columns: by their bytes. */
function compareParts(part: number | string, other: number | string): number {
  return typeof part === 'number'
    ? part - Number(other)
    : Buffer.compare(Buffer.from(part), Buffer.from(String(other)));
}

export function sortByPosition<Positioned extends { position: PagePosition }>(
  entries: Positioned[],
  order: PageOrder,
): Positioned[] {
  return entries.sort((a, b) => (isAfter(a.position, b.position, order) ? 1 : -1));
}

function toCandidate(id: number): Candidate {
  return { id: Number(id), position: [Number(id)] };
}
