import type { PollTimes } from './poll-health.js';
import type { Worker } from './worker.js';

/**
 * `starting`: the worker registers itself in the database. `running`: it claims jobs. `stopping`: it claims no more jobs
 * and waits for running ones.
 */
export type RunnerState = 'stopped' | 'starting' | 'running' | 'stopping';

export interface WorkerHealth extends PollTimes {
  /** The jobs whose handlers run. */
  readonly running: number;
  /** The jobs that are claimed and wait for a free slot. */
  readonly prefetched: number;
}

/** The worker of this process. All times are those of this process. */
export interface RunnerHealth extends WorkerHealth {
  readonly state: RunnerState;
  /** The option `worker.poll.max`, in milliseconds. A pause between two polls is up to a fifth longer. */
  readonly maxPollPauseMs: number;
}

const NO_WORKER: WorkerHealth = {
  lastPollAt: null,
  isPolling: false,
  databaseDownSince: null,
  running: 0,
  prefetched: 0,
};

export function runnerHealth(
  state: RunnerState,
  worker: Pick<Worker, 'poller' | 'queues'> | undefined,
  { pollMaxMs }: { readonly pollMaxMs: number },
): RunnerHealth {
  return { ...(worker ? healthOf(worker) : NO_WORKER), state, maxPollPauseMs: pollMaxMs };
}

function healthOf({ poller, queues }: Pick<Worker, 'poller' | 'queues'>): WorkerHealth {
  const prefetched = queues.occupancy.reduce((sum, queue) => sum + queue.prefetched, 0);
  return { ...poller.health.read(), running: queues.running, prefetched };
}
