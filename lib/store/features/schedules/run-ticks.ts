import type { NewJob } from '../../../job/job.js';
import { jobOfTick, type NewSchedule } from '../../../job/schedules/schedule.js';
import { dueTicks } from '../../../job/schedules/ticks.js';
import { executeAll, Ids, query, type Statement, type Work } from '../../core/statement.js';
import { pageSize } from '../../../common/lists.js';
import { enterJobs } from '../../ends/enter-jobs.js';
import { numberOrNull, readSchedule, SCHEDULE_COLUMNS, type DatedRow, type ScheduleRow } from './schedule-row.js';
import type { TickJob, TickResult } from './schedule-store.js';

// Read without locks: a lock on the moving index would deadlock with other processes on MariaDB.
const DUE_NAMES = `
  SELECT name, next_at
  FROM {schedules} {by schedules.next}
  WHERE next_at >= :afterAt AND next_at <= :now AND (next_at > :afterAt OR name > :afterName)
    AND (source = 'api' OR name IN (:declared))
  ORDER BY next_at, name
  LIMIT :limit`;

// Checks the time again, because another process may have run the tick since. A locked schedule is another process's.
const LOCK_DUE = `
  SELECT ${SCHEDULE_COLUMNS}, :now AS at
  FROM {schedules} {by primary}
  WHERE name IN (:names) AND next_at <= :now
  ORDER BY name {lock free}`;

const PREVIOUS_JOBS = `
  SELECT id, state
  FROM {jobs} {by primary}
  WHERE :ids`;

const ADVANCE = `
  UPDATE {schedules} {by primary}
  SET next_at = :next, last_at = COALESCE(:last, last_at), last_job_id = COALESCE(:lastJobId, last_job_id)
  WHERE name = :name`;

// Without a next tick no process reads it again.
const PAUSE_MALFORMED = `
  UPDATE {schedules} {by primary}
  SET next_at = NULL, paused = 1
  WHERE name = :name`;

/** A schedule with its jobs of this run. */
type DueSchedule = Readonly<{
  name: string;
  next: number | null;
  /** The number of ticks that were computed, of which some may have no job. */
  ticks: number;
  jobs: readonly NewJob[];
  lastAtMs: number | null;
}>;

type DueName = Readonly<{ name: string; next_at: number }>;

const NO_SCHEDULE = '';
const MAX_SCHEDULES = 100;
// The event loop waits while the ticks are computed, and the server ends a transaction that is idle for longer than the
// shortest lease.
const MAX_TICKS = 200;
const BEFORE_ALL = { afterAt: -Number.MAX_SAFE_INTEGER, afterName: '' };

/**
 * The jobs and the next tick commit together. A process that dies before the commit leaves the tick to the others; after
 * it, the tick is no longer due. So a transaction that is repeated after a lost answer finds nothing to do.
 */
export function* runTicks(declared: readonly string[]): Work<TickResult> {
  const limit = pageSize(MAX_SCHEDULES);
  const rows = yield* lockDue(declared, limit);
  if (rows.length === 0) return { jobs: [], malformed: [], hasMore: false };
  const malformed: { name: string; problem: string }[] = [];
  const schedules: DueSchedule[] = [];
  const states = yield* previousStates(rows);
  let ticks = 0;
  for (const row of rows) {
    // The other schedules stay due for the next call.
    if (ticks >= MAX_TICKS) break;
    const planned = plan(row, states.get(Number(row.last_job_id)));
    if ('problem' in planned) malformed.push({ name: row.name, problem: planned.problem });
    else {
      schedules.push(planned);
      ticks += planned.ticks;
    }
  }
  const jobs = schedules.flatMap((schedule) => schedule.jobs);
  const ids = yield* enterJobs(jobs);
  const pauses = malformed.map(({ name }) => ({ sql: PAUSE_MALFORMED, values: { name } }));
  yield* executeAll([...advances(schedules, ids), ...pauses]);
  const ticked = jobs.map((job, index) => toTickJob(job, ids[index]!));
  const isCut = schedules.length + malformed.length < rows.length;
  return { jobs: ticked, malformed, hasMore: isCut || rows.length >= limit };
}

/** Reads on while pages have locked schedules, which a process may keep locked for long. The others must not wait. */
function* lockDue(declared: readonly string[], limit: number): Work<DatedRow[]> {
  const locked: DatedRow[] = [];
  let after = BEFORE_ALL;
  for (let due: readonly DueName[] | undefined; locked.length < limit && (!due || due.length === limit);) {
    due = yield* query<DueName>(DUE_NAMES, { declared: [NO_SCHEDULE, ...declared], limit, ...after });
    const last = due.at(-1);
    if (!last) break;
    after = { afterAt: Number(last.next_at), afterName: last.name };
    locked.push(...(yield* query<DatedRow>(LOCK_DUE, { names: due.map(({ name }) => name) })));
  }
  return locked;
}

export function toTickJob({ queue, name, runAtMs }: NewJob, id: number): TickJob {
  return { id, queue, name, runAtMs };
}

/** The states of the previous jobs that have not ended. */
function* previousStates(rows: readonly ScheduleRow[]): Work<ReadonlyMap<number, string>> {
  const ids = rows.filter(({ overlap }) => overlap !== 'allow').map(({ last_job_id }) => numberOrNull(last_job_id));
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return new Map();
  const jobs = yield* query<{ id: number; state: string }>(PREVIOUS_JOBS, { ids: new Ids(known) });
  return new Map(jobs.map(({ id, state }) => [Number(id), state.trim()]));
}

function plan(row: DatedRow, previousState: string | undefined): DueSchedule | { problem: string } {
  // Another program has set `paused` alone.
  if (row.paused !== 0) return { name: row.name, next: null, ticks: 0, jobs: [], lastAtMs: null };
  const read = readSchedule(row);
  if ('problem' in read) return read;
  const { schedule } = read;
  try {
    const { due, next } = dueTicks(schedule, Number(row.next_at), Number(row.at));
    const ticks = ticksWithJobs(schedule, due, previousState);
    const jobs = ticks.map((tick) => jobOfTick(schedule, tick));
    return { name: schedule.name, next, ticks: due.length, jobs, lastAtMs: ticks.at(-1)?.atMs ?? null };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** With a rule against overlaps one job is enough: the next one would overlap with it. */
function ticksWithJobs<Tick>({ overlap }: NewSchedule, due: readonly Tick[], previous: string | undefined): Tick[] {
  if (overlap === 'allow') return [...due];
  const overlaps = overlap === 'skip' ? previous !== undefined : previous === 'waiting' || previous === 'scheduled';
  return overlaps ? [] : due.slice(-1);
}

function advances(schedules: readonly DueSchedule[], ids: readonly number[]): Statement[] {
  let inserted = 0;
  return schedules.map(({ name, next, jobs, lastAtMs }) => {
    inserted += jobs.length;
    const lastJobId = jobs.length === 0 ? null : ids[inserted - 1]!;
    return { sql: ADVANCE, values: { name, next, last: lastAtMs, lastJobId } };
  });
}
