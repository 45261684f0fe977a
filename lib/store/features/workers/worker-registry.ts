export interface WorkerRegistration {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  /** The queues that this process has a handler for and does not work, because of `worker.queues`. Default: none. */
  readonly excluded?: readonly string[];
}

/** For people to read: no guarantee for jobs depends on it. A worker that was killed stays listed for a day. */
export interface WorkerRegistry {
  register(worker: WorkerRegistration): Promise<void>;

  setQueues(workerId: string, queues: readonly string[]): Promise<void>;

  markSeen(workerId: string): Promise<void>;

  deregister(workerId: string): Promise<void>;
}
