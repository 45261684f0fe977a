import { overridesAfter, type LimitChange, type Limits } from '../../../job/limits/limit-options.js';
import { toDelay, type Delay } from '../../../job/snooze.js';
import { runChange } from '../audit/run-change.js';
import type { Dialect } from '../../core/sql-database.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { deleteFrom, execute, query, type Values, type Work } from '../../core/statement.js';
import { restUntil } from './rest.js';
import type { LimitStore } from './limit-store.js';
import { LIMIT_COLUMNS, limitsOf, overridesOf, type LimitsRow } from './limits-row.js';

const DECLARED = `
  SELECT queue, declared
  FROM {limits} {by primary}
  WHERE queue IN (:queues)`;

const ADD = (lockDuplicate: string) => `
  INSERT INTO {limits} (queue)
  VALUES (:queue)
  ${lockDuplicate}`;

const LOCK = `
  SELECT ${LIMIT_COLUMNS}
  FROM {limits} {by primary}
  WHERE queue = :queue {lock}`;

const SET_LIMITS = `
  UPDATE {limits} {by primary}
  SET declared = :declared, overrides = :overrides, rate_until_us = CASE WHEN :keepsUse = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN :keepsUse = 1 THEN rate_used ELSE 0 END
  WHERE queue = :queue`;

const SET_REST = `
  UPDATE {limits} {by primary}
  SET rest_until = COALESCE(:untilMs, :now + :delayMs), rest_ms = CASE WHEN :untilMs IS NULL THEN :delayMs ELSE 0 END
  WHERE queue = :queue`;

const REST = `${SET_REST} AND ${restUntil()} < COALESCE(:untilMs, :now + :delayMs)`;

const DELETE = deleteFrom('limits', 'queue = :queue');

const NO_REST: Delay = { delayMs: 0, untilMs: 0 };

export function sqlLimitStore({ database, dialect }: StoreParts): LimitStore {
  return {
    async declareLimits(limits) {
      const replaced: string[] = [];
      for (const queue of await database.runIdempotent(() => findDiffering(limits)))
        if (await database.transaction(() => declareLimits(dialect, queue, limits.get(queue)!))) replaced.push(queue);
      return replaced;
    },

    setLimits: (queue, limits, change) => runChange(database, change, () => changeLimits(dialect, queue, limits)),
    rest: (queue, rest) => database.transaction(() => restQueue(dialect, queue, rest)),
  };
}

/** Reads without locks. The queues whose stored declarations differ. */
function* findDiffering(limits: ReadonlyMap<string, Limits>): Work<string[]> {
  if (limits.size === 0) return [];
  const rows = yield* query<{ queue: string; declared: string | null }>(DECLARED, { queues: [...limits.keys()] });
  const stored = new Map(rows.map(({ queue, declared }) => [queue, declared]));
  return [...limits].filter(([queue, one]) => (stored.get(queue) ?? null) !== encode(one)).map(([queue]) => queue);
}

/** Returns whether it has replaced other limits. */
function* declareLimits(dialect: Dialect, queue: string, limits: Limits): Work<boolean> {
  const row = yield* lockRow(dialect, queue);
  const declared = encode(limits);
  if (declared === row.declared) return false;
  yield* setLimits(queue, row, { declared, overrides: row.overrides });
  return row.declared !== null;
}

export function* changeLimits(dialect: Dialect, queue: string, change: LimitChange | null): Work<void> {
  const row = yield* lockRow(dialect, queue);
  const overrides = change === null ? {} : overridesAfter(overridesOf(row), change);
  const isEmpty = Object.keys(overrides).length === 0;
  yield* setLimits(queue, row, { declared: row.declared, overrides: isEmpty ? null : JSON.stringify(overrides) });
  const rest = change === null ? false : change.rest;
  if (rest !== undefined) yield* execute(SET_REST, restValues(queue, rest === false ? NO_REST : toDelay(rest, 0)));
}

function* restQueue(dialect: Dialect, queue: string, rest: Delay): Work<void> {
  yield* execute(ADD(dialect.lockDuplicate('queue')), { queue });
  yield* execute(REST, restValues(queue, rest));
}

export function* deleteLimits(queue: string): Work<void> {
  yield* execute(DELETE, { queue });
}

function* lockRow(dialect: Dialect, queue: string): Work<LimitsRow> {
  yield* execute(ADD(dialect.lockDuplicate('queue')), { queue });
  return (yield* query<LimitsRow>(LOCK, { queue }))[0]!;
}

/** Another rate starts unused: the times of the old one could block the queue for as long as that rate. */
function setLimits(queue: string, row: LimitsRow, next: Pick<LimitsRow, 'declared' | 'overrides'>): Work<number> {
  const hasSameRate = JSON.stringify(limitsOf(row).rate) === JSON.stringify(limitsOf(next).rate);
  return execute(SET_LIMITS, { queue, ...next, keepsUse: hasSameRate ? 1 : 0 });
}

function restValues(queue: string, { delayMs, untilMs }: Delay): Values {
  return { queue, delayMs, untilMs: untilMs ?? null };
}

/** Null if there are no limits, so that a queue without limits has no declaration. */
function encode({ maxRunning, rate }: Limits): string | null {
  return maxRunning === null && rate === null ? null : JSON.stringify({ maxRunning, rate });
}
