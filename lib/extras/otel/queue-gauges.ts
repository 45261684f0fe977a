import type { Attributes, BatchObservableResult, Meter } from '@opentelemetry/api';
import type { StatsOptions } from '../../admin/read-stats.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import type { QueueOccupancy } from '../../worker/queue/plan.js';
import { queueAttributes, SYSTEM_ATTRIBUTES } from './attributes.js';

/** The sources of the gauges: a QueueAdmin, and a SqlQueueRunner. */
export interface QueueGaugeSources {
  /** For the jobs of all queues. Every process may observe them: they share one sample. Default: no such gauges. */
  readonly admin?: { stats(options?: StatsOptions): Promise<QueueStats[]> };
  /** For the slots of the queues of this process. Default: no such gauges. */
  readonly runner?: { occupancy(): QueueOccupancy[] };
}

/** Registers gauges that are read only when a reader collects. Returns a function that removes them. */
export function observeQueues(meter: Meter, { admin, runner }: QueueGaugeSources): () => void {
  const stops = [admin && observeStats(meter, admin), runner && observeSlots(meter, runner)];
  return () => stops.forEach((stop) => stop?.());
}

function observeStats(meter: Meter, admin: NonNullable<QueueGaugeSources['admin']>): () => void {
  const jobs = meter.createObservableGauge('sql_queue.jobs', {
    description: 'Jobs of a queue by state, counted up to 10,000.',
    unit: '{job}',
  });
  const oldest = meter.createObservableGauge('sql_queue.oldest_waiting', {
    description: 'Time for which the oldest waiting job has been due; 0 if none waits.',
    unit: 's',
  });
  return observe(meter, [jobs, oldest], async (result) => {
    for (const stats of await admin.stats()) {
      const attributes = gaugeAttributes(stats.queue);
      const { waiting, scheduled, blocked, dead, active } = stats;
      const counts = {
        waiting: waiting.value,
        scheduled: scheduled.value,
        blocked: blocked.value,
        active,
        dead: dead.value,
      };
      for (const [state, count] of Object.entries(counts))
        result.observe(jobs, count, { ...attributes, 'sql_queue.job.state': state });
      result.observe(oldest, (stats.oldestWaitingMs ?? 0) / 1_000, attributes);
    }
  });
}

function observeSlots(meter: Meter, runner: NonNullable<QueueGaugeSources['runner']>): () => void {
  const slots = meter.createObservableGauge('sql_queue.slots', {
    description: 'Handler calls that may run at once in this process.',
    unit: '{call}',
  });
  const busy = meter.createObservableGauge('sql_queue.slots.busy', {
    description: 'Handler calls that run in this process.',
    unit: '{call}',
  });
  const prefetched = meter.createObservableGauge('sql_queue.prefetched', {
    description: 'Jobs that this process has claimed and not started.',
    unit: '{job}',
  });
  return observe(meter, [slots, busy, prefetched], (result) => {
    for (const queue of runner.occupancy()) {
      const attributes = gaugeAttributes(queue.queue);
      result.observe(slots, queue.slots, attributes);
      result.observe(busy, queue.busy, attributes);
      result.observe(prefetched, queue.prefetched, attributes);
    }
  });
}

type Gauge = ReturnType<Meter['createObservableGauge']>;

function observe(
  meter: Meter,
  gauges: Gauge[],
  read: (result: BatchObservableResult) => void | Promise<void>,
): () => void {
  meter.addBatchObservableCallback(read, gauges);
  return () => meter.removeBatchObservableCallback(read, gauges);
}

function gaugeAttributes(queue: string): Attributes {
  return { ...SYSTEM_ATTRIBUTES, ...queueAttributes(queue) };
}
