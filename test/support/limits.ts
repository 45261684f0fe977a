import type { Rate } from '../../lib/job/limits/limit-options.js';
import type { QueueRecord } from '../../lib/store/features/queues/queue-store.js';

/** The limits and settings of a QueueRecord without any. */
export const UNLIMITED = {
  ...{ maxRunning: null, rate: null, rateLeft: null, restsUntil: null },
  settings: {},
} as const satisfies Partial<QueueRecord>;

export const FAST_RATE: Rate = { limit: 1_000_000, perMs: 1_000, burst: 1_000_000, window: 'sliding' };
