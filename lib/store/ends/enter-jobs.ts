import { DEFAULT_JOB_NAME } from '../../job/identifiers.js';
import type { NewJob } from '../../job/job.js';
import { ARRIVING, BLOCKED, IN_QUEUE, SCHEDULED } from '../tables/runnable.js';
import { addSubjects } from './subjects.js';
import { jobEventsOf } from '../core/event-outbox.js';
import {
  chunksOf,
  recordEvents,
  executeAll,
  statement,
  type SqlValue,
  type Statement,
  type Work,
  readInsertedIds,
} from '../core/statement.js';

// A job with a group arrives in its group before it can be claimed. A job of a flow may be blocked. run_at is the given
// time, or now plus the delay, or NULL (now plus NULL) for a job without either.
const INSERT_JOBS = `
  INSERT INTO {jobs} (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES :rows(?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)`;

// For jobs without a due time: two expressions per row less for the server to parse. created_at has the time of the
// database as its default.
const INSERT_WAITING_JOBS = `
  INSERT INTO {jobs} (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES :rows(?, ?, 'waiting', ${IN_QUEUE}, ?, ?, ?, ?, ?)`;

// For jobs without any option. Column defaults cost the server a fifth less than explicit values.
const INSERT_PLAIN_JOBS = `
  INSERT INTO {jobs} (queue, payload)
  VALUES :rows(?, ?)`;

// For the jobs of a flow, which have only the option that names it.
const INSERT_PLAIN_JOBS_WITH_OPTIONS = `
  INSERT INTO {jobs} (queue, payload, options)
  VALUES :rows(?, ?, ?)`;

const MAX_CHUNK_JOBS = 1_000;

/** What new jobs do to one table of a feature. */
interface EnterHook {
  readonly concerns: (job: NewJob) => boolean;
  /** Called if the hook concerns one of the jobs. The ids are in the order of the jobs. */
  readonly enter: (jobs: readonly NewJob[], ids: readonly number[]) => Work<void>;
}

/** In the order in which every transaction locks the tables. A feature that has to do with new jobs adds one line. */
const HOOKS: readonly EnterHook[] = [{ concerns: ({ subject }) => subject !== undefined, enter: addSubjects }];

export function chunkJobs(jobs: readonly NewJob[]): Generator<NewJob[]> {
  return chunksOf(jobs, ({ payload, headers }) => payload.length + (headers?.length ?? 0) + 200, MAX_CHUNK_JOBS);
}

/**
 * The way into the queue. Returns the ids in the order of the jobs.
 *
 * @param asStored returns the job at this position as it is stored: with other options, or blocked
 */
export function* enterJobs(
  jobs: readonly NewJob[],
  asStored: (job: NewJob, index: number) => NewJob = (job) => job,
): Work<number[]> {
  const ids: number[] = [];
  for (const chunk of chunkJobs(jobs)) {
    const stored = chunk.map((job, index) => asStored(job, ids.length + index));
    const [answer] = yield* executeAll([insertJobs(stored)]);
    ids.push(...(yield* readInsertedIds(answer!, chunk.length)));
  }
  yield* runEnterHooks(jobs, ids);
  yield* recordEvents((isRecorded) => {
    const enqueued = jobs.map(({ queue, name }, index) => ({ id: ids[index]!, queue, name }));
    return jobEventsOf('enqueued', enqueued)(isRecorded);
  });
  return ids;
}

/** Also for a job that replaces another one under its id. */
export function* runEnterHooks(jobs: readonly NewJob[], ids: readonly number[]): Work<void> {
  for (const { concerns, enter } of HOOKS) if (jobs.some(concerns)) yield* enter(jobs, ids);
}

/** Whether hooks need the id of the job, so that its INSERT cannot be the last step of its transaction. */
export function hasEnterHook(job: NewJob): boolean {
  return HOOKS.some(({ concerns }) => concerns(job));
}

/** Chooses the shortest statement for the jobs. */
export function insertJobs(jobs: readonly NewJob[]): Statement {
  if (!jobs.every(isWaiting)) return statement(INSERT_JOBS, { rows: jobs.map(toJobRow) });
  if (!jobs.every(isPlainButOptions)) return statement(INSERT_WAITING_JOBS, { rows: jobs.map(toWaitingJobRow) });
  if (jobs.every(({ overrides }) => overrides === null))
    return statement(INSERT_PLAIN_JOBS, { rows: jobs.map(({ queue, payload }) => [queue, payload]) });
  const rows = jobs.map(({ queue, payload, overrides }) => [queue, payload, overrides]);
  return statement(INSERT_PLAIN_JOBS_WITH_OPTIONS, { rows });
}

export function isScheduled({ runAtMs, delayMs }: NewJob): boolean {
  return runAtMs !== null || delayMs !== null;
}

function isWaiting(job: NewJob): boolean {
  return job.group === undefined && !job.isBlocked && !isScheduled(job);
}

/** Whether all columns except queue, payload and options have their defaults. */
function isPlainButOptions({ name, priority, maxAttempts, headers }: NewJob): boolean {
  return name === DEFAULT_JOB_NAME && priority === 0 && maxAttempts === null && headers === null;
}

function toJobRow(job: NewJob): SqlValue[] {
  const [state, runnable] = standingOf(job);
  const { queue, name, runAtMs, delayMs, priority, maxAttempts: max, payload, headers, overrides, group = '' } = job;
  return [queue, name, runAtMs, delayMs, state, runnable, priority, max ?? 0, payload, headers, overrides, group];
}

function standingOf(job: NewJob): [state: string, runnable: number] {
  if (job.isBlocked) return ['blocked', BLOCKED];
  return isScheduled(job) ? ['scheduled', SCHEDULED] : ['waiting', job.group === undefined ? IN_QUEUE : ARRIVING];
}

function toWaitingJobRow({ queue, name, priority, maxAttempts, payload, headers, overrides }: NewJob): SqlValue[] {
  return [queue, name, priority, maxAttempts ?? 0, payload, headers, overrides];
}
