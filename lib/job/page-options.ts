import { InvalidOptionsError } from './errors.js';
import { expected, isOptions } from './expectation.js';
import { oneOf, option, optionProblems, resolveOptions, whole } from './option-schema.js';
import { readJson } from './json.js';

/** One page of a list. */
export interface PageOptions {
  /** The largest number of entries, 1 to 1,000. Default 100. */
  limit?: number;
  /** The `next` of the previous page. Default: the start of the list. */
  after?: string | undefined;
  /** Which end of the list comes first. Default `'oldest'`. */
  order?: PageOrder;
}

export type PageOrder = 'oldest' | 'newest';

export interface Page {
  /** The `after` of the next page; undefined at the end of the list. */
  next?: string;
}

export type PagePosition = readonly (number | string)[];

/** A checked page. */
export interface PageRequest {
  readonly limit: number;
  readonly after?: PagePosition | undefined;
  readonly order: PageOrder;
}

const NUMBER = 'number';

/** The types of the parts of a position in each list: an id, or the sort columns and then the id. */
const POSITIONS = {
  jobs: [NUMBER],
  scheduled: [NUMBER, 'string', NUMBER, NUMBER],
  logs: [NUMBER],
  unassigned: [NUMBER, NUMBER],
  assigned: [NUMBER],
  stage: [NUMBER, NUMBER],
  audit: [NUMBER, NUMBER],
  signals: [NUMBER, 'string'],
  steps: ['string'],
  flows: [NUMBER],
  waits: ['string', NUMBER, 'string'],
} as const;

export type PagedList = keyof typeof POSITIONS;

// A cursor with the longest group.
const MAX_CURSOR_LENGTH = 1_000;

const ORDER = oneOf('oldest', 'newest');
const PAGE_OPTIONS = { limit: option(whole(1, 1_000), 100), order: option(ORDER, 'oldest') };

export function resolvePage(where: string, given: PageOptions, list: PagedList): PageRequest {
  InvalidOptionsError.throwIfAny(where, pageProblems(given, list));
  const page = resolveOptions(PAGE_OPTIONS, given);
  return { ...page, ...(given.after !== undefined && { after: positionOf(given.after, list, page.order)! }) };
}

/** @param also further options in the same object, which the caller checks */
export function pageProblems(
  given: PageOptions,
  list: PagedList,
  also: readonly string[] = [],
): (string | undefined)[] {
  if (!isOptions(given)) return [expected(false, 'a page to be an object', given)];
  const { after, order: givenOrder = 'oldest' } = given;
  const order = ORDER.parse(givenOrder);
  return [
    ...optionProblems(PAGE_OPTIONS, given, { also: ['after', ...also] }),
    expected(
      after === undefined || order === undefined || positionOf(after, list, order) !== undefined,
      'after to be the `next` of a page of the same list in the same order',
      after,
    ),
  ];
}

/** The page that was found, with the position of its end as a cursor. */
export function pageOf<Found extends { readonly next?: PagePosition }>(
  { next, ...entries }: Found,
  list: PagedList,
  { order }: PageRequest,
): Omit<Found, 'next'> & Page {
  return { ...entries, ...(next && { next: cursorOf(next, list, order) }) };
}

/** The cursor after the position. */
export function cursorOf(position: PagePosition, list: PagedList, order: PageOrder): string {
  return Buffer.from(JSON.stringify([list, order, ...position])).toString('base64url');
}

function positionOf(cursor: unknown, list: PagedList, order: PageOrder): PagePosition | undefined {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) return undefined;
  const parsed = readJson(Buffer.from(cursor, 'base64url').toString());
  const parts = 'value' in parsed ? parsed.value : undefined;
  if (!Array.isArray(parts) || parts[0] !== list || parts[1] !== order) return undefined;
  const position = parts.slice(2) as unknown[];
  const types = POSITIONS[list];
  const isPart = (part: unknown, index: number) =>
    types[index] === NUMBER ? Number.isSafeInteger(part) : typeof part === types[index];
  return position.length === types.length && position.every(isPart) ? (position as (number | string)[]) : undefined;
}
