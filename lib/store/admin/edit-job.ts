import { withoutOriginHeaders } from '../../job/dead-letter.js';
import type { JobOverrides } from '../../job/job-overrides.js';
import type { NewJob } from '../../job/job.js';
import { jobOverridesOf, readOverrides } from '../../job/read-columns.js';
import { execute, executeAll, query, type Statement, type Work } from '../core/statement.js';
import { deleteEarlierRuns, findEarlierRuns, withoutExpiry, withRestart } from '../ends/earlier-runs.js';
import { rememberBlob } from '../ends/subjects.js';
import { findStaged } from '../ends/stages.js';
import { IN_GROUP, RETURNED, SCHEDULED } from '../tables/runnable.js';
import type { JobEdit } from './admin-store.js';
import { makeDue } from './replay-jobs.js';
import type { TableRow } from '../tables/table-schemas.js';

const LOCK_IDLE = `
  SELECT queue, state, attempt, options
  FROM {jobs} {by primary}
  WHERE id = :id AND claim_id = 0 {lock}`;

const SET_PAYLOAD = `
  UPDATE {jobs} {by primary}
  SET payload = :payload
  WHERE id = :id`;

const START_ANEW = `
  UPDATE {jobs} {by primary}
  SET options = :options, attempt = 0, error = NULL
  WHERE id = :id`;

const SET_HEADERS = `
  UPDATE {jobs} {by primary}
  SET headers = :headers
  WHERE id = :id`;

// A job in a group joins it again, because it may now stand before the head of the group.
const SET_PRIORITY = `
  UPDATE {jobs} {by primary}
  SET priority = :priority, runnable = CASE WHEN runnable = ${IN_GROUP} THEN ${RETURNED} ELSE runnable END
  WHERE id = :id`;

const SET_STAGE_PRIORITY = `
  UPDATE {stages} {by primary}
  SET priority = :priority
  WHERE job_id = :id`;

// A scheduled job may have run before. due_at comes first, because MySQL assigns from left to right.
const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET due_at = CASE WHEN run_at IS NULL THEN NULL ELSE due_at END,
      state = 'scheduled', runnable = ${SCHEDULED}, run_at = COALESCE(:untilMs, :now + :delayMs)
  WHERE id = :id`;

const select = (table: 'jobs' | 'history', group: string) => `
  SELECT queue, name, priority, max_attempts, payload, headers, options, ${group}
  FROM {${table}}
  WHERE id = :id`;

const READ_LIVE = select('jobs', 'group_key');
const READ_FINISHED = select('history', "'' AS group_key");

type IdleRow = Pick<TableRow<'jobs'>, 'queue' | 'state' | 'attempt' | 'options'>;

type CopiedRow = Pick<
  TableRow<'jobs'>,
  'queue' | 'name' | 'priority' | 'max_attempts' | 'payload' | 'headers' | 'options' | 'group_key'
>;

/** Changes a job that no claim has. Returns its queue, or undefined if it has changed nothing. */
export function* editJob(id: number, queue: string | undefined, edit: JobEdit): Work<string | undefined> {
  const [job] = yield* query<IdleRow>(LOCK_IDLE, { id });
  if (!job || job.queue !== (queue ?? job.queue)) return undefined;
  const { payload, headers, priority, delay } = edit;
  // A blocked job is due when the jobs that it needs have ended.
  if (delay && job.state.trim() === 'blocked') return undefined;
  const statements: Statement[] = [];
  if (payload !== undefined) statements.push({ sql: SET_PAYLOAD, values: { id, payload } });
  if (headers !== undefined) statements.push({ sql: SET_HEADERS, values: { id, headers } });
  if (priority !== undefined) statements.push({ sql: SET_PRIORITY, values: { id, priority } });
  if (delay) statements.push({ sql: SCHEDULE, values: { id, untilMs: delay.untilMs ?? null, delayMs: delay.delayMs } });
  if (payload !== undefined) statements.push(...rememberBlob(id, jobOverridesOf(job.options).subject, payload));
  yield* executeAll(statements);
  if (payload !== undefined && !edit.keepsSteps) yield* startAnew(id, job);
  if (priority !== undefined && (yield* findStaged([id])).length > 0)
    yield* execute(SET_STAGE_PRIORITY, { id, priority });
  return job.queue;
}

/** Nothing of the runs with the old payload stays. If they have let the job wait, it is due now. */
function* startAnew(id: number, { attempt, options }: IdleRow): Work<void> {
  const runs = yield* findEarlierRuns([id]);
  yield* deleteEarlierRuns(runs);
  if (runs.withSteps.length > 0 || Number(attempt) > 0)
    yield {
      statements: [{ sql: START_ANEW, values: { id, options: withoutExpiry(withRestart(options)) } }],
      changes: [{ job: { id } }],
    };
  yield* makeDue(runs.withWaits, 'promoted');
}

/** See AdminStore.copyOf. */
export function* copyOfJob(id: number): Work<NewJob | undefined> {
  const [live] = yield* query<CopiedRow>(READ_LIVE, { id });
  const [row] = live ? [live] : yield* query<CopiedRow>(READ_FINISHED, { id });
  const read = readOverrides(row?.options ?? null);
  if (!row || 'problem' in read) return undefined;
  const {
    key: _key,
    keyUntil: _until,
    flow: _flow,
    reply: _reply,
    schedule: _schedule,
    restart: _restart,
    ...others
  } = read.overrides ?? {};
  const { delayMs, runAtMs, addedExpiryMs = 0, group, ...overrides }: JobOverrides = others;
  if (overrides.expiresInMs !== undefined) overrides.expiresInMs -= addedExpiryMs;
  return {
    queue: row.queue,
    name: row.name,
    payload: row.payload,
    priority: row.priority,
    delayMs: delayMs ?? null,
    runAtMs: runAtMs ?? null,
    // 0 until the first claim, if enqueue did not set it.
    maxAttempts: row.max_attempts || null,
    headers: withoutOriginHeaders(row.headers),
    overrides: Object.keys(overrides).length > 0 ? JSON.stringify(overrides) : null,
    group: row.group_key || group,
    subject: overrides.subject,
  };
}
