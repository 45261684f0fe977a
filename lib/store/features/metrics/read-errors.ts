import { readErrors } from '../../../job/read-columns.js';
import { errorKey, type AttemptError, type StoredError } from '../../../job/stored-error.js';
import { executeAll, query, statement, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { COURSE_STEPS, METRICS_STEPS, type CountedError, type CourseStep, type ErrorsSearch } from './metrics-store.js';

const { process, minute, hour, day } = METRICS_STEPS;

// A read of all queues looks up each of them, so that a flood of errors costs no more than this.
const MAX_ROWS = 20_000;

const TO = 'COALESCE(:toMs, :now)';

/** The newest rows of the step that overlap the range. */
const newestOf = (step: number, from: string, which: string, index: string) => `
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM {errors} {by ${index}}
        WHERE ${which}step_ms = ${step} AND starts_at < ${TO} AND starts_at >= ${from} - ${from} % ${step || minute}
        ORDER BY starts_at DESC
        LIMIT ${MAX_ROWS}
      ) AS of_${step}`;

const rowsOf = (steps: readonly number[], from: string, ofQueue: boolean) =>
  steps
    .map((step) =>
      ofQueue ? newestOf(step, from, 'queue = :queue AND ', 'primary') : newestOf(step, from, '', 'errors.fold'),
    )
    .join('\n      UNION ALL');

const sums = (ofQueue: boolean) => `
  SELECT queue, error, SUM(failed) AS failed, SUM(dead) AS dead, MIN(first_at) AS first_at, MAX(last_at) AS last_at,
         MAX(job_id) AS job_id, ${TO} AS to_at
  FROM (${rowsOf(Object.values(METRICS_STEPS), `COALESCE(:fromMs, ${TO} - ${hour})`, ofQueue)}
  ) AS counted
  GROUP BY queue, error
  ORDER BY failed DESC, queue, error
  LIMIT :limit`;

const STEPS_OF = { minute: [process, minute], hour: [process, minute, hour], day: [process, minute, hour, day] };

/** A row belongs to the step in which it starts. */
const course = (step: CourseStep, ofQueue: boolean) => `
  SELECT queue, error, starts_at - starts_at % ${METRICS_STEPS[step]} AS starts_at, SUM(failed) AS failed
  FROM (${rowsOf(STEPS_OF[step], `(:toMs - ${COURSE_STEPS[step] * METRICS_STEPS[step]})`, ofQueue)}
  ) AS counted
  WHERE error IN (:errors)
  GROUP BY queue, error, starts_at - starts_at % ${METRICS_STEPS[step]}`;

const both = (sql: (ofQueue: boolean) => string) => ({ all: sql(false), ofQueue: sql(true) });
const courseOf = (step: CourseStep) => both((ofQueue) => course(step, ofQueue));

const SUMS = both(sums);
const COURSES = { minute: courseOf('minute'), hour: courseOf('hour'), day: courseOf('day') };

// A job is in one of them.
const JOBS = `
  SELECT id, name, error
  FROM {jobs}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id, name, error
  FROM {history}
  WHERE id IN (:ids)`;

type SumsRow = Pick<TableRow<'errors'>, 'queue' | 'error' | 'failed' | 'dead' | 'first_at' | 'last_at' | 'job_id'> & {
  readonly to_at: number;
};
type StepRow = Pick<TableRow<'errors'>, 'queue' | 'error' | 'starts_at' | 'failed'>;
type JobRow = Pick<TableRow<'jobs'>, 'id' | 'name' | 'error'>;

/** The errors with the most failed attempts first. Two round trips: one statement, then two or three. Reads without locks. */
export function* readCountedErrors({
  queue,
  fromMs,
  toMs,
  limit,
  step = 'minute',
}: ErrorsSearch): Work<CountedError[]> {
  const which = queue === null ? 'all' : 'ofQueue';
  const rows = yield* query<SumsRow>(SUMS[which], { queue, fromMs, toMs, limit });
  if (rows.length === 0) return [];
  const end = Number(rows[0]!.to_at);
  const errors = [...new Set(rows.map(({ error }) => error))];
  const ids = [...new Set(rows.map(({ job_id }) => Number(job_id)))];
  const [minutes, jobs, steps = minutes] = yield* executeAll([
    statement(COURSES.minute[which], { queue, toMs: end, errors }),
    statement(JOBS, { ids }),
    ...(step === 'minute' ? [] : [statement(COURSES[step][which], { queue, toMs: end, errors })]),
  ]);
  const lastHours = coursesOf(minutes!.rows as unknown as StepRow[], end, 'minute');
  const courses = coursesOf(steps!.rows as unknown as StepRow[], end, step);
  const byId = new Map((jobs!.rows as unknown as JobRow[]).map((job) => [Number(job.id), job]));
  return rows.map((row) => {
    const job = byId.get(Number(row.job_id));
    return {
      ...{ queue: row.queue, error: row.error, failed: Number(row.failed), dead: Number(row.dead) },
      ...{ firstAtMs: Number(row.first_at), lastAtMs: Number(row.last_at), jobId: Number(row.job_id) },
      lastHour: lastHours.get(keyOf(row)) ?? noCourse('minute'),
      course: courses.get(keyOf(row)) ?? noCourse(step),
      jobName: job?.name ?? null,
      example: job ? exampleOf(job.error, row.error) : null,
    };
  });
}

/** The newest error of the job that has the key. */
function exampleOf(text: unknown, key: string): StoredError | AttemptError | null {
  const { last, all } = readErrors(text);
  return [...(last ? [last] : []), ...[...all].reverse()].find((error) => errorKey(error) === key) ?? null;
}

function coursesOf(rows: readonly StepRow[], end: number, step: CourseStep): Map<string, number[]> {
  const ms = METRICS_STEPS[step];
  const courses = new Map<string, number[]>();
  // The range excludes its end.
  const last = Math.floor((end - 1) / ms);
  for (const row of rows) {
    const index = COURSE_STEPS[step] - 1 - (last - Math.floor(Number(row.starts_at) / ms));
    if (index < 0) continue;
    const counts = courses.get(keyOf(row)) ?? noCourse(step);
    counts[index]! += Number(row.failed);
    courses.set(keyOf(row), counts);
  }
  return courses;
}

const keyOf = ({ queue, error }: { readonly queue: string; readonly error: string }) => JSON.stringify([queue, error]);

const noCourse = (step: CourseStep) => Array.from({ length: COURSE_STEPS[step] }, () => 0);
