import { hasCode } from '../job/errors.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { Waiter } from './waiter.js';

// How a job can end. Whatever else a wait ends with, the job goes on.
const ENDS = ['JOB_FAILED', 'JOB_CANCELLED', 'JOB_NOT_FOUND', 'RESULT_NOT_KEPT'];

/** What a producer can do for jobs once they are in. */
export class FollowedJobs {
  constructor(
    private readonly waiter: Waiter,
    readonly cancel: (id: number) => Promise<boolean>,
  ) {}

  waitFor(id: number, options: ResolvedWaitOptions): Promise<unknown> {
    return this.waiter.waitFor(id, options);
  }

  /** The answer to a job that was put in to be answered, of which nothing stays. Nobody runs it for whoever has gone. */
  answerTo(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown> {
    const answer = this.#answerTo(id, queue, options);
    this.waiter.follow(answer);
    return answer;
  }

  async #answerTo(id: number, queue: string, options: ResolvedWaitOptions): Promise<unknown> {
    try {
      return await this.waiter.waitFor(id, options, queue);
    } catch (error) {
      // If that does not reach the database either, the job runs in vain.
      if (!ENDS.some((code) => hasCode(error, code))) await this.cancel(id).catch(() => undefined);
      throw error;
    } finally {
      // What is left is kept for a minute, and then pruned.
      await this.waiter.forget(id).catch(() => undefined);
    }
  }
}
