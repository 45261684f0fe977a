import { Histogram } from '../../../job/histogram.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import { insertInChunks, type SqlValue, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { MetricsRow } from './metrics-store.js';

export type StoredMetrics = TableRow<'metrics'>;

export const METRICS_COLUMNS = 'queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs';

const WRITE = `
  REPLACE INTO {metrics} (${METRICS_COLUMNS})
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

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

export function* writeMetrics(rows: readonly MetricsRow[]): Work<void> {
  yield* insertInChunks(WRITE, rows.map(toValues));
}

function toValues(row: MetricsRow): SqlValue[] {
  const { queue, stepMs, startsAtMs, recorder, completed, failed, dead, cancelled, waits, runs } = row;
  return [
    ...[queue, stepMs, startsAtMs, recorder, completed, failed, dead, cancelled],
    ...[waits, runs].map(({ counts }) => JSON.stringify(counts)),
  ];
}
