import type { PageOrder } from '../../job/page-options.js';
import { query, type SqlValue, type Work } from '../core/statement.js';
import { pageSize } from '../../common/page-size.js';

/** Ranges that may have the next entries of a list. */
export interface NextRanges<Range> {
  readonly chosen: readonly Range[];
  /** The value of the first entry of all other ranges; undefined: these have no further entry. */
  readonly rest: number | undefined;
}

// MySQL allows 4,096 columns in an answer.
const MAX_SUBQUERIES = 250;
// With fewer ranges, reading each of them takes no more statements.
const MIN_RANGES = 32;

/**
 * The `limit` ranges whose first entries come first, so that a list of ten thousand queues reads only a few of them to the
 * end of a page. One dive into the index for each range.
 *
 * @param firstOf a subquery for the first value of the range beyond the cursor, whose values end with `index`
 */
export function* nextRanges<Range>(
  ranges: readonly Range[],
  limit: number,
  order: PageOrder,
  cursor: Readonly<Record<string, SqlValue>>,
  firstOf: (range: Range, index: number) => readonly [sql: string, values: Readonly<Record<string, SqlValue>>],
): Work<NextRanges<Range>> {
  if (ranges.length <= pageSize(MIN_RANGES)) return { chosen: ranges, rest: undefined };
  const found: { readonly range: Range; readonly first: number }[] = [];
  const size = pageSize(MAX_SUBQUERIES);
  for (let from = 0; from < ranges.length; from += size) {
    const batch = ranges.slice(from, from + size);
    const subqueries = batch.map(firstOf);
    const values = Object.assign({ ...cursor }, ...subqueries.map(([, own]) => own)) as Record<string, SqlValue>;
    const columns = subqueries.map(([sql], index) => `(${sql}) AS first_${index}`);
    const [row] = yield* query<Record<string, number | null>>(`SELECT ${columns.join(',')}`, values);
    batch.forEach((range, index) => {
      const first = row![`first_${index}`];
      if (first !== null && first !== undefined) found.push({ range, first: Number(first) });
    });
  }
  found.sort((a, b) => (order === 'oldest' ? a.first - b.first : b.first - a.first));
  return { chosen: found.slice(0, limit).map(({ range }) => range), rest: found[limit]?.first };
}
