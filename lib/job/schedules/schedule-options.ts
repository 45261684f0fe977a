import { DURATION_EXPECTED, type Duration } from '../../common/units.js';
import type { EnqueueOptions } from '../enqueue-options.js';
import { InvalidOptionsError } from '../errors.js';
import { expected, isOptions, requireOptions } from '../expectation.js';
import { isName, isWhole, NAME_EXPECTED } from '../identifiers.js';
import {
  checked,
  date,
  duration,
  durationOf,
  kind,
  oneOf,
  option,
  optionProblems,
  resolveOptions,
  type SchemaOf,
} from '../option-schema.js';
import { isTimeZone } from '../time-zone.js';
import type { ScheduleTiming } from './schedule.js';
import { nextTick } from './ticks.js';

/** The options of `enqueue` that apply to each job of a schedule. */
export type ScheduledJobOptions = Pick<
  EnqueueOptions,
  'priority' | 'retry' | 'timeout' | 'expiresIn' | 'lease' | 'retention' | 'headers'
>;

/** When a schedule enqueues jobs: `cron` or `every`, and the rules for ticks that are late or overlap. */
export interface ScheduleTimes {
  /**
   * A cron expression of five fields, or of six with seconds first; `@daily` and the like. Also `L` (last day), `5L`
   * (last Friday), `2#2` (second Tuesday). Days of the month and of the week add up.
   */
  cron?: string;
  /** The time between two ticks, from 100ms to 365d. The ticks are its multiples since 1970 in UTC: '1h' is on the hour. */
  every?: Duration;
  /**
   * The time zone of `cron`, such as `Europe/Berlin`. Times that a change to summer time skips run once, at the end of
   * the gap. Default `UTC`, because the zones of the servers may differ.
   */
  tz?: string;
  /**
   * The ticks that no worker has run within a minute, because all were down: `skip` runs none of them, `once` one job
   * for all of them, `{ all: n }` the last n of them (1 to 1,000). Default `once`.
   */
  missed?: 'skip' | 'once' | { all: number };
  /**
   * If the previous job of the schedule has not ended: `allow` enqueues the next one, `skip` leaves the tick out,
   * `one-waiting` leaves it out only while that job has not started. Default `allow`.
   */
  overlap?: 'allow' | 'skip' | 'one-waiting';
  /**
   * Each job is delayed by a part of this time, so that schedules of the same time do not run together. The part follows
   * from the name and the tick. Jobs of missed ticks are not delayed. An `expiresIn` of the jobs must be longer. Default: no
   * delay.
   */
  jitter?: Duration;
  /** No tick is later. Default: the schedule does not end. */
  until?: Date;
}

/** The options of `@Schedule()`. */
export interface ScheduleOptions extends ScheduleTimes {
  /** The payload of each job. Default `{}`. */
  payload?: unknown;
  /** The options of each job. Default: those of the queue, but no `delay` of its `jobDefaults`. */
  options?: ScheduledJobOptions;
}

// The length of the column.
const MAX_CRON_LENGTH = 200;
const MIN_EVERY_MS = 100;
const MAX_EVERY_MS = 365 * 86_400_000;

const TIMES = {
  cron: option(kind(`a cron expression of at most ${MAX_CRON_LENGTH} characters`, isShortText)),
  every: option(durationOf(`${DURATION_EXPECTED} from 100ms to 365d`, MIN_EVERY_MS, MAX_EVERY_MS)),
  tz: option(kind('a time zone such as Europe/Berlin', isTimeZone), 'UTC'),
  missed: checked((missed) => [missedProblem(missed)]),
  overlap: option(oneOf('allow', 'skip', 'one-waiting'), 'allow'),
  jitter: option(duration, 0),
  until: option(date),
} satisfies SchemaOf<ScheduleTimes>;

/** @throws InvalidOptionsError with all problems */
export function resolveScheduleTimes(name: unknown, given: ScheduleTimes, also: readonly string[]): ScheduleTiming {
  const where = isName(name) ? `Schedule "${name}"` : 'Schedule';
  requireOptions(where, given);
  InvalidOptionsError.throwIfAny(where, [
    expected(isName(name), `the name to be ${NAME_EXPECTED}`, name),
    ...optionProblems(TIMES, given, { also }),
    given.cron === undefined && given.every === undefined ? 'expected cron or every, got neither' : undefined,
    given.cron !== undefined && given.every !== undefined ? 'expected either cron or every, got both' : undefined,
    given.every !== undefined && given.tz !== undefined ? 'expected tz beside cron, got it beside every' : undefined,
  ]);
  const { every, cron, tz, overlap, jitter, until } = resolveOptions(TIMES, given);
  const { missed = 'once' } = given;
  const timing: ScheduleTiming = {
    ...{ cron: cron ?? null, everyMs: every ?? null, tz, overlap, jitterMs: jitter },
    missed: typeof missed === 'string' ? missed : 'all',
    missedLimit: typeof missed === 'string' ? 1 : missed.all,
    untilMs: until?.getTime() ?? null,
  };
  InvalidOptionsError.throwIfAny(where, [cronProblem(timing)]);
  return timing;
}

/** Also for an expression without any tick, such as February 30. */
function cronProblem(timing: ScheduleTiming): string | undefined {
  if (timing.cron === null) return undefined;
  try {
    if (nextTick({ ...timing, untilMs: null }, 0) !== null) return undefined;
    return expected(false, 'cron to have a tick', timing.cron);
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: /, '');
    return `${expected(false, 'cron to be a cron expression', timing.cron)}: ${reason}`;
  }
}

function missedProblem(missed: unknown): string | undefined {
  const isLimit = isOptions(missed) && Object.keys(missed).join() === 'all';
  return expected(
    missed === 'skip' || missed === 'once' || (isLimit && isWhole((missed as { all: unknown }).all, 1, 1_000)),
    `missed to be 'skip', 'once' or { all: 1 to 1000 }`,
    missed,
  );
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_CRON_LENGTH;
}
