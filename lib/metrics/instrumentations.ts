import type { DatabaseClock } from '../common/database-clock.js';
import type { JobLogger } from '../common/job-logger.js';
import type { EndedAttempt, QueueInstrumentation } from '../job/instrumentation.js';
import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';

const OUTCOME_OF = {
  complete: 'completed',
  retry: 'failed',
  dead: 'dead',
  cancel: 'cancelled',
  release: 'released',
  snooze: 'snoozed',
  block: 'blocked',
} as const satisfies Record<Outcome['kind'], EndedAttempt['outcome']>;

type EndedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt'> &
  Partial<Pick<ClaimedJob, 'createdAtMs' | 'dueAtMs'>>;

/** Calls all instrumentations of this process. */
export class Instrumentations {
  readonly #failed = new Set<QueueInstrumentation>();

  constructor(
    private readonly all: readonly QueueInstrumentation[],
    private readonly databaseClock: DatabaseClock,
    private readonly logger: JobLogger,
  ) {}

  /**
   * @param ranMs null if the attempt did not start in this process
   * @param startedAtMs the monotonic time at which the handler was called; null: it was not
   */
  ended(job: EndedJob, outcome: Outcome, ranMs: number | null, startedAtMs: number | null): void {
    const { id: jobId, queue, name, attempt } = job;
    const error = 'error' in outcome ? outcome.error : undefined;
    const waitMs = startedAtMs === null ? null : this.#waitMs(job, startedAtMs);
    const ended = { queue, name, jobId, attempt, outcome: OUTCOME_OF[outcome.kind], waitMs, ranMs, error };
    for (const instrumentation of this.all) {
      try {
        instrumentation.ended?.(ended);
      } catch (error) {
        this.#onError(instrumentation, error);
      }
    }
  }

  #waitMs({ dueAtMs, createdAtMs }: EndedJob, startedAtMs: number): number | null {
    const startedAt = this.databaseClock.at(startedAtMs);
    const dueAt = dueAtMs ?? createdAtMs;
    return startedAt === undefined || dueAt === undefined ? null : Math.max(0, startedAt - dueAt);
  }

  /** Logs the first error of each instrumentation: it may fail for every job. */
  #onError(instrumentation: QueueInstrumentation, thrown: unknown): void {
    if (this.#failed.has(instrumentation)) return;
    this.#failed.add(instrumentation);
    const { name, message, stack } = storedError(thrown);
    this.logger.error(
      `An instrumentation threw in ended(): ${name}: ${message}. Its later errors are not logged.`,
      stack,
    );
  }
}
