import type { Archives } from '../../lib/store/tables/archive-options.js';

/** One archive for all queues. */
export function archivedTo(to: string): Archives {
  return { tables: [to], tableOf: () => to };
}
