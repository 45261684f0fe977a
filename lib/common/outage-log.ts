import type { JobLogger } from './job-logger.js';
import { logText } from './log-text.js';

/** Logs once when an operation starts to fail and once when it works again, however often it is tried in between. */
export class OutageLog {
  #isFailing = false;

  /**
   * @param problem the beginning of the warning, such as "Cannot poll for jobs"
   * @param recovery the message when it works again. Default: none, if the log of another operation reports it
   */
  constructor(
    private readonly logger: JobLogger,
    private readonly problem: string,
    private readonly recovery?: string,
  ) {}

  onFailure(error: unknown): void {
    const line = `${this.problem}: ${logText((error as Error).message)}`;
    // The library goes on to try. Only the first failure is news.
    this.logger[this.#isFailing ? 'debug' : 'warn'](line);
    this.#isFailing = true;
  }

  /** For a PollLoop: logs the failure of its tick, and returns the pause before the next one. */
  retryAfter(pauseMs: number): (error: unknown) => number {
    return (error) => {
      this.onFailure(error);
      return pauseMs;
    };
  }

  onSuccess(): void {
    if (this.#isFailing && this.recovery !== undefined) this.logger.log(this.recovery);
    this.#isFailing = false;
  }
}
