import { didYouMean } from '../../common/message-text.js';
import { SqlQueueError } from './sql-queue-error.js';

/** The queue does not exist: no process has declared it, and no table knows it. Nothing was changed. */
export class QueueNotFoundError extends SqlQueueError {
  readonly code = 'QUEUE_NOT_FOUND';

  /**
   * @param known the queues that exist
   * @param wayOut for a caller that means a new queue
   */
  constructor(
    readonly queue: string,
    known: readonly string[],
    wayOut: string,
  ) {
    const suggestion =
      didYouMean(queue, known) || `. ${known.length === 0 ? 'There are no queues yet.' : listOf(known)}`;
    super(
      `There is no queue "${queue}"${suggestion} A queue exists if it has jobs, settings, schedules, subscriptions or a worker, ` +
        `or if this process declares it. ${wayOut}`.trimEnd(),
    );
  }
}

const MAX_LISTED = 10;

function listOf(known: readonly string[]): string {
  const shown = known.slice(0, MAX_LISTED).join(', ');
  return `Known: ${shown}${known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : ''}.`;
}
