let largest = Infinity;

/**
 * The number of rows that one page, batch or LIMIT of the store has: `rows`, unless a test asked for smaller pages. The
 * limit and the check for a further page must use one value, so a verb calls this once.
 */
export function pageSize(rows: number): number {
  return Math.min(rows, largest);
}

/** For tests: no page of the store has more than `rows` rows, so that four rows are more than one page. */
export function limitPages(rows: number): void {
  largest = rows;
}

export function* batchesOf<Item>(items: readonly Item[], maxSize: number): Generator<Item[]> {
  const size = pageSize(maxSize);
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** Keeps the order of the items, and of the keys by their first items. Map.groupBy needs Node 21. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
