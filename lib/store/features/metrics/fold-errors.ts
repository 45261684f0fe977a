import { groupBy } from '../../../common/lists.js';
import { deleteFrom, executeInBatches, query, type Work } from '../../core/statement.js';
import { ERRORS_COLUMNS, toErrorsRow, writeErrors, type StoredErrors } from './errors-row.js';
import { FOLDS } from './fold-metrics.js';
import { addErrors, MAX_ERRORS, METRICS_STEPS, OTHER_ERRORS, type ErrorsRow } from './metrics-store.js';

const LOCK_OLDEST = `
  SELECT ${ERRORS_COLUMNS}
  FROM {errors} {by errors.fold}
  WHERE step_ms = :step AND starts_at < (:now - :afterMs) - (:now - :afterMs) % :to
  ORDER BY starts_at
  LIMIT :limit {lock}`;

// All errors of that time, at most MAX_ERRORS and one: the sum of old and new rows must not have more.
const LOCK_SUMS = `
  SELECT ${ERRORS_COLUMNS}
  FROM {errors} {by primary}
  WHERE queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = 0 {lock}`;

const DELETE = deleteFrom(
  'errors',
  'queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = :recorder AND error = :error',
);

/** Returns the number of rows that it has added up, or deleted. */
export function* foldErrors(number: number, limit: number): Work<number> {
  const { from, to = METRICS_STEPS.day, afterMs } = FOLDS[number]!;
  const stored = yield* query<StoredErrors>(LOCK_OLDEST, { step: from, to, afterMs, limit });
  const rows = stored.map(toErrorsRow);
  if (FOLDS[number]!.to !== undefined) yield* addToSums(rows, to);
  yield* deleteErrors(rows);
  return rows.length;
}

function* addToSums(rows: readonly ErrorsRow[], stepMs: number): Work<void> {
  const summed = rows.map((row) => ({
    ...{ ...row, stepMs, recorder: 0 },
    startsAtMs: row.startsAtMs - (row.startsAtMs % stepMs),
  }));
  const times = [...groupBy(summed, ({ queue, startsAtMs }) => JSON.stringify([queue, startsAtMs])).values()];
  const before = yield* executeInBatches(
    times.map(([first]) => {
      const { queue, startsAtMs } = first!;
      return { sql: LOCK_SUMS, values: { queue, startsAtMs, stepMs } };
    }),
  );
  const [written, dropped]: [ErrorsRow[], ErrorsRow[]] = [[], []];
  times.forEach((added, index) => {
    const known = (before[index]!.rows as unknown as StoredErrors[]).map(toErrorsRow);
    const sums = withinMaxErrors(sumsOf([...known, ...added]));
    const kept = new Set(sums.map(({ error }) => error));
    written.push(...sums);
    dropped.push(...known.filter(({ error }) => !kept.has(error)));
  });
  yield* writeErrors(written);
  yield* deleteErrors(dropped);
}

function sumsOf(rows: readonly ErrorsRow[]): ErrorsRow[] {
  return [...groupBy(rows, ({ error }) => error).values()].map(([first, ...more]) => {
    const sum = { ...first! };
    for (const row of more) addErrors(sum, row);
    return sum;
  });
}

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

function* deleteErrors(rows: readonly ErrorsRow[]): Work<void> {
  yield* executeInBatches(
    rows.map(({ queue, stepMs, startsAtMs, recorder, error }) => ({
      sql: DELETE,
      values: { queue, stepMs, startsAtMs, recorder, error },
    })),
  );
}
