import { toJobSchedule } from '../../job/schedules/job-schedule.js';
import type { JobRecord } from '../../job/job.js';
import type { JobState } from '../../job/job-state.js';
import { jobOverridesOf, readDate, readErrors } from '../../job/read-columns.js';
import { readHeaders } from '../../job/json.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { safeId } from '../../job/identifiers.js';
import type { ClaimedRow } from './claimed-row.js';
import type { TableRow } from '../tables/table-schemas.js';

/** A row of the jobs or of the history, with the same columns. */
export type RecordRow = ClaimedRow &
  Pick<TableRow<'jobs'>, 'run_at'> &
  Pick<TableRow<'history'>, 'queue' | 'result' | 'started_at' | 'worker_id' | 'owner'> & {
    readonly state: JobState;
    readonly finished_at: number | null;
    readonly progress: string | null;
  };

/** A plain INSERT of another program with run_at may leave the state at its default. */
export const LIVE_STATE = `CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END`;

/** Columns of the jobs `j` and their claims `c`. */
export const LIVE_COLUMNS = `
         j.id, j.queue, j.name, ${LIVE_STATE} AS state, j.priority, j.attempt, j.max_attempts, j.payload, j.headers,
         j.options, j.error, NULL AS result, j.created_at, j.run_at, j.due_at, c.claimed_at AS started_at, NULL AS finished_at, j.group_key, c.worker_id,
         c.owner, (SELECT p.value FROM {progress} p WHERE p.job_id = j.id) AS progress`;

export const READ_LIVE = `
  SELECT ${LIVE_COLUMNS}
  FROM {jobs} j {by primary} LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE j.id IN (:ids)`;

/** Columns of the history `h`. */
const FINISHED_COLUMNS = `h.id, h.queue, h.name, h.state, h.priority, h.attempt, h.max_attempts, h.payload, h.headers,
         h.options, h.error, h.result, h.created_at, NULL AS run_at, h.due_at, h.started_at, h.finished_at, '' AS group_key, h.worker_id,
         h.owner, (SELECT p.value FROM {progress} p WHERE p.job_id = h.id) AS progress`;

export const READ_FINISHED = `
  SELECT ${FINISHED_COLUMNS}
  FROM {history} h {by primary}
  WHERE h.id IN (:ids)`;

export function toJobRecord(row: RecordRow): JobRecord {
  const headers = readHeaders(row.headers);
  const { key, group, flow, schedule } = jobOverridesOf(row.options);
  const errors = readErrors(row.error);
  return {
    id: safeId(row.id),
    queue: row.queue,
    name: row.name,
    state: row.state,
    priority: row.priority,
    payload: parseJsonOrNull<unknown>(row.payload),
    headers: 'headers' in headers ? headers.headers : {},
    key: key || null,
    group: row.group_key || group || null,
    flow: flow ?? null,
    schedule: schedule ? toJobSchedule(schedule) : null,
    attempt: row.attempt,
    // 0 until the first claim, if enqueue did not set it.
    maxAttempts: row.max_attempts || null,
    progress: parseJsonOrNull<unknown>(row.progress),
    result: parseJsonOrNull<unknown>(row.result),
    error: errors.last,
    errors: errors.all,
    createdAt: new Date(Number(row.created_at)),
    runAt: toDate(row.run_at),
    dueAt: row.run_at === null ? toDate(readDate(row.due_at)) : null,
    startedAt: toDate(row.started_at),
    finishedAt: toDate(row.finished_at),
    worker: row.worker_id,
    owner: row.owner || null,
  };
}

export function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(Number(ms));
}
