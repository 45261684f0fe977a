import { MISSED_AFTER_MS } from '../missed-after.js';

export const PROBLEM_RULES = [
  'no-worker',
  'failing',
  'lapsed-claims',
  'schedule-late',
  'behind',
  'paused',
  'groups-blocked',
  'dead-jobs',
  'silent-worker',
] as const;

/** A condition that `QueueAdmin.problems` examines. docs/problems.md defines each. */
export type ProblemRule = (typeof PROBLEM_RULES)[number];

/** A call of the command `nestjs-sql-queue` that shows more, or that repairs the queue. */
export interface ProblemAction {
  command: string;
  args: string[];
}

/** A problem of a queue or of a worker that a person should know of. */
export interface QueueProblem {
  rule: ProblemRule;
  /** `broken`: jobs do not run, or fail, until a person acts. `attention`: a person should look at it. */
  severity: 'broken' | 'attention';
  /** Null: it is the problem of a worker, not of one queue. */
  queue: string | null;
  /** The start of the problem by the clock of the database; null: not known. */
  since: Date | null;
  /** Whether it has grown within the last minutes; null: the rule cannot see that. */
  isGettingWorse: boolean | null;
  /** Who has paused the queue, if the audit knows. */
  by?: string;
  /** One sentence or two, without the content of jobs. */
  message: string;
  /** The most helpful one first. Empty if no command accepts the name of the queue. */
  actions: ProblemAction[];
}

/** The thresholds of the rules. `prom/alerts.yml` has the same, which a test compares. */
export const PROBLEM_LIMITS = {
  /** The oldest waiting job of a queue has been due for longer. */
  behindMs: 300_000,
  /** At least this share of at least `failingAttempts` attempts of `failingMinutes` failed. */
  failingShare: 0.2,
  failingAttempts: 10,
  failingMinutes: 5,
  /** More than this share of the jobs that ended in `deadMinutes` are dead. */
  deadShare: 0.05,
  deadMinutes: 10,
  /** A worker sent no heartbeat, or a lease ended, this long ago. */
  silentMs: 60_000,
  /** The next tick of a schedule has been due for longer: it is missed then. */
  lateMs: MISSED_AFTER_MS,
} as const;
