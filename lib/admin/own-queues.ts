/** The queues of this process, of which the database may not know yet. */
export interface OwnQueues {
  /** The queues that options, handlers, subscriptions or schedules of this process name. */
  declared(): string[];
  /** @param name of a job; undefined: any */
  hasHandler(queue: string, name?: string): boolean;
  /** Whether `worker.queues` allows the queue, which has a handler. */
  isWorked(queue: string): boolean;
  /** Why this process claims no job of the queue: a pause of the process, or the function `enabled` of the queue. */
  closedBy(queue: string): 'pause' | 'enabled' | undefined;
}
