import { deleteFrom, query, executeInBatches, type Work } from '../../core/statement.js';
import { METRICS_COLUMNS, toMetricsRow, writeMetrics, type StoredMetrics } from './metrics-row.js';
import { addSums, emptySums, METRICS_STEPS, type MetricsRow } from './metrics-store.js';

const { process, minute, hour, day } = METRICS_STEPS;

/** Of the metrics and of the counted errors. A fold without `to` deletes the rows. */
export const FOLDS = [
  { from: process, to: minute, afterMs: 10 * minute },
  { from: minute, to: hour, afterMs: day },
  { from: hour, to: day, afterMs: 30 * day },
  { from: day, to: undefined, afterMs: 365 * day },
] as const;

// Only whole minutes, hours or days, so that a time is in one row.
const LOCK_OLDEST = `
  SELECT ${METRICS_COLUMNS}
  FROM {metrics} {by metrics.fold}
  WHERE step_ms = :step AND starts_at < (:now - :afterMs) - (:now - :afterMs) % :to
  ORDER BY starts_at
  LIMIT :limit {lock}`;

const LOCK_ONE = `
  SELECT ${METRICS_COLUMNS}
  FROM {metrics} {by primary}
  WHERE queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = 0 {lock}`;

const DELETE = deleteFrom(
  'metrics',
  'queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = :recorder',
);

const FOLDED_TABLES = ['metrics', 'errors'] as const;

interface DueFold {
  readonly table: (typeof FOLDED_TABLES)[number];
  /** The place in FOLDS. */
  readonly number: number;
}

const ALL_FOLDS: readonly DueFold[] = FOLDED_TABLES.flatMap((table) =>
  [...FOLDS.keys()].map((number) => ({ table, number })),
);

const hasOld = ({ table, number }: DueFold) => {
  const { from, to = day, afterMs } = FOLDS[number]!;
  return `
         EXISTS (
           SELECT 1
           FROM {${table}} {by ${table}.fold}
           WHERE step_ms = ${from} AND starts_at < (:now - ${afterMs}) - (:now - ${afterMs}) % ${to}
         ) AS ${table}_${number}`;
};

const DUE_FOLDS = `
  SELECT ${ALL_FOLDS.map(hasOld).join(',')}`;

/** The folds that have rows to add up or to delete. Each is one transaction. */
export function* findDueFolds(): Work<DueFold[]> {
  const [row] = yield* query<Record<string, number>>(DUE_FOLDS);
  return ALL_FOLDS.filter(({ table, number }) => Number(row![`${table}_${number}`]) > 0);
}

/** Returns the number of rows that it has added up, or deleted. */
export function* foldMetrics(number: number, limit: number): Work<number> {
  const { from, to = day, afterMs } = FOLDS[number]!;
  const stored = yield* query<StoredMetrics>(LOCK_OLDEST, { step: from, to, afterMs, limit });
  const rows = stored.map(toMetricsRow);
  if (FOLDS[number]!.to !== undefined) yield* addToSums(rows, to);
  yield* deleteMetrics(rows);
  return rows.length;
}

function* deleteMetrics(rows: readonly MetricsKey[]): Work<void> {
  yield* executeInBatches(rows.map((row) => ({ sql: DELETE, values: keyOf(row) })));
}

function* addToSums(rows: readonly MetricsRow[], stepMs: number): Work<void> {
  const sums = new Map<string, MetricsRow>();
  for (const row of rows) {
    const startsAtMs = row.startsAtMs - (row.startsAtMs % stepMs);
    const key = JSON.stringify([row.queue, startsAtMs]);
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { queue: row.queue, startsAtMs, stepMs, recorder: 0, ...emptySums() }));
    addSums(sum, row);
  }
  // Some rows of that time may have been added up before.
  const all = [...sums.values()];
  const before = yield* executeInBatches(all.map((sum) => ({ sql: LOCK_ONE, values: keyOf(sum) })));
  before.forEach(({ rows: [row] }, index) => {
    if (row) addSums(all[index]!, toMetricsRow(row as unknown as StoredMetrics));
  });
  yield* writeMetrics(all);
}

type MetricsKey = Pick<MetricsRow, 'queue' | 'stepMs' | 'startsAtMs' | 'recorder'>;

function keyOf({ queue, stepMs, startsAtMs, recorder }: MetricsKey) {
  return { queue, stepMs, startsAtMs, recorder };
}
