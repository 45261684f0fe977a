export interface WorkerRegistration {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
}

/**
 * The list of workers. It is for people to read: no guarantee for jobs depends on it. A worker that was killed stays listed
 * for a day.
 */
export interface WorkerRegistry {
  register(worker: WorkerRegistration): Promise<void>;

  setQueues(workerId: string, queues: readonly string[]): Promise<void>;

  /** Sets the time at which the worker was seen last. */
  markSeen(workerId: string): Promise<void>;

  deregister(workerId: string): Promise<void>;
}
