import type { Duration } from '../../common/units.js';
import { flag, option, positiveDuration, type SchemaOf } from '../../job/option-schema.js';
import type { QueuePattern } from '../../job/queue-jobs.js';
import { QUEUE_PATTERNS } from '../../job/queue-pattern.js';

export interface ReadinessOptions {
  /**
   * `degraded` if the oldest waiting job of a queue has been due for longer than this. Paused queues do not count. It
   * reads the shared statistics of the queues. Default: the lag is not checked.
   */
  maxLag?: Duration;
  /** The queues whose lag is checked. `email.*` matches a prefix. Default: all. */
  queues?: readonly QueuePattern[];
  /**
   * `down` unless the worker of this process runs. Default: true if this process has handlers and starts its worker with
   * the application.
   */
  requireRunner?: boolean;
  /** `down` if the database has been away for this time. Default 10s. */
  maxOutage?: Duration;
  /** The check waits no longer than this for the database. Default 3s. */
  timeout?: Duration;
}

export interface LivenessOptions {
  /** `down` if the worker runs, and its last poll is older than this and its usual pause. Default 60s. */
  maxPollAge?: Duration;
}

export const READINESS_OPTIONS = {
  maxLag: option(positiveDuration),
  queues: option(QUEUE_PATTERNS),
  requireRunner: option(flag),
  maxOutage: option(positiveDuration, '10s'),
  timeout: option(positiveDuration, '3s'),
} satisfies SchemaOf<ReadinessOptions>;

export const LIVENESS_OPTIONS = {
  maxPollAge: option(positiveDuration, '60s'),
} satisfies SchemaOf<LivenessOptions>;
