import { hasCode, WaitTimeoutError } from '../job/errors.js';

/**
 * The reply to a request. If it times out while this process has no free slot for the queue, the error names the likely
 * cause: a handler that requests from its own queue.
 */
export async function explainedReply<T>(
  reply: Promise<T>,
  queue: string,
  worker: { isFull(queue: string): boolean },
): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    if (!hasCode(error, 'WAIT_TIMEOUT') || !worker.isFull(queue)) throw error;
    const { jobId, timeoutMs } = error as WaitTimeoutError;
    throw new WaitTimeoutError(
      jobId,
      timeoutMs,
      ` All slots of this process for queue "${queue}" are busy. A handler that requests from its own queue keeps its slot ` +
        `while it waits: raise \`concurrency\`, use another queue, or call job.fanOut(), which leaves the slot.`,
    );
  }
}
