import { hasCode } from '../job/errors.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { Waiter } from './waiter.js';

// The errors of waits whose job is finished or gone. After any other error the job still exists.
const FINAL_ERROR_CODES = ['JOB_FAILED', 'JOB_CANCELLED', 'JOB_NOT_FOUND', 'RESULT_NOT_KEPT'];

/** Waits for the results of jobs that a producer has enqueued. */
export class ResultTracker {
  constructor(
    private readonly waiter: Waiter,
    readonly cancel: (id: number) => Promise<boolean>,
  ) {}

  waitFor(id: number, options: ResolvedWaitOptions): Promise<unknown> {
    return this.waiter.waitFor(id, options);
  }

  /**
   * Waits for the result of a job that was enqueued by `request`, and deletes its outcome afterwards. If the wait fails
   * before the job ends, the job is cancelled, because its result has no receiver.
   */
  waitForReply(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown> {
    const reply = this.#replyOrCancel(id, queue, options);
    this.waiter.awaitOnClose(reply);
    return reply;
  }

  async #replyOrCancel(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown> {
    try {
      return await this.waiter.waitFor(id, options, queue);
    } catch (error) {
      // If the cancellation fails, the job runs, and its result is pruned.
      if (!FINAL_ERROR_CODES.some((code) => hasCode(error, code))) await this.cancel(id).catch(() => undefined);
      throw error;
    } finally {
      // If the deletion fails, the pruner deletes the outcome after a minute.
      await this.waiter.deleteOutcome(id).catch(() => undefined);
    }
  }
}
