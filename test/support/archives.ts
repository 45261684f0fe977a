import type { Archives } from '../../lib/store/archive.js';

/** One archive for all queues. */
export function archivedTo(to: string): Archives {
  return { tables: [to], of: () => to };
}
