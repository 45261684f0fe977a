import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, isWhole, unknownKeys } from './expectation.js';

/** A part of a list. */
export interface PageOptions {
  /** 1 to 1,000, default 100. */
  limit?: number;
  /** The `next` of the page before. Default: from the beginning. */
  after?: string | undefined;
  /** Which end of the list comes first. Default `'oldest'`. */
  order?: PageOrder;
}

export type PageOrder = 'oldest' | 'newest';

/** The place of a job or a line in its list. */
export type Position = readonly number[];

/** A checked page. */
export interface PageRequest {
  readonly limit: number;
  readonly after?: Position | undefined;
  readonly order: PageOrder;
}

/** How many numbers a position has in each list: an id; or what the list is sorted by, then an id. */
const LISTS = { jobs: 1, scheduled: 3, logs: 1, unassigned: 2, assigned: 1, stage: 2 } as const;

export type PagedList = keyof typeof LISTS;

/** Checks the page of a list, and decodes its cursor. */
export function resolvePage(where: string, given: PageOptions, list: PagedList): PageRequest {
  InvalidOptionsError.throwIfAny(where, pageProblems(given, list));
  const { limit = 100, after, order = 'oldest' } = given;
  return { limit, order, ...(after !== undefined && { after: positionOf(after, list, order)! }) };
}

/** @param also keys that stand beside those of the page */
export function pageProblems(
  given: PageOptions,
  list: PagedList,
  also: readonly string[] = [],
): (string | undefined)[] {
  if (!isOptions(given)) return [expected(false, 'a page to be an object', given)];
  const { limit = 100, after, order = 'oldest' } = given;
  const isOrder = order === 'oldest' || order === 'newest';
  return [
    ...unknownKeys(given, ['limit', 'after', 'order', ...also]),
    expected(isWhole(limit, 1, 1_000), 'limit to be a whole number from 1 to 1000', limit),
    expected(isOrder, `order to be 'oldest' or 'newest'`, order),
    expected(
      after === undefined || !isOrder || positionOf(after, list, order) !== undefined,
      'after to be the `next` of a page of the same list in the same order',
      after,
    ),
  ];
}

/** The cursor behind that position; undefined at the end of the list. */
export function cursorOf(position: Position | undefined, list: PagedList, order: PageOrder): string | undefined {
  return position && Buffer.from(JSON.stringify([list, order, ...position])).toString('base64url');
}

function positionOf(cursor: unknown, list: PagedList, order: PageOrder): Position | undefined {
  if (typeof cursor !== 'string' || cursor.length > 200) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts[0] !== list || parts[1] !== order) return undefined;
  const position = parts.slice(2) as number[];
  return position.length === LISTS[list] && position.every(Number.isSafeInteger) ? position : undefined;
}
