import { useEffect, useState } from 'preact/hooks';
import { read, type Query } from '../api.js';
import { useRead, type Reading } from './use-read.js';

/** The first pages of a list. `next` is null if these are all. */
export interface Pages<Answer> {
  readonly pages: readonly Answer[];
  readonly next: string | null;
}

export interface PagesReading<Answer> extends Reading<Pages<Answer>> {
  showMore(): void;
}

// Each read has all pages that are shown.
const EVERY_MS = 5_000;

/** The first page of a list, and one more after each call of `showMore`, all of which follow the live updates. */
export function usePages<Answer extends { readonly next: string | null }>(
  name: string,
  query: Query,
  isAllowed = true,
): PagesReading<Answer> {
  const [count, setCount] = useState(1);
  const none: Pages<Answer> = { pages: [], next: null };
  const reading = useRead(
    JSON.stringify([name, query, isAllowed]),
    () => (isAllowed ? readPages<Answer>(name, query, count) : Promise.resolve(none)),
    EVERY_MS,
  );
  useEffect(() => {
    if (count > 1) reading.reload();
  }, [count]);
  return { ...reading, showMore: () => setCount(count + 1) };
}

/** One after the other, so that a list that changes meanwhile has no gap. */
async function readPages<Answer extends { readonly next: string | null }>(
  name: string,
  query: Query,
  count: number,
): Promise<Pages<Answer>> {
  const pages: Answer[] = [];
  let next: string | null = null;
  do {
    const page: Answer = await read<Answer>(name, { ...query, after: next });
    pages.push(page);
    next = page.next;
  } while (next !== null && pages.length < count);
  return { pages, next };
}
