import type { Clock } from '../../common/clock.js';
import type { JobLogger } from '../../common/job-logger.js';
import type { ActiveClaim } from '../queue/active-claim.js';

const PAUSE_MS = 60_000;
const MAX_JOBS = 5;

/** Logs that the process stood still for longer than the leases of running jobs, at most once a minute. */
export class StandstillLog {
  #nextAt = -Infinity;

  constructor(
    private readonly logger: JobLogger,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly workerId: string,
  ) {}

  /**
   * @param lateMs the delay of a timer: the process stood still for at least this time
   * @param expired the claims whose leases ended meanwhile
   */
  report(lateMs: number, expired: readonly ActiveClaim[]): void {
    const jobs = expired.flatMap(({ queue, unendedIds }) => unendedIds.map((id) => `${id} of queue "${queue}"`));
    const now = this.clock.monotonic();
    if (jobs.length === 0 || now < this.#nextAt) return;
    this.#nextAt = now + PAUSE_MS;
    const more = jobs.length > MAX_JOBS ? ` and ${jobs.length - MAX_JOBS} more` : '';
    this.logger.warn(
      `The event loop stood still for at least ${(lateMs / 1_000).toFixed(1)} s, past the lease of job ` +
        `${jobs.slice(0, MAX_JOBS).join(', ')}${more}: another worker may run it again. Either a handler computes without a ` +
        `pause, or the process was stopped (SIGSTOP, a debugger, a machine that sleeps). For handlers that compute, set ` +
        `\`worker: { heartbeat: 'thread' }\`, compute in worker_threads, or raise \`lease\`.`,
      { workerId: this.workerId },
    );
  }
}
