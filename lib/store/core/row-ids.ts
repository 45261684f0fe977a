/** The distinct ids in ascending order, in which all transactions lock the rows of a table. */
export function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

export function* idBatches(ids: readonly number[], size: number): Generator<number[]> {
  for (let from = 0; from < ids.length; from += size) yield ids.slice(from, from + size);
}
