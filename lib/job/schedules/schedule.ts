import { createHash } from 'node:crypto';
import type { NewJob } from '../job.js';
import type { StoredTick } from './job-schedule.js';
import type { MissedTickPolicy, Tick, TickSource } from './ticks.js';

export interface ScheduleTiming extends TickSource, MissedTickPolicy {
  readonly overlap: 'allow' | 'skip' | 'one-waiting';
  readonly jitterMs: number;
}

/** A checked schedule that is to be stored. */
export interface NewSchedule extends ScheduleTiming {
  readonly name: string;
  /** Each tick enqueues a copy of this job. */
  readonly job: NewJob;
  /** Of the schedule before its payload was encoded, which differs each time. Undefined: the payload is not encoded. */
  readonly digest?: string | undefined;
}

export function jobOfTick({ name, job, jitterMs }: Pick<NewSchedule, 'name' | 'job' | 'jitterMs'>, tick: Tick): NewJob {
  const { atMs: at, isMissed } = tick;
  const schedule: StoredTick = isMissed ? { name, at, missed: true } : { name, at };
  const overrides = JSON.stringify({ ...(job.overrides === null ? {} : JSON.parse(job.overrides)), schedule });
  const delayMs = jitterMs === 0 || tick.isMissed ? 0 : hashOf(name, tick.atMs) % (jitterMs + 1);
  return { ...job, overrides, runAtMs: delayMs === 0 ? null : tick.atMs + delayMs };
}

/** Equal for equal schedules in all processes. */
export function digestOf(schedule: NewSchedule): string {
  if (schedule.digest !== undefined) return schedule.digest;
  return createHash('sha256')
    .update(JSON.stringify(schedule, Object.keys(schedule).concat(JOB_KEYS).sort()))
    .digest('hex');
}

const JOB_KEYS: readonly (keyof NewJob)[] = [
  ...(['queue', 'name', 'payload', 'priority', 'maxAttempts', 'headers', 'overrides'] as const),
];

function hashOf(name: string, atMs: number): number {
  return createHash('sha256').update(`${name} ${atMs}`).digest().readUIntBE(0, 6);
}
