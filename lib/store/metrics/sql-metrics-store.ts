import type { SqlDatabase } from '../core/sql-database.js';
import { executeAll, query, type Work } from '../core/statement.js';
import { findDueFolds, foldMetrics } from './fold-metrics.js';
import { METRICS_COLUMNS, toMetricsRow, writeMetrics, type StoredMetrics } from './metrics-row.js';
import { METRICS_STEPS, type MetricsRange, type MetricsRow, type MetricsStore } from './metrics-store.js';

const TIME = `
  SELECT :now AS at`;

// A row of a longer step may begin before the range and end in it.
const READ = `
  SELECT ${METRICS_COLUMNS}
  FROM {metrics} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND step_ms = :rowStep
    AND starts_at < COALESCE(:toMs, :now)
    AND starts_at >= COALESCE(:fromMs, COALESCE(:toMs, :now) - 60 * :stepMs)
                     - COALESCE(:fromMs, COALESCE(:toMs, :now) - 60 * :stepMs) % :longest
  ORDER BY starts_at`;

export class SqlMetricsStore implements MetricsStore {
  constructor(private readonly database: SqlDatabase) {}

  async readTime(): Promise<number> {
    const [row] = await this.database.runIdempotent(() => query<{ at: number }>(TIME));
    return Number(row!.at);
  }

  save(rows: readonly MetricsRow[]): Promise<void> {
    return this.database.runIdempotent(() => writeMetrics(rows));
  }

  read(queue: string, range: MetricsRange): Promise<MetricsRow[]> {
    return this.database.runIdempotent(() => readMetrics(queue, range));
  }

  async fold(limit: number): Promise<number> {
    let folded = 0;
    for (const number of await this.database.runIdempotent(() => findDueFolds()))
      folded = Math.max(folded, await this.database.transaction(() => foldMetrics(number, limit)));
    return folded;
  }
}

function* readMetrics(queue: string, { fromMs, toMs, stepMs }: MetricsRange): Work<MetricsRow[]> {
  const results = yield* executeAll(
    Object.values(METRICS_STEPS).map((rowStep) => ({
      sql: READ,
      values: { queue, rowStep, longest: Math.max(rowStep, stepMs), fromMs, toMs, stepMs },
    })),
  );
  return results.flatMap(({ rows }) => (rows as unknown as StoredMetrics[]).map(toMetricsRow));
}
