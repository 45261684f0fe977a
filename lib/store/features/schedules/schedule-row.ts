import { expected } from '../../../job/expectation.js';
import { isName, isWhole, NAME_EXPECTED } from '../../../job/identifiers.js';
import { defined } from '../../../job/option-schema.js';
import { jobOverridesOf, readDate, readOverrides } from '../../../job/read-columns.js';
import type { ScheduledJobOptions } from '../../../job/schedules/schedule-options.js';
import type { NewSchedule } from '../../../job/schedules/schedule.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { SqlValue } from '../../core/statement.js';
import { toDate } from '../../rows/job-record.js';
import type { ScheduleRecord } from './schedule-store.js';
import type { TableRow } from '../../tables/table-schemas.js';

export type ScheduleRow = Omit<TableRow<'schedules'>, 'declared_at'>;

/** `at`: the time of the database when it read the row. */
export type DatedRow = ScheduleRow & { readonly at: number };

export type ListedRow = ScheduleRow & { readonly is_late: number };

/** The columns that a schedule defines: see `definedValues`. */
export const DEFINED_COLUMNS = [
  ...['name', 'queue', 'job_name', 'payload', 'headers', 'options', 'priority', 'max_attempts'],
  ...['cron', 'every_ms', 'tz', 'until_at', 'missed', 'missed_limit', 'overlap', 'jitter_ms'],
];

export const SCHEDULE_COLUMNS = `${DEFINED_COLUMNS.join(', ')}, next_at, last_at, last_job_id, paused, source, digest, revision`;

/** The values of the columns that a schedule defines, by the names of the columns. */
export function definedValues({ name, job, ...timing }: NewSchedule): Record<string, SqlValue> {
  return {
    ...{ name, queue: job.queue, job_name: job.name, payload: job.payload, headers: job.headers },
    ...{ options: job.overrides, priority: job.priority, max_attempts: job.maxAttempts },
    ...{ cron: timing.cron, every_ms: timing.everyMs, tz: timing.tz, until_at: timing.untilMs },
    ...{ missed: timing.missed, missed_limit: timing.missedLimit, overlap: timing.overlap, jitter_ms: timing.jitterMs },
  };
}

/** Whether the row has the ticks of the schedule. */
export function hasSameTicks(row: ScheduleRow, { cron, everyMs, tz, untilMs }: NewSchedule): boolean {
  const { cron: rowCron, tz: rowTz, every_ms, until_at } = row;
  return rowCron === cron && rowTz === tz && numberOrNull(every_ms) === everyMs && numberOrNull(until_at) === untilMs;
}

/** Another program may have written any value into the row. */
export function readSchedule(row: ScheduleRow): { schedule: NewSchedule } | { problem: string } {
  const overrides = readOverrides(row.options);
  const [everyMs, jitterMs] = [numberOrNull(row.every_ms), Number(row.jitter_ms)];
  const [problem] = [
    expected(isName(row.queue), `queue to be ${NAME_EXPECTED}`, row.queue),
    expected(isName(row.job_name), `job_name to be ${NAME_EXPECTED}`, row.job_name),
    expected((row.cron === null) !== (everyMs === null), 'either cron or every_ms', [row.cron, everyMs]),
    expected(everyMs === null || isWhole(everyMs, 100, Number.MAX_SAFE_INTEGER), 'every_ms to be 100 or more', everyMs),
    expected(isWhole(jitterMs, 0, Number.MAX_SAFE_INTEGER), 'jitter_ms to be 0 or more', jitterMs),
    expected(['skip', 'once', 'all'].includes(row.missed), `missed to be 'skip', 'once' or 'all'`, row.missed),
    expected(
      ['allow', 'skip', 'one-waiting'].includes(row.overlap),
      `overlap to be 'allow', 'skip' or 'one-waiting'`,
      row.overlap,
    ),
    expected(isWhole(row.missed_limit, 1, 1_000), 'missed_limit to be 1 to 1000', row.missed_limit),
    'problem' in overrides ? `options: ${overrides.problem}` : undefined,
  ].filter((line) => line !== undefined);
  if (problem !== undefined) return { problem };
  const { name, queue, job_name, payload, headers, options, priority, max_attempts, cron, tz } = row;
  const job = { queue, name: job_name, payload, headers, overrides: options, priority, maxAttempts: max_attempts };
  return {
    schedule: {
      name,
      job: { ...job, delayMs: null, runAtMs: null },
      ...{ cron, everyMs, tz, jitterMs, untilMs: numberOrNull(row.until_at) },
      ...{ missed: row.missed, missedLimit: row.missed_limit, overlap: row.overlap },
    },
  };
}

export function toScheduleRecord(row: ListedRow): ScheduleRecord {
  const { name, queue, job_name, cron, tz, missed, missed_limit, overlap, paused, source, revision } = row;
  return {
    ...{ name, queue, jobName: job_name, cron, tz, revision },
    everyMs: numberOrNull(row.every_ms),
    payload: parseJsonOrNull(row.payload),
    options: jobOptionsOf(row),
    missed: missed === 'all' ? { all: missed_limit } : missed,
    overlap,
    jitterMs: Number(row.jitter_ms),
    until: toDate(readDate(row.until_at)),
    nextAt: toDate(readDate(row.next_at)),
    lastAt: toDate(readDate(row.last_at)),
    lastJobId: numberOrNull(row.last_job_id),
    isPaused: paused !== 0,
    isLate: Number(row.is_late) === 1,
    source,
  };
}

/** Without the options that another program has written badly. */
function jobOptionsOf({ options, headers, priority, max_attempts }: ScheduleRow): ScheduledJobOptions {
  const { backoff, timeoutMs, expiresInMs, leaseMs, retention } = jobOverridesOf(options);
  const attempts = numberOrNull(max_attempts) ?? undefined;
  const hasRetry = attempts !== undefined || backoff !== undefined;
  return defined<ScheduledJobOptions>({
    priority: Number(priority) || undefined,
    retry: hasRetry ? defined({ attempts, backoff }) : undefined,
    ...{ timeout: timeoutMs, expiresIn: expiresInMs, lease: leaseMs },
    retention: retention && defined({ completed: retention.completedMs, dead: retention.deadMs }),
    headers: parseJsonOrNull<Record<string, string>>(headers) ?? undefined,
  });
}

export function numberOrNull(value: number | null): number | null {
  return value === null ? null : Number(value);
}
