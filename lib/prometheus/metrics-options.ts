import type { Duration } from '../common/duration.js';
import { flag, kind, option, positiveDuration, type SchemaOf } from '../job/option-schema.js';
import type { QueuePattern } from '../job/queue-jobs.js';

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

const PATTERNS = kind(
  `a list of queue names or patterns such as 'email.*'`,
  (value): value is readonly QueuePattern[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
);

export const METRICS_OPTIONS = {
  cluster: option(flag, true),
  names: option(flag, false),
  queues: option(PATTERNS),
  timeout: option(positiveDuration, '5s'),
} satisfies SchemaOf<QueueMetricsOptions>;
