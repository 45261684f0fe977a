import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandFailedError } from '../errors.js';

// The parts of BullMQ 5 and 6 that the import uses. The package is that of the application, so its types are not at hand.

export interface BullmqBackoff {
  readonly type: string;
  readonly delay?: number;
  readonly jitter?: number;
}

export interface BullmqJobOptions {
  readonly attempts?: number;
  readonly backoff?: number | BullmqBackoff;
  readonly priority?: number;
}

export interface BullmqJob {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
  readonly opts: BullmqJobOptions;
  /** When it was added, in milliseconds since 1970. */
  readonly timestamp: number;
  readonly attemptsMade: number;
  readonly failedReason?: string;
  readonly stacktrace?: readonly (string | null)[] | null;
  /** Its parent in a flow. */
  readonly parentKey?: string;
  /** The job scheduler that has added it. */
  readonly repeatJobKey?: string;
  getDependenciesCount(): Promise<Readonly<Record<string, number>>>;
  remove(options: { removeChildren: boolean }): Promise<void>;
}

export interface BullmqScheduler {
  readonly key: string;
  readonly name: string;
  readonly pattern?: string;
  readonly every?: number;
  readonly tz?: string;
  readonly limit?: number;
  readonly startDate?: number;
  readonly endDate?: number;
  readonly next?: number;
  readonly template?: { readonly data?: unknown; readonly opts?: BullmqJobOptions };
}

/** `paused`: the list that BullMQ 5 and older keep while a queue is paused. */
export type BullmqState = 'active' | 'waiting' | 'paused' | 'prioritized' | 'delayed' | 'failed' | 'waiting-children';

interface RedisClient {
  zscore(key: string, member: string): Promise<string | null>;
}

export interface BullmqQueue {
  readonly name: string;
  /** Of BullMQ 5. Version 6 has it in its backend. */
  readonly client?: Promise<RedisClient>;
  getBackend?(): { readonly client: Promise<RedisClient> };
  on(event: 'error', listener: () => void): unknown;
  toKey(type: string): string;
  isPaused(): Promise<boolean>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  getJob(id: string): Promise<BullmqJob | undefined>;
  getJobs(states: readonly BullmqState[], start: number, end: number, ascending: boolean): Promise<BullmqJob[]>;
  getJobCounts(...states: readonly BullmqState[]): Promise<Readonly<Record<BullmqState, number>>>;
  getJobSchedulers(start: number, end: number, ascending: boolean): Promise<BullmqScheduler[]>;
  removeJobScheduler(key: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Bullmq {
  Queue: new (name: string, options: object) => BullmqQueue;
}

/** Opens a queue with the BullMQ of the project in this folder. */
export async function openBullmqQueue(name: string, url: string, prefix: string): Promise<BullmqQueue> {
  const { Queue } = await loadBullmq();
  const queue = new Queue(name, { prefix, connection: { url, maxRetriesPerRequest: 3 } });
  // The call that fails reports the error.
  queue.on('error', () => {});
  return queue;
}

async function loadBullmq(): Promise<Bullmq> {
  const project = createRequire(join(process.cwd(), 'package.json'));
  let path: string;
  try {
    path = project.resolve('bullmq');
  } catch {
    throw new CommandFailedError(
      `expected the package bullmq in ${process.cwd()}, found none: run the command in the project that uses BullMQ`,
    );
  }
  return (await import(pathToFileURL(path).href)) as Bullmq;
}

/**
 * When a delayed job is due; undefined if it is not delayed. The options of a retried job do not say it, so the time is read
 * from the set of delayed jobs.
 */
export async function dueMsOf(queue: BullmqQueue, { id }: BullmqJob): Promise<number | undefined> {
  const client = await (queue.getBackend?.().client ?? queue.client!);
  const score = await client.zscore(queue.toKey('delayed'), id!);
  // The low 12 bits of a score order the jobs of a millisecond.
  return score === null ? undefined : Math.floor(Number(score) / 4096);
}
