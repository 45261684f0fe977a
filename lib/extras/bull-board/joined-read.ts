/**
 * A read that all calls of one turn of the event loop share. No call receives an answer from before it, so a page shows
 * its own change at once.
 */
export function joinedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () =>
    (next ??= Promise.resolve().then(() => {
      next = undefined;
      return read();
    }));
}
