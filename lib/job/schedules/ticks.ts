import { MISSED_AFTER_MS } from '../missed-after.js';
import { CronTicks } from './cron.js';

/** The times of a schedule: those of a cron expression in a zone, or the multiples of a duration since 1970. */
export interface TickSource {
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string;
  /** No tick is later. */
  readonly untilMs: number | null;
}

export interface MissedTickPolicy {
  readonly missed: 'skip' | 'once' | 'all';
  /** The largest number of missed ticks that run with `all`. */
  readonly missedLimit: number;
}

export interface Tick {
  readonly atMs: number;
  /** Whether the tick is late by more than MISSED_AFTER_MS. */
  readonly isMissed: boolean;
}

// A schedule of every 100 ms has 600 ticks in the time after which a tick is missed.
const MAX_LATE_TICKS = 1_000;

/** The first tick after `ms`; null if there is none. Throws if the schedule is invalid. */
export function nextTick({ cron, everyMs, tz, untilMs }: TickSource, ms: number): number | null {
  const tick = everyMs === null ? ticksOf(cron!, tz).next(ms) : (Math.floor(ms / everyMs) + 1) * everyMs;
  return tick === null || (untilMs !== null && tick > untilMs) ? null : tick;
}

/** The ticks from `nextAtMs`, the first one without a job, to `nowMs`, in order of time, and the first tick after them. */
export function dueTicks(source: TickSource & MissedTickPolicy, nextAtMs: number, nowMs: number) {
  const lateFrom = nowMs - MISSED_AFTER_MS;
  const missed = missedTicks(source, nextAtMs, lateFrom);
  const due: Tick[] = missed.map((atMs) => ({ atMs, isMissed: true }));
  let next = nextAtMs >= lateFrom ? nextAtMs : nextTick(source, lateFrom - 1);
  for (let late = 0; next !== null && next <= nowMs && late < MAX_LATE_TICKS; late++) {
    due.push({ atMs: next, isMissed: false });
    next = nextTick(source, next);
  }
  return { due, next };
}

function missedTicks(source: TickSource & MissedTickPolicy, fromMs: number, toMs: number): number[] {
  if (fromMs >= toMs || source.missed === 'skip') return [];
  return lastTicks(source, source.missed === 'once' ? 1 : source.missedLimit, fromMs, toMs);
}

function lastTicks({ cron, everyMs, tz, untilMs }: TickSource, count: number, fromMs: number, toMs: number): number[] {
  const endMs = untilMs === null ? toMs : Math.min(toMs, untilMs + 1);
  if (everyMs === null) return ticksOf(cron!, tz).last(count, fromMs, endMs);
  const last = Math.ceil(endMs / everyMs) - 1;
  const first = Math.max(Math.ceil(fromMs / everyMs), last - count + 1);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * everyMs);
}

// Parsing takes longer than a tick. Bounded, because run-time schedules may have any number of expressions.
const MAX_PARSED = 1_000;
const parsed = new Map<string, CronTicks>();

function ticksOf(cron: string, tz: string): CronTicks {
  const key = `${tz} ${cron}`;
  const known = parsed.get(key);
  if (known) return known;
  const ticks = new CronTicks(cron, tz);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(key, ticks);
  return ticks;
}
