import { InvalidOptionsError, ScheduleConflictError, ScheduleNotFoundError } from '../../../job/errors.js';
import { digestOf, jobOfTick, type NewSchedule } from '../../../job/schedules/schedule.js';
import { nextTick } from '../../../job/schedules/ticks.js';
import type { Dialect } from '../../core/sql-database.js';
import { deleteFrom, execute, query, type Work } from '../../core/statement.js';
import { enterJobs } from '../../ends/enter-jobs.js';
import { toTickJob } from './run-ticks.js';
import {
  DEFINED_COLUMNS,
  definedValues,
  hasSameTicks,
  numberOrNull,
  readSchedule,
  SCHEDULE_COLUMNS,
  type DatedRow,
  type ScheduleRow,
} from './schedule-row.js';
import type { DeclarationResult, ScheduleStore, TickJob } from './schedule-store.js';

const INSERT = (lockDuplicate: string) => `
  INSERT INTO {schedules} (${DEFINED_COLUMNS.join(', ')}, next_at, source, digest, revision, declared_at)
  VALUES (:${DEFINED_COLUMNS.join(', :')}, NULL, :source, :digest, :revision, :now)
  ${lockDuplicate}`;

const LOCK = `
  SELECT ${SCHEDULE_COLUMNS}, :now AS at
  FROM {schedules} {by primary}
  WHERE name = :name {lock}`;

const DEFINED_ASSIGNMENTS = DEFINED_COLUMNS.map((column) => `${column} = :${column}`).join(', ');

const UPDATE = `
  UPDATE {schedules} {by primary}
  SET ${DEFINED_ASSIGNMENTS},
      next_at = :next, source = :source, digest = :digest, revision = :revision, declared_at = :now
  WHERE name = :name`;

const DECLARED = `
  SELECT name, source, digest, revision
  FROM {schedules} {by primary}
  WHERE name IN (:names)`;

const KEPT = `
  SELECT name, CASE WHEN source = 'code' AND declared_at < :now - 3600000 THEN 1 ELSE 0 END AS stale
  FROM {schedules} {by primary}
  WHERE name IN (:names)`;

const KEEP_DECLARED = `
  UPDATE {schedules} {by primary}
  SET declared_at = :now
  WHERE name = :name AND source = 'code'`;

const DELETE = deleteFrom('schedules', 'name = :name');

const SET_PAUSED = `
  UPDATE {schedules} {by primary}
  SET paused = :paused, next_at = :next
  WHERE name = :name`;

const SET_LAST_JOB = `
  UPDATE {schedules} {by primary}
  SET last_at = :at, last_job_id = :id
  WHERE name = :name`;

type DeclaredRow = Pick<ScheduleRow, 'name' | 'source' | 'digest' | 'revision'>;

/** The source of a schedule, and what only schedules from code have. */
interface Origin {
  readonly source: 'code' | 'api';
  readonly digest: string | null;
  readonly revision: string | null;
}

const FROM_API: Origin = { source: 'api', digest: null, revision: null };

/** The schedules that are not stored as they are declared by this revision or a later one. Reads without locks. */
export function* differingSchedules(schedules: readonly NewSchedule[], revision: string): Work<NewSchedule[]> {
  if (schedules.length === 0) return [];
  const rows = yield* query<DeclaredRow>(DECLARED, { names: schedules.map(({ name }) => name) });
  const known = new Map(rows.map((row) => [row.name, row]));
  return schedules.filter((schedule) => {
    const row = known.get(schedule.name);
    return row?.source !== 'code' || row.digest !== digestOf(schedule) || isNewer(revision, row.revision ?? '');
  });
}

/** In the order of the names, in which all transactions lock schedules. */
export function* declareSchedules(
  dialect: Pick<Dialect, 'lockDuplicate'>,
  schedules: readonly NewSchedule[],
  revision: string,
): Work<DeclarationResult> {
  const result = { conflicts: [] as string[], newer: [] as string[] };
  for (const schedule of [...schedules].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const origin: Origin = { source: 'code', digest: digestOf(schedule), revision };
    const row = yield* lockOrInsert(dialect, schedule, origin);
    if (row.source !== 'code') result.conflicts.push(schedule.name);
    else if (!isNewer(row.revision ?? '', revision)) yield* update(schedule, origin, row);
    else if (row.digest !== origin.digest) result.newer.push(schedule.name);
  }
  return result;
}

/** Usually only reads, because one process an hour writes. Returns the names that are missing. */
export function* keepDeclared(names: readonly string[]): Work<string[]> {
  if (names.length === 0) return [];
  const rows = yield* query<{ name: string; stale: number }>(KEPT, { names });
  for (const { name, stale } of rows) if (Number(stale) === 1) yield* execute(KEEP_DECLARED, { name });
  const kept = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !kept.has(name));
}

export function* upsertSchedule(dialect: Pick<Dialect, 'lockDuplicate'>, schedule: NewSchedule): Work<number | null> {
  const row = yield* lockOrInsert(dialect, schedule, FROM_API);
  rejectCode(row);
  return yield* update(schedule, FROM_API, row);
}

export function* removeSchedule(name: string): Work<boolean> {
  const row = yield* lock(name);
  if (!row) return false;
  rejectCode(row);
  return (yield* execute(DELETE, { name })) > 0;
}

export function* setPaused(name: string, paused: boolean): Work<Awaited<ReturnType<ScheduleStore['setPaused']>>> {
  const row = yield* lockExisting(name);
  const next = paused ? null : (numberOrNull(row.next_at) ?? nextTickOf(row, Number(row.at)));
  yield* execute(SET_PAUSED, { name, paused: paused ? 1 : 0, next });
  return { queue: row.queue, nextAtMs: next };
}

export function* runNow(name: string): Work<TickJob> {
  const row = yield* lockExisting(name);
  const at = Number(row.at);
  const job = jobOfTick({ ...scheduleOf(row), jitterMs: 0 }, { atMs: at, isMissed: false });
  const [id] = yield* enterJobs([job]);
  yield* execute(SET_LAST_JOB, { name, at, id: id! });
  return toTickJob(job, id!);
}

/** Inserts first: a locking read of a missing row would lock its gap, which two transactions can do at the same time. */
function* lockOrInsert(
  { lockDuplicate }: Pick<Dialect, 'lockDuplicate'>,
  schedule: NewSchedule,
  { source, digest, revision }: Origin,
): Work<DatedRow> {
  yield* execute(INSERT(lockDuplicate('name')), { ...definedValues(schedule), source, digest, revision });
  return (yield* lock(schedule.name))!;
}

/** Returns the next tick. A pause and, unless the times have changed, the next tick stay. */
function* update(schedule: NewSchedule, origin: Origin, row: DatedRow): Work<number | null> {
  const kept = hasSameTicks(row, schedule) ? numberOrNull(row.next_at) : null;
  const next = row.paused === 0 ? (kept ?? nextTick(schedule, Number(row.at))) : null;
  yield* execute(UPDATE, { ...definedValues(schedule), ...origin, next });
  return next;
}

function* lock(name: string): Work<DatedRow | undefined> {
  return (yield* query<DatedRow>(LOCK, { name }))[0];
}

function* lockExisting(name: string): Work<DatedRow> {
  const row = yield* lock(name);
  if (!row) throw new ScheduleNotFoundError(name);
  return row;
}

function scheduleOf(row: ScheduleRow): NewSchedule {
  const read = readSchedule(row);
  if ('problem' in read) throw malformedError(row, read.problem);
  return read.schedule;
}

function nextTickOf(row: ScheduleRow, ms: number): number | null {
  const schedule = scheduleOf(row);
  try {
    return nextTick(schedule, ms);
  } catch (error) {
    throw malformedError(row, (error as Error).message);
  }
}

function malformedError({ name, source }: ScheduleRow, problem: string): InvalidOptionsError {
  const wayOut = source === 'code' ? 'Delete the row and restart a worker' : 'Store it again with upsert()';
  return new InvalidOptionsError(`Schedule "${name}"`, [`another program wrote it badly: ${problem}. ${wayOut}`]);
}

function rejectCode({ name, source }: ScheduleRow): void {
  if (source === 'code') throw new ScheduleConflictError([name], 'code');
}

// Digits compare as numbers, so that 1.10 is newer than 1.9.
const REVISIONS = new Intl.Collator('en', { numeric: true });

function isNewer(revision: string, than: string): boolean {
  return REVISIONS.compare(revision, than) > 0;
}
