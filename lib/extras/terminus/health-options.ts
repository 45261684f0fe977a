import type { Duration } from '../../common/units.js';
import { PROBLEM_RULES, type ProblemRule } from '../../job/problems/queue-problem.js';
import { flag, kind, option, positiveDuration, type SchemaOf } from '../../job/option-schema.js';
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

export interface ProblemsOptions {
  /**
   * The rules of `QueueAdmin.problems` that make the check `down`. Default: none, because an orchestrator that removes or
   * restarts this process would not repair the queue.
   */
  down?: readonly ProblemRule[];
  /** The rules that make the check `degraded`. Default: those whose severity is `broken`. */
  degraded?: readonly ProblemRule[];
  /** The queues whose problems count. `email.*` matches a prefix. Default: all, and the workers. */
  queues?: readonly QueuePattern[];
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

const RULES = kind(
  `a list of rules: ${PROBLEM_RULES.join(', ')}`,
  (value): value is readonly ProblemRule[] =>
    Array.isArray(value) && value.every((one) => PROBLEM_RULES.includes(one as ProblemRule)),
);

export const PROBLEMS_OPTIONS = {
  down: option(RULES, []),
  degraded: option(RULES),
  queues: option(QUEUE_PATTERNS),
  timeout: option(positiveDuration, '3s'),
} satisfies SchemaOf<ProblemsOptions>;

export const LIVENESS_OPTIONS = {
  maxPollAge: option(positiveDuration, '60s'),
} satisfies SchemaOf<LivenessOptions>;
