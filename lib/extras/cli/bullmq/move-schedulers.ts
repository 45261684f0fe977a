import type { DataSource } from 'typeorm';
import type { QueueProducer } from '../../../producer/queue-producer.js';
import type { QueueSchedules, ScheduleDefinition } from '../../../schedules/queue-schedules.js';
import { dueMsOf, type BullmqJob, type BullmqQueue, type BullmqScheduler } from './bullmq-queue.js';
import { convertedJob, convertedName, jobOptionsOf, type Conversion } from './converted-job.js';
import type { Left } from './job-mover.js';

export interface SchedulerParts {
  readonly source: BullmqQueue;
  readonly conversion: Conversion;
  /** The zone of patterns without one. */
  readonly tz: string;
  readonly target: {
    readonly queue: string;
    readonly producer: QueueProducer;
    readonly schedules: QueueSchedules;
    readonly dataSource: DataSource;
  };
  readonly nowMs: () => number;
}

/**
 * Moves the job schedulers of a queue: each becomes a schedule of its id. A schedule that exists, for example because the
 * application declares it, stays as it is.
 */
export async function moveSchedulers(parts: SchedulerParts): Promise<{ moved: number; left: Left[] }> {
  const left: Left[] = [];
  const schedulers = await parts.source.getJobSchedulers(0, -1, true);
  for (const scheduler of schedulers) {
    const reason = await move(parts, scheduler);
    if (reason !== undefined) left.push({ id: scheduler.key, reason });
  }
  return { moved: schedulers.length - left.length, left };
}

/** The reason for which a job scheduler has no equivalent; undefined if it has one. */
export function reasonToStay({ limit, startDate }: BullmqScheduler, nowMs: number): string | undefined {
  if (limit !== undefined) return `it has the limit ${limit}, which schedules do not have`;
  if (startDate !== undefined && startDate > nowMs)
    return `it starts at ${new Date(startDate).toISOString()}, and schedules start at once`;
  return undefined;
}

/** @returns the reason if it stays */
async function move(parts: SchedulerParts, scheduler: BullmqScheduler): Promise<string | undefined> {
  const { source, target, conversion } = parts;
  const { key, next } = scheduler;
  const reason = reasonToStay(scheduler, parts.nowMs());
  if (reason !== undefined) return reason;
  const pending = next === undefined ? undefined : await source.getJob(`repeat:${key}:${next}`);
  const dueMs = pending && ((await dueMsOf(source, pending)) ?? next!);
  try {
    const definition = definitionOf(parts, scheduler, pending);
    const existing = await target.schedules.get(key);
    if (existing && existing.queue !== target.queue) return `a schedule of the queue ${existing.queue} has its id`;
    // In one transaction, so that the tick of the pending job runs once if the process dies.
    await target.dataSource.transaction(async (manager) => {
      const coverage = existing
        ? { nextMs: existing.nextAt?.getTime(), lastMs: existing.lastAt?.getTime() }
        : { nextMs: (await target.schedules.upsert(key, definition, { manager }))?.getTime() };
      if (!pending || isCovered(scheduler, dueMs!, coverage)) return;
      await target.producer.enqueueMany(target.queue, [convertedJob(pending, conversion, { dueMs })], { manager });
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === 'INVALID_OPTIONS') return message;
    throw error;
  }
  await source.removeJobScheduler(key);
  await removeIfDue(source, pending);
  return undefined;
}

/** @param pending its next job */
function definitionOf(
  { target, tz, conversion }: SchedulerParts,
  scheduler: BullmqScheduler,
  pending: BullmqJob | undefined,
): ScheduleDefinition {
  const { name, pattern, every, endDate, template } = scheduler;
  // BullMQ 5 stores no template for a job with the option `repeat` before its first run.
  const { data, opts = {} } = template ?? pending ?? {};
  return {
    queue: target.queue,
    jobName: convertedName(name, conversion.names),
    ...(pattern === undefined ? { every: every! } : { cron: pattern, tz: scheduler.tz ?? tz }),
    ...(endDate !== undefined && { until: new Date(endDate) }),
    payload: data ?? {},
    options: jobOptionsOf(opts, 0),
    // BullMQ adds the next job when the one before it starts, and runs one job for all missed times.
    overlap: 'one-waiting',
    missed: 'once',
  };
}

/** Whether the schedule runs the tick of the pending job, or has run it. Ticks of `every` differ from those of BullMQ. */
function isCovered(
  { pattern }: BullmqScheduler,
  dueMs: number,
  { nextMs, lastMs }: { nextMs?: number; lastMs?: number },
) {
  if (pattern === undefined) return false;
  return (nextMs !== undefined && dueMs >= nextMs) || (lastMs !== undefined && lastMs >= dueMs);
}

/** BullMQ deletes the pending job with its scheduler only if it is delayed. */
async function removeIfDue(source: BullmqQueue, pending: BullmqJob | undefined): Promise<void> {
  const remaining = pending && (await source.getJob(pending.id!));
  await remaining?.remove({ removeChildren: false });
}
