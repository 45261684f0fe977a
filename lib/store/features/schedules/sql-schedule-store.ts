import { MISSED_AFTER_MS } from '../../../job/missed-after.js';
import { audited, runChange } from '../audit/run-change.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { inCallerTransaction } from '../../core/caller-transaction.js';
import { deleteFrom, execute, query } from '../../core/statement.js';
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
import { SCHEDULE_COLUMNS, toScheduleRecord, type ListedRow } from './schedule-row.js';
import type { ScheduleStore } from './schedule-store.js';

const LISTED = `${SCHEDULE_COLUMNS}, CASE WHEN next_at < :now - ${MISSED_AFTER_MS} THEN 1 ELSE 0 END AS is_late`;

const GET = `
  SELECT ${LISTED}
  FROM {schedules} {by primary}
  WHERE name = :name`;

const LIST = `
  SELECT ${LISTED}
  FROM {schedules}
  ORDER BY name`;

const UNDECLARED = `
  SELECT name
  FROM {schedules}
  WHERE source = 'code' AND declared_at < :now - :afterMs
  ORDER BY name
  LIMIT 1000`;

const DELETE_UNDECLARED = deleteFrom('schedules', "name = :name AND source = 'code' AND declared_at < :now - :afterMs");

export function sqlScheduleStore({ database, blocking, dialect }: StoreParts): ScheduleStore {
  return {
    runTicks: (declared) => database.transaction(() => runTicks(declared)),

    async declare(schedules, revision) {
      const differing = await blocking.runIdempotent(() => differingSchedules(schedules, revision));
      if (differing.length === 0) return { conflicts: [], newer: [] };
      return blocking.transaction(() => declareSchedules(dialect, differing, revision));
    },

    keepDeclared: (names) => blocking.runIdempotent(() => keepDeclared(names)),

    async removeUndeclared(afterMs) {
      const removed: string[] = [];
      for (const { name } of await blocking.runIdempotent(() => query<{ name: string }>(UNDECLARED, { afterMs })))
        if (await blocking.transaction(() => execute(DELETE_UNDECLARED, { name, afterMs }))) removed.push(name);
      return removed;
    },

    upsert: (schedule, change) => runChange(blocking, change, () => upsertSchedule(dialect, schedule)),
    remove: (name, change) => runChange(blocking, change, () => removeSchedule(name), Number),
    setPaused: (name, paused, change) => runChange(blocking, change, () => setPaused(name, paused)),

    /** Exactly once: a lost answer to the commit does not enqueue a second job. */
    runNow(name, change = {}) {
      const { transaction } = change;
      const work = () => audited(runNow(name), change);
      return transaction ? inCallerTransaction(blocking, transaction, work) : blocking.transactOnce(work);
    },

    async get(name) {
      const [row] = await database.runIdempotent(() => query<ListedRow>(GET, { name }));
      return row ? toScheduleRecord(row) : null;
    },

    list: async () => (await database.runIdempotent(() => query<ListedRow>(LIST))).map(toScheduleRecord),
  };
}
