import { pageSize } from './page-size.js';

export function* batchesOf<Item>(items: readonly Item[], maxSize: number): Generator<Item[]> {
  const size = pageSize(maxSize);
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
