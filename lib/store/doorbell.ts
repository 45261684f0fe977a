/** What ended the listening: somebody's ring, the certainty that there are jobs, or neither. */
export type Heard = 'ring' | 'jobs' | 'nothing';

// No queue has a name with this character.
const OF_WORKER = '@';

/** The name under which a worker is notified of what concerns it alone. It stands beside the names of its queues. */
export function workerName(workerId: string): string {
  return OF_WORKER + workerId;
}

/** The worker whose name that is; undefined: it is the name of a queue. */
export function workerOf(name: string): string | undefined {
  return name.startsWith(OF_WORKER) ? name.slice(OF_WORKER.length) : undefined;
}

/**
 * Tells workers in other processes of jobs that they can claim now. Only ever a hint: whatever goes wrong with it, their
 * polls find the jobs.
 */
export interface Doorbell {
  /**
   * Tries whether a ring arrives here. Answers why not, or undefined where it does. Rejects with a StoreUnavailableError
   * where the database is away, so that nothing can be said.
   */
  findFault(stop: AbortSignal): Promise<string | undefined>;

  /**
   * Answers as soon as somebody rings for one of the queues or for all of them, after a while without, or when stopped. From
   * `onListening` on no ring is missed; what was enqueued before has to be looked for.
   */
  listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Heard>;

  /** Lets go of what listening takes, until somebody listens again. */
  hangUp(): void;

  /**
   * Jobs are being put in: a ring that follows soon is quicker. Where none does, it was in vain. Never waits, never fails.
   */
  foresee(): void;

  /** Wakes workers of other processes that listen to the queue, one for each job at the most. Never waits, never fails. */
  ring(queue: string, jobs: number): void;

  /** Wakes all that listen, whatever to: something has changed that their next look would see. */
  ringAll(): void;

  /** Resolves when all that was rung for has been rung, or cannot be. */
  close(): Promise<void>;
}
