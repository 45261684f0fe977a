import { groupBy } from '../../../common/lists.js';
import { Histogram } from '../../../job/histogram.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import { deleteFrom } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { foldedTable } from './folded-table.js';
import {
  addErrors,
  addSums,
  emptySums,
  MAX_ERRORS,
  OTHER_ERRORS,
  type ErrorsRow,
  type MetricsRow,
} from './metrics-store.js';

export type StoredMetrics = TableRow<'metrics'>;

export const METRICS_COLUMNS = 'queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs';

export const METRICS = foldedTable<MetricsRow>({
  table: 'metrics',
  columns: METRICS_COLUMNS,
  remove: deleteFrom(
    'metrics',
    'queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = :recorder',
  ),
  toRow: toMetricsRow,
  toValues: ({ queue, stepMs, startsAtMs, recorder, completed, failed, dead, cancelled, waits, runs }) => [
    ...[queue, stepMs, startsAtMs, recorder, completed, failed, dead, cancelled],
    ...[waits, runs].map(({ counts }) => JSON.stringify(counts)),
  ],
  sumsOf(rows) {
    const sum = { ...rows[0]!, ...emptySums() };
    for (const row of rows) addSums(sum, row);
    return [sum];
  },
});

export function toMetricsRow(row: StoredMetrics): MetricsRow {
  return {
    queue: row.queue,
    stepMs: Number(row.step_ms),
    startsAtMs: Number(row.starts_at),
    recorder: Number(row.recorder),
    completed: Number(row.completed),
    failed: Number(row.failed),
    dead: Number(row.dead),
    cancelled: Number(row.cancelled),
    waits: Histogram.from(parseJsonOrNull(row.waits)),
    runs: Histogram.from(parseJsonOrNull(row.runs)),
  };
}

export const ERRORS = foldedTable<ErrorsRow>({
  table: 'errors',
  columns: 'queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id',
  remove: deleteFrom(
    'errors',
    'queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = :recorder AND error = :error',
  ),
  toRow: (row: TableRow<'errors'>) => ({
    queue: row.queue,
    stepMs: Number(row.step_ms),
    startsAtMs: Number(row.starts_at),
    recorder: Number(row.recorder),
    error: String(row.error),
    failed: Number(row.failed),
    dead: Number(row.dead),
    firstAtMs: Number(row.first_at),
    lastAtMs: Number(row.last_at),
    jobId: Number(row.job_id),
  }),
  toValues: ({ queue, stepMs, startsAtMs, recorder, error, failed, dead, firstAtMs, lastAtMs, jobId }) => [
    ...[queue, stepMs, startsAtMs, recorder, error, failed, dead, firstAtMs, lastAtMs, jobId],
  ],
  sumsOf(rows) {
    const sums = [...groupBy(rows, ({ error }) => error).values()].map(([first, ...more]) => {
      const sum = { ...first! };
      for (const row of more) addErrors(sum, row);
      return sum;
    });
    return withinMaxErrors(sums);
  },
});

/** Those of one queue and time: the most frequent MAX_ERRORS, and the others in one row. */
export function withinMaxErrors(rows: readonly ErrorsRow[]): ErrorsRow[] {
  const named = rows.filter(({ error }) => error !== OTHER_ERRORS);
  if (named.length <= MAX_ERRORS) return [...rows];
  named.sort((a, b) => b.failed - a.failed || (a.error < b.error ? -1 : 1));
  const [first, ...more] = [...named.slice(MAX_ERRORS), ...rows.filter(({ error }) => error === OTHER_ERRORS)];
  const others = { ...first!, error: OTHER_ERRORS };
  for (const row of more) addErrors(others, row);
  return [...named.slice(0, MAX_ERRORS), others];
}
