import type { NewSchedule } from '../../job/schedules/schedule.js';
import type { Change } from '../audit/audit-store.js';
import { audited, runChange } from '../audit/run-change.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { execute, query } from '../core/statement.js';
import {
  declareSchedules,
  differingSchedules,
  keepDeclared,
  removeSchedule,
  runNow,
  setPaused,
  upsertSchedule,
} from './edit-schedules.js';
import { runTicks } from './run-ticks.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';
import type { DeclarationResult, ScheduleRecord, ScheduleStore, TickJob, TickResult } from './schedule-store.js';

const GET = `
  SELECT ${SCHEDULE_COLUMNS}
  FROM {schedules} /*! FORCE INDEX (PRIMARY) */
  WHERE name = :name`;

const LIST = `
  SELECT ${SCHEDULE_COLUMNS}
  FROM {schedules}
  ORDER BY name`;

const UNDECLARED = `
  SELECT name
  FROM {schedules}
  WHERE source = 'code' AND declared_at < :now - :afterMs
  ORDER BY name
  LIMIT 1000`;

const DELETE_UNDECLARED = `
  DELETE /*! {schedules} */ FROM {schedules} /*! FORCE INDEX (PRIMARY) */
  WHERE name = :name AND source = 'code' AND declared_at < :now - :afterMs`;

export class SqlScheduleStore implements ScheduleStore {
  /** @param blocking for verbs that wait for a schedule which a caller's transaction has locked */
  constructor(
    private readonly database: SqlDatabase,
    private readonly blocking: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  runTicks(declared: readonly string[]): Promise<TickResult> {
    return this.database.transaction(() => runTicks(declared));
  }

  async declare(schedules: readonly NewSchedule[], revision: string): Promise<DeclarationResult> {
    const differing = await this.blocking.runIdempotent(() => differingSchedules(schedules, revision));
    if (differing.length === 0) return { conflicts: [], newer: [] };
    return this.blocking.transaction(() => declareSchedules(this.dialect, differing, revision));
  }

  keepDeclared(names: readonly string[]): Promise<string[]> {
    return this.blocking.runIdempotent(() => keepDeclared(names));
  }

  async removeUndeclared(afterMs: number): Promise<string[]> {
    const removed: string[] = [];
    for (const { name } of await this.blocking.runIdempotent(() => query<{ name: string }>(UNDECLARED, { afterMs })))
      if (await this.blocking.transaction(() => execute(DELETE_UNDECLARED, { name, afterMs }))) removed.push(name);
    return removed;
  }

  upsert(schedule: NewSchedule, change: Change = {}): Promise<number | null> {
    return runChange(this.blocking, change, () => upsertSchedule(this.dialect, schedule), one);
  }

  remove(name: string, change: Change = {}): Promise<boolean> {
    return runChange(this.blocking, change, () => removeSchedule(name), Number);
  }

  setPaused(name: string, paused: boolean, change: Change = {}) {
    return runChange(this.blocking, change, () => setPaused(name, paused), one);
  }

  /** Exactly once: a lost answer to the commit does not enqueue a second job. */
  runNow(name: string, { audit, transaction }: Change = {}): Promise<TickJob> {
    const work = () => audited(runNow(name), audit, one);
    return transaction ? this.blocking.inCallerTransaction(transaction, work) : this.blocking.transactOnce(work);
  }

  async get(name: string): Promise<ScheduleRecord | null> {
    const [row] = await this.database.runIdempotent(() => query<ScheduleRow>(GET, { name }));
    return row ? toScheduleRecord(row) : null;
  }

  async list(): Promise<ScheduleRecord[]> {
    return (await this.database.runIdempotent(() => query<ScheduleRow>(LIST))).map(toScheduleRecord);
  }
}

const one = () => 1;
