import { NO_LIMITS } from '../../job/limits/limit-options.js';
import type { Dialect } from '../core/sql-database.js';
import { query, type Work } from '../core/statement.js';
import { limitsOf, type LimitsRow } from '../limits/limits-row.js';
import type { QueueRecord } from './admin-store.js';

const QUEUES = `
  SELECT queue, paused, expires_after_ms
  FROM {queues}`;

const LIMITS = `
  SELECT queue, declared, overrides, rest_until, :now AS at
  FROM {limits}`;

interface QueueRow {
  queue: string;
  paused: number;
  expires_after_ms: number | null;
}

interface QueueLimitsRow extends Pick<LimitsRow, 'declared' | 'overrides' | 'rest_until'> {
  readonly queue: string;
  readonly at: number;
}

/**
 * All queues by name. Reads the queues of the jobs too, because an enqueue writes no row for its queue: that would cost one more statement.
 */
export function* readQueues(dialect: Dialect): Work<QueueRecord[]> {
  const names = yield* dialect.queueNames('jobs');
  const rows = yield* query<QueueRow>(QUEUES);
  const limits = yield* query<QueueLimitsRow>(LIMITS);
  const records = new Map<string, QueueRecord>();
  for (const queue of [...names, ...limits.map((row) => row.queue)])
    records.set(queue, { queue, paused: false, expiresAfterMs: null, ...NO_LIMITS, restsUntil: null });
  for (const { queue, paused, expires_after_ms } of rows) {
    const expiresAfterMs = expires_after_ms === null ? null : Number(expires_after_ms);
    records.set(queue, { queue, paused: paused > 0, expiresAfterMs, ...NO_LIMITS, restsUntil: null });
  }
  for (const row of limits) {
    const isResting = Number(row.rest_until) > Number(row.at);
    const restsUntil = isResting ? new Date(Number(row.rest_until)) : null;
    records.set(row.queue, { ...records.get(row.queue)!, ...limitsOf(row), restsUntil });
  }
  return [...records.values()].sort((a, b) => (a.queue < b.queue ? -1 : 1));
}
