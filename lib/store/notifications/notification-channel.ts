/** How listening ended: `wake-up` by a notification, `jobs` by one with waiting jobs, `none` by a timeout or `stop`. */
export type Notification = 'wake-up' | 'jobs' | 'none';

// No queue name contains this character.
const WORKER_PREFIX = '@';

/** The name to notify a single worker. It is listened to beside the names of the worker's queues. */
export function workerName(workerId: string): string {
  return WORKER_PREFIX + workerId;
}

/** Undefined for the name of a queue. */
export function workerIdOf(name: string): string | undefined {
  return name.startsWith(WORKER_PREFIX) ? name.slice(WORKER_PREFIX.length) : undefined;
}

/** Notifies other processes of jobs that they can claim now. A notification may be lost: polling finds the jobs. */
export interface NotificationChannel {
  /**
   * Sends a test notification to this process. Returns undefined if it arrives, and the reason if it does not. Rejects
   * with a StoreUnavailableError if the database is unreachable.
   */
  findProblem(stop: AbortSignal): Promise<string | undefined>;

  /**
   * Resolves after a notification for one of the names or for all listeners, after about 20 s without one, or after
   * `stop`. No notification is missed after `onListening`. Poll once for jobs that were enqueued before.
   */
  listen(names: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Notification>;

  /** Closes the connection for listening. The next `listen` opens it again. */
  disconnect(): void;

  /** Call it before an enqueue: a notification within 50 ms is then faster. Never waits, never fails. */
  prepare(): void;

  /** Wakes workers of other processes that listen to the queue, at most one per job. Never waits, never fails. */
  notify(queue: string, jobs: number): void;

  /** Wakes all listeners, because a state has changed that their next poll reads. Never waits, never fails. */
  notifyAll(): void;

  /** Resolves after the pending notifications were sent, or after 1 s. */
  close(): Promise<void>;
}
