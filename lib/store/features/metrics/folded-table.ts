import { groupBy } from '../../../common/lists.js';
import { executeInBatches, insertInChunks, query, type SqlValue, type Work } from '../../core/statement.js';
import { METRICS_STEPS, type MetricsPlace } from './metrics-store.js';

const { process, minute, hour, day } = METRICS_STEPS;

/** A fold without `to` deletes the rows. */
const FOLDS = [
  { from: process, to: minute, afterMs: 10 * minute },
  { from: minute, to: hour, afterMs: day },
  { from: hour, to: day, afterMs: 30 * day },
  { from: day, to: undefined, afterMs: 365 * day },
] as const;

const TABLES = ['metrics', 'errors'] as const;

type Counts = MetricsPlace & { readonly error?: string };

interface TableOfCounts<Row extends Counts> {
  readonly table: (typeof TABLES)[number];
  /** Ten columns. */
  readonly columns: string;
  readonly remove: string;
  toRow(stored: object): Row;
  toValues(row: Row): SqlValue[];
  /** The sums of the rows of one queue and time. */
  sumsOf(rows: readonly Row[]): Row[];
}

/** A table of counts: of each process and minute, and their sums. */
export function foldedTable<Row extends Counts>(given: TableOfCounts<Row>) {
  const { table, columns, remove, toRow, toValues, sumsOf } = given;

  const replace = `
  REPLACE INTO {${table}} (${columns})
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

  // Only whole minutes, hours or days, so that a time is in one row.
  const lockOldest = `
  SELECT ${columns}
  FROM {${table}} {by ${table}.fold}
  WHERE step_ms = :step AND starts_at < (:now - :afterMs) - (:now - :afterMs) % :to
  ORDER BY starts_at
  LIMIT :limit {lock}`;

  // All rows of that time which were added up before: the sum of old and new errors must not have more than MAX_ERRORS.
  const lockSums = `
  SELECT ${columns}
  FROM {${table}} {by primary}
  WHERE queue = :queue AND step_ms = :stepMs AND starts_at = :startsAtMs AND recorder = 0 {lock}`;

  function* write(rows: readonly Row[]): Work<void> {
    yield* insertInChunks(replace, rows.map(toValues));
  }

  /** Returns the number of rows that it has added up, or deleted. */
  function* fold(number: number, limit: number): Work<number> {
    const { from, to, afterMs } = FOLDS[number]!;
    const rows = (yield* query<object>(lockOldest, { step: from, to: to ?? day, afterMs, limit })).map(toRow);
    if (to !== undefined) yield* addToSums(rows, to);
    yield* deleteRows(rows);
    return rows.length;
  }

  function* addToSums(rows: readonly Row[], stepMs: number): Work<void> {
    const summed = rows.map((row): Row => {
      const startsAtMs = row.startsAtMs - (row.startsAtMs % stepMs);
      return { ...row, stepMs, startsAtMs, recorder: 0 };
    });
    const times = [...groupBy(summed, ({ queue, startsAtMs }) => JSON.stringify([queue, startsAtMs])).values()];
    const before = yield* executeInBatches(
      times.map(([first]) => {
        const { queue, startsAtMs } = first!;
        return { sql: lockSums, values: { queue, startsAtMs, stepMs } };
      }),
    );
    const [written, dropped]: [Row[], Row[]] = [[], []];
    times.forEach((added, index) => {
      const known = before[index]!.rows.map(toRow);
      const sums = sumsOf([...known, ...added]);
      written.push(...sums);
      dropped.push(...known.filter(({ error }) => !sums.some((sum) => sum.error === error)));
    });
    yield* write(written);
    yield* deleteRows(dropped);
  }

  function* deleteRows(rows: readonly Counts[]): Work<void> {
    yield* executeInBatches(
      rows.map(({ queue, stepMs, startsAtMs, recorder, error = '' }) => ({
        sql: remove,
        values: { queue, stepMs, startsAtMs, recorder, error },
      })),
    );
  }

  return { write, fold };
}

const ALL_FOLDS = TABLES.flatMap((table) => [...FOLDS.keys()].map((number) => ({ table, number })));

const hasOld = ({ table, number }: (typeof ALL_FOLDS)[number]) => {
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

/** The folds that have rows to add up or to delete, by their table and number. Each is one transaction. */
export function* findDueFolds(): Work<typeof ALL_FOLDS> {
  const [row] = yield* query<Record<string, number>>(DUE_FOLDS);
  return ALL_FOLDS.filter(({ table, number }) => Number(row![`${table}_${number}`]) > 0);
}
