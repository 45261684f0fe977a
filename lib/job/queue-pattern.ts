import { kind } from './option-schema.js';
import type { QueuePattern } from './queue-jobs.js';

export const QUEUE_PATTERNS = kind(
  `a list of queue names or patterns such as 'email.*'`,
  (value): value is readonly QueuePattern[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
);

/** Whether a pattern matches the queue. A `*` at its end matches every queue with that prefix. */
export function matches(pattern: string, queue: string): boolean {
  return pattern.endsWith('*') ? queue.startsWith(pattern.slice(0, -1)) : pattern === queue;
}

export function matchesAny(patterns: readonly string[], queue: string): boolean {
  return patterns.some((pattern) => matches(pattern, queue));
}

/** Whether `worker.queues` lets this process work the queue. */
export function isWorkedHere(
  { include, exclude = [] }: { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] },
  queue: string,
): boolean {
  return (!include || matchesAny(include, queue)) && !matchesAny(exclude, queue);
}
