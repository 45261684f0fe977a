import type { Duration } from '../../common/units.js';
import { flag, option, positiveDuration, type SchemaOf } from '../../job/option-schema.js';
import type { QueuePattern } from '../../job/queue-jobs.js';
import { QUEUE_PATTERNS } from '../../job/queue-pattern.js';

export interface QueueMetricsOptions {
  /**
   * Whether this process exposes the gauges of all processes: jobs by state, oldest job, workers. Default true. False: one
   * process exposes them, such as `nestjs-sql-queue metrics --listen :9464`.
   */
  cluster?: boolean;
  /** Whether runs, waits and run times have the label `name`, the name of the job. Default false. */
  names?: boolean;
  /** The queues with metrics. `email.*` matches a prefix. Default: all. */
  queues?: readonly QueuePattern[];
  /** A scrape waits no longer than this for the database. Default 5s. */
  timeout?: Duration;
}

export const METRICS_OPTIONS = {
  cluster: option(flag, true),
  names: option(flag, false),
  queues: option(QUEUE_PATTERNS),
  timeout: option(positiveDuration, '5s'),
} satisfies SchemaOf<QueueMetricsOptions>;
