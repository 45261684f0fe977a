import { expected, isOptions } from '../expectation.js';
import { isWhole } from '../identifiers.js';
import { MAX_RUNNING, RATE, type Rate, type RateOptions } from '../limits/limit-options.js';
import { flag, kind, option, optionProblems, orNull, whole, type SchemaOf } from '../option-schema.js';
import { ENABLED_EXPECTED, isEnabled, type EnabledTimes } from './enabled.js';

/** Settings of a queue for all processes. A missing setting stays as it is. Null: as in the options of each process. */
export interface QueueConfiguration {
  /** Handler calls of the queue that run at once in each process, 1 to 10,000. */
  concurrency?: number | null;
  /** As with `QueueAdmin.pause`. Null: not paused. */
  paused?: boolean | null;
  /** As with `QueueAdmin.limit`. False: no limit. */
  maxRunning?: number | false | null;
  /** As with `QueueAdmin.limit`. False: no limit. */
  rate?: RateOptions | false | null;
  /** Whether the queue runs jobs, or the times of the day at which it does. Null: always. */
  enabled?: boolean | EnabledTimes | null;
}

/** The settings of a queue that hold instead of the options. A missing setting is as in the options of each process. */
export interface QueueSettingsRecord {
  concurrency?: number;
  /** Present if the queue is paused. */
  paused?: true;
  /** Null: no limit. */
  maxRunning?: number | null;
  /** Null: no limit. */
  rate?: Rate | null;
  enabled?: boolean | EnabledTimes;
}

/** The settings that are stored with the queue. */
export type StoredSettings = Pick<QueueSettingsRecord, 'concurrency' | 'enabled'>;

const CONCURRENCY = whole(1, 10_000);

const CONFIGURATION = {
  concurrency: orNull(option(CONCURRENCY)),
  paused: orNull(option(flag)),
  maxRunning: orNull(MAX_RUNNING),
  rate: orNull(RATE),
  enabled: orNull(option(kind(ENABLED_EXPECTED, isEnabled))),
} satisfies SchemaOf<QueueConfiguration>;

export function configurationProblems(given: unknown): (string | undefined)[] {
  const known = Object.keys(CONFIGURATION).join(', ');
  if (given === null) return [];
  if (!isOptions(given)) return [expected(false, `the settings to be options (known: ${known}) or null`, given)];
  const isEmpty = Object.values(given).every((value) => value === undefined);
  return [...optionProblems(CONFIGURATION, given), expected(!isEmpty, `at least one of ${known}, or null`, given)];
}

/** The configuration has been checked. */
export function settingsAfter(before: StoredSettings, given: QueueConfiguration | null): StoredSettings {
  if (given === null) return {};
  const { concurrency = before.concurrency, enabled = before.enabled } = given;
  return {
    ...(concurrency !== undefined && concurrency !== null && { concurrency }),
    ...(enabled !== undefined && enabled !== null && { enabled }),
  };
}

/** The parts of a stored JSON text that are valid. */
export function readSettings(value: unknown): StoredSettings {
  if (!isOptions(value)) return {};
  const { concurrency, enabled } = value as Readonly<Record<string, unknown>>;
  return {
    ...(isWhole(concurrency, 1, 10_000) && { concurrency }),
    ...(isEnabled(enabled) && { enabled }),
  };
}
