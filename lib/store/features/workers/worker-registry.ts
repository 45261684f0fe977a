export interface WorkerRegistration {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** For each queue the calls of its handlers that may run at once. */
  readonly queues: ReadonlyMap<string, number>;
  /** Those over all queues. Default: no limit. */
  readonly slots?: number | null;
  /** The queues that this process has a handler for and does not work, because of `worker.queues`. Default: none. */
  readonly excluded?: readonly string[];
}

/** For people to read: no guarantee for jobs depends on it. A worker that was killed stays listed for a day. */
export interface WorkerRegistry {
  register(worker: WorkerRegistration): Promise<void>;

  setQueues(workerId: string, queues: ReadonlyMap<string, number>): Promise<void>;

  /** False if the worker has no row. */
  markSeen(workerId: string): Promise<boolean>;

  deregister(workerId: string): Promise<void>;
}
