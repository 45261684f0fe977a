import type { StoreParts } from '../../rows/store-parts.js';
import { query, readTime, type Work } from '../../core/statement.js';
import { ERRORS, METRICS, METRICS_COLUMNS, toMetricsRow, type StoredMetrics } from './counted-tables.js';
import { findDueFolds } from './folded-table.js';
import {
  METRICS_STEPS,
  type ErrorsRow,
  type MetricsRange,
  type MetricsRow,
  type MetricsStore,
} from './metrics-store.js';
import { readCountedErrors } from './read-errors.js';

// A row of a longer step may begin before the range and end in it. One statement has one snapshot: rows that another
// process adds up at that moment are counted once.
const READ = Object.values(METRICS_STEPS)
  .map(
    (rowStep) => `
  SELECT ${METRICS_COLUMNS}
  FROM {metrics} {by primary}
  WHERE queue IN (:queues) AND step_ms = ${rowStep}
    AND starts_at < COALESCE(:toMs, :now)
    AND starts_at >= COALESCE(:fromMs, COALESCE(:toMs, :now) - 60 * :stepMs)
                     - COALESCE(:fromMs, COALESCE(:toMs, :now) - 60 * :stepMs)
                       % CASE WHEN :stepMs > ${rowStep} THEN :stepMs ELSE ${rowStep} END`,
  )
  .join('\n  UNION ALL');

export function sqlMetricsStore({ database }: StoreParts): MetricsStore {
  return {
    readTime: () => database.runIdempotent(readTime),
    save: (rows, errors = []) => database.runIdempotent(() => saveAll(rows, errors)),
    readErrors: (search) => database.runIdempotent(() => readCountedErrors(search)),
    read: (queues, range) => database.runIdempotent(() => readMetrics(queues, range)),

    async fold(limit) {
      let folded = 0;
      for (const { table, number } of await database.runIdempotent(findDueFolds)) {
        const { fold } = table === 'metrics' ? METRICS : ERRORS;
        folded = Math.max(folded, await database.transaction(() => fold(number, limit)));
      }
      return folded;
    },
  };
}

function* saveAll(rows: readonly MetricsRow[], errors: readonly ErrorsRow[]): Work<void> {
  yield* METRICS.write(rows);
  if (errors.length > 0) yield* ERRORS.write(errors);
}

function* readMetrics(queues: readonly string[], range: MetricsRange): Work<MetricsRow[]> {
  if (queues.length === 0) return [];
  const rows = yield* query<StoredMetrics>(READ, { queues, ...range });
  return rows.map(toMetricsRow);
}
