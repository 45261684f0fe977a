import { NO_LIMITS } from '../../../job/limits/limit-options.js';
import type { Dialect } from '../../core/sql-database.js';
import { query, type Work } from '../../core/statement.js';
import { jobsAllowed } from '../../../job/limits/rate.js';
import { LIMIT_COLUMNS, limitsOf, overridesOf, type LimitsRow } from '../limits/limits-row.js';
import { settingsOf } from './settings-row.js';
import type { QueueRecord } from './queue-store.js';
import type { TableRow } from '../../tables/table-schemas.js';

const QUEUES = `
  SELECT queue, paused, expires_after_ms, settings
  FROM {queues}`;

const LIMITS = `
  SELECT queue, ${LIMIT_COLUMNS}, :now AS at
  FROM {limits}`;

type QueueRow = Pick<TableRow<'queues'>, 'queue' | 'paused' | 'expires_after_ms' | 'settings'>;
type QueueLimitsRow = LimitsRow & Pick<TableRow<'limits'>, 'queue'> & { readonly at: number };

const WITHOUT_LIMITS = { ...NO_LIMITS, rateLeft: null, restsUntil: null };

/**
 * All queues by name. Reads the queues of the jobs too, because an enqueue writes no row for its queue: that would cost one more statement.
 */
export function* readQueues(dialect: Dialect): Work<QueueRecord[]> {
  const names = yield* dialect.queueNames('jobs');
  const rows = yield* query<QueueRow>(QUEUES);
  const limits = yield* query<QueueLimitsRow>(LIMITS);
  const records = new Map<string, QueueRecord>();
  for (const queue of [...names, ...limits.map((row) => row.queue)])
    records.set(queue, { queue, paused: false, expiresAfterMs: null, ...WITHOUT_LIMITS, settings: {} });
  for (const { queue, paused, expires_after_ms, settings: stored } of rows) {
    const expiresAfterMs = expires_after_ms === null ? null : Number(expires_after_ms);
    const settings = { ...settingsOf({ settings: stored }), ...(paused > 0 && { paused: true as const }) };
    records.set(queue, { queue, paused: paused > 0, expiresAfterMs, ...WITHOUT_LIMITS, settings });
  }
  for (const row of limits) {
    const isResting = Number(row.rest_until) > Number(row.at);
    const limits = limitsOf(row);
    const use = { untilUs: Number(row.rate_until_us), used: Number(row.rate_used) };
    const rateLeft = limits.rate === null ? null : jobsAllowed(limits.rate, use, Number(row.at));
    const restsUntil = isResting ? new Date(Number(row.rest_until)) : null;
    const known = records.get(row.queue)!;
    const settings = { ...known.settings, ...overridesOf(row) };
    records.set(row.queue, { ...known, ...limits, rateLeft, restsUntil, settings });
  }
  return [...records.values()].sort((a, b) => (a.queue < b.queue ? -1 : 1));
}
