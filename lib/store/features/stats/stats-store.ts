import type { QueueSettingsRecord } from '../../../job/settings/queue-configuration.js';

/** A number of jobs that is counted up to 10,000. */
export interface JobCount {
  value: number;
  /** Whether there may be more than `value` jobs. */
  atLeast: boolean;
}

/** The jobs of a queue at the time of the last sample. */
export interface QueueStats {
  queue: string;
  paused: boolean;
  /** The settings made at run time. A missing one is as in the options of each process. */
  settings: QueueSettingsRecord;
  /** Jobs that a worker can claim now. */
  waiting: JobCount;
  scheduled: JobCount;
  /** Jobs that wait for other jobs of their flow. */
  blocked: JobCount;
  /** Jobs that wait in a stage for `QueueConsumer.claim`. */
  staged: JobCount;
  dead: JobCount;
  /** Running jobs and assigned jobs. */
  active: number;
  /** Jobs that a worker has prefetched and not started. */
  prefetched: number;
  /**
   * How long the oldest waiting job has been due, in milliseconds; null: none waits. It considers the first job of each of
   * the ten most urgent priorities, and 10,000 jobs in groups.
   */
  oldestWaitingMs: number | null;
  /** The time until the next scheduled job is due, in milliseconds; null: none is scheduled. */
  nextDueInMs: number | null;
  /** The workers that serve the queue and were seen within the last minute. */
  workers: number;
  sampledAt: Date;
  /** The age of the sample when it was read, in milliseconds, by the clock of the database. */
  ageMs: number;
}

/** The statistics of all queues, as one process has read them. */
export interface StatsSample {
  readonly queues: readonly Omit<QueueStats, 'sampledAt' | 'ageMs'>[];
  /** The clock of the database, in milliseconds. */
  readonly sampledAtMs: number;
  /** How long reading them took, in milliseconds. */
  readonly tookMs: number;
}

export interface LastSample extends Omit<StatsSample, 'queues'> {
  /** Null before the first sample. */
  readonly queues: StatsSample['queues'] | null;
  /** In milliseconds. */
  readonly ageMs: number;
}

/** The last sample of the statistics, which all processes share, and the lease of the process that takes the next one. */
export interface StatsStore {
  read(): Promise<LastSample>;
  /**
   * Lets this process take the next sample for up to 30 seconds.
   *
   * @param after the time of the last sample; 0: there is none
   * @returns whether it may: not if another process may, or has taken a sample after that time
   */
  takeLease(after: number): Promise<boolean>;
  /** Reads the statistics and stores nothing. */
  sample(): Promise<Omit<StatsSample, 'tookMs'>>;
  /** Reads the statistics and replaces the last sample. */
  takeSample(): Promise<StatsSample>;
}
