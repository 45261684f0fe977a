import { settingsAfter, type QueueConfiguration } from '../../../job/settings/queue-configuration.js';
import type { Dialect } from '../../core/sql-database.js';
import { execute, query, type Work } from '../../core/statement.js';
import { changeLimits } from '../limits/sql-limit-store.js';
import { orAddQueue } from './queue-registration.js';
import { settingsOf } from './settings-row.js';
import type { TableRow } from '../../tables/table-schemas.js';

const LOCK = `
  SELECT paused, settings
  FROM {queues} {by primary}
  WHERE queue = :queue {lock}`;

const SET = `
  UPDATE {queues} {by primary}
  SET paused = :paused, settings = :settings
  WHERE queue = :queue`;

type LockedRow = Pick<TableRow<'queues'>, 'paused' | 'settings'>;

/** Stores the settings with the queue, and its limits with the limits, in this order of locks. */
export function* configureQueue(dialect: Dialect, queue: string, given: QueueConfiguration | null): Work<void> {
  const row = (yield* orAddQueue(dialect, queue, () => lockQueue(queue)))!;
  const settings = settingsAfter(settingsOf(row), given);
  const paused = given === null ? false : given.paused === undefined ? row.paused > 0 : given.paused === true;
  const isEmpty = Object.keys(settings).length === 0;
  yield* execute(SET, { queue, paused: paused ? 1 : 0, settings: isEmpty ? null : JSON.stringify(settings) });
  const { maxRunning, rate } = given ?? { maxRunning: null, rate: null };
  const limits = { ...(maxRunning !== undefined && { maxRunning }), ...(rate !== undefined && { rate }) };
  if (Object.keys(limits).length > 0) yield* changeLimits(dialect, queue, limits);
}

function* lockQueue(queue: string): Work<LockedRow | undefined> {
  return (yield* query<LockedRow>(LOCK, { queue }))[0];
}
