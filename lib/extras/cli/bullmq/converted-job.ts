import { createHash } from 'node:crypto';
import type { EnqueueOptions, JobRetryOptions } from '../../../job/enqueue-options.js';
import type { JobToEnqueue } from '../../../producer/enqueued-job.js';
import type { BullmqJob, BullmqJobOptions } from './bullmq-queue.js';

// A repeated import finds the jobs of the import before it by their keys. It must come within this time.
const KEY_UNTIL = '7d';
const MAX_KEY_LENGTH = 255;
const MAX_PRIORITY = 32_767;
const CENTURY_MS = 100 * 365 * 86_400_000;

/** `default` is the name of jobs without one in Bull. */
const OTHER_NAMES: Readonly<Record<string, string>> = { __default__: 'default' };

interface Progress {
  /** When a delayed job is due. */
  readonly dueMs?: number | undefined;
  /** The attempts that count. Default: those that have failed. */
  readonly attemptsMade?: number;
}

export interface Conversion {
  /** Of the queue in BullMQ. */
  readonly queue: string;
  /** New names of jobs by those in BullMQ. */
  readonly names: ReadonlyMap<string, string>;
}

/** The same job for this queue. */
export function convertedJob(
  job: BullmqJob,
  { queue, names }: Conversion,
  { dueMs, attemptsMade = job.attemptsMade }: Progress = {},
): JobToEnqueue {
  const options: EnqueueOptions = {
    name: convertedName(job.name, names),
    ...jobOptionsOf(job.opts, attemptsMade),
    headers: { 'bullmq.id': job.id! },
    key: keyOf(queue, job),
    keyUntil: KEY_UNTIL,
    ...(dueMs !== undefined && { runAt: new Date(dueMs) }),
  };
  return { payload: job.data ?? null, options };
}

export function convertedName(name: string, names: ReadonlyMap<string, string>): string {
  return names.get(name) ?? OTHER_NAMES[name] ?? name;
}

/** @param attemptsMade the attempts that have failed */
export function jobOptionsOf({ attempts, backoff, priority = 0 }: BullmqJobOptions, attemptsMade: number) {
  const retry: JobRetryOptions = {
    attempts: Math.max(1, (attempts || 1) - attemptsMade),
    ...backoffOf(backoff, attemptsMade),
  };
  return { priority: Math.min(priority, MAX_PRIORITY), retry };
}

/** A custom strategy is a function of the worker, so the queue decides. */
function backoffOf(given: BullmqJobOptions['backoff'], attemptsMade: number): Pick<JobRetryOptions, 'backoff'> {
  const { type, delay = 0, jitter = 0 } = typeof given === 'object' ? given : { type: 'fixed', delay: given ?? 0 };
  const common = { max: CENTURY_MS, jitter };
  if (type === 'fixed') return { backoff: { ...common, type, delay: Math.min(delay, CENTURY_MS) } };
  if (type !== 'exponential') return {};
  return { backoff: { ...common, type, delay: Math.min(delay * 2 ** attemptsMade, CENTURY_MS) } };
}

/**
 * An id can be used again after its job was removed, and by a queue of this name on another Redis. The time of the job
 * sets these apart.
 */
function keyOf(queue: string, { id, timestamp }: BullmqJob): string {
  const key = `bullmq:${queue}:${id}:${timestamp}`;
  return key.length <= MAX_KEY_LENGTH ? key : `bullmq:sha256:${createHash('sha256').update(key).digest('hex')}`;
}
