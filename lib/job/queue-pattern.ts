/** Whether a pattern names the queue: itself, or with a `*` at its end every queue that begins so. */
export function matches(pattern: string, queue: string): boolean {
  return pattern.endsWith('*') ? queue.startsWith(pattern.slice(0, -1)) : pattern === queue;
}

export function matchesAny(patterns: readonly string[], queue: string): boolean {
  return patterns.some((pattern) => matches(pattern, queue));
}
