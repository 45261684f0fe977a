import type { DataSource } from 'typeorm';
import type { EnqueuedJob, JobToEnqueue } from '../../../producer/enqueued-job.js';
import type { QueueProducer } from '../../../producer/queue-producer.js';
import { hasCode } from '../../../job/errors.js';
import { dueMsOf, type BullmqJob, type BullmqQueue, type BullmqState } from './bullmq-queue.js';
import { convertedJob, type Conversion } from './converted-job.js';
import { DeadJobs } from './dead-jobs.js';

const PAGE_SIZE = 500;
const REJECTIONS = ['INVALID_OPTIONS', 'PAYLOAD_INVALID', 'PAYLOAD_TOO_LARGE'];

export type MovedState = Extract<BullmqState, 'waiting' | 'paused' | 'prioritized' | 'delayed' | 'failed'>;

/** A job or a job scheduler that stays in Redis. */
export interface Left {
  readonly id: string;
  readonly reason: string;
}

export interface JobMoverParts {
  readonly source: BullmqQueue;
  readonly conversion: Conversion;
  readonly target: { readonly queue: string; readonly producer: QueueProducer; readonly dataSource: DataSource };
  readonly prefix: string | undefined;
  /** The job schedulers that stay in Redis. BullMQ keeps their next jobs. */
  readonly stayingSchedulers: ReadonlySet<string>;
  readonly onPage: (moved: number) => void;
}

/** A job, and its equivalent. */
interface Pair {
  readonly job: BullmqJob;
  readonly converted: JobToEnqueue;
}

/**
 * Moves jobs page by page: stores a page, and deletes it from Redis after the commit. If the process dies in between, the
 * next import finds the jobs by their keys, and only deletes them.
 */
export class JobMover {
  readonly moved: Partial<Record<MovedState, number>> = {};
  readonly left: Left[] = [];
  /** Jobs that an earlier import had stored. */
  known = 0;
  /** Jobs of the schedulers that stay. */
  ofSchedulers = 0;
  #count = 0;
  readonly #deadJobs: DeadJobs;

  constructor(private readonly parts: JobMoverParts) {
    this.#deadJobs = new DeadJobs(parts.target.dataSource, parts.prefix);
  }

  /** In the order in which BullMQ would run them. */
  async move(state: MovedState): Promise<void> {
    const { source, onPage } = this.parts;
    let skipped = 0;
    for (;;) {
      const jobs = await source.getJobs([state], skipped, skipped + PAGE_SIZE - 1, true);
      if (jobs.length === 0) return;
      const remaining = this.#remaining;
      const pairs = await this.#convert(state, jobs);
      const { stored, known } = await this.#store(state, pairs);
      await this.#remove(stored);
      skipped += this.#remaining - remaining;
      this.known += known;
      this.moved[state] = (this.moved[state] ?? 0) + stored.length;
      onPage((this.#count += stored.length));
    }
  }

  get #remaining(): number {
    return this.left.length + this.ofSchedulers;
  }

  /** Leaves jobs of flows: their parents would wait for them for ever. */
  async #convert(state: MovedState, jobs: readonly BullmqJob[]): Promise<Pair[]> {
    const { source, conversion, stayingSchedulers } = this.parts;
    const dueMs = (job: BullmqJob) => (state === 'delayed' ? dueMsOf(source, job) : undefined);
    const pairs = await Promise.all(
      jobs.map(async (job) => {
        if (job.parentKey !== undefined || (await hasChildren(job))) {
          this.#leave(job, 'it is part of a flow');
          return undefined;
        }
        if (stayingSchedulers.has(job.repeatJobKey ?? '')) {
          this.ofSchedulers++;
          return undefined;
        }
        if (state === 'failed') return { job, converted: convertedJob(job, conversion, { attemptsMade: 0 }) };
        return { job, converted: convertedJob(job, conversion, { dueMs: await dueMs(job) }) };
      }),
    );
    return pairs.filter((pair) => pair !== undefined);
  }

  /** Stores all pairs, or if one is invalid, each of them alone. */
  async #store(state: MovedState, pairs: readonly Pair[]): Promise<{ stored: BullmqJob[]; known: number }> {
    if (pairs.length === 0) return { stored: [], known: 0 };
    try {
      const enqueued = await (state === 'failed' ? this.#storeDead(pairs) : this.#enqueue(pairs));
      return { stored: pairs.map(({ job }) => job), known: enqueued.filter(isKnown).length };
    } catch (error) {
      if (!REJECTIONS.some((code) => hasCode(error, code))) throw error;
      if (pairs.length === 1) {
        this.#leave(pairs[0]!.job, (error as Error).message);
        return { stored: [], known: 0 };
      }
    }
    const stored: BullmqJob[] = [];
    let known = 0;
    for (const pair of pairs) {
      const one = await this.#store(state, [pair]);
      stored.push(...one.stored);
      known += one.known;
    }
    return { stored, known };
  }

  #enqueue(pairs: readonly Pair[]): Promise<EnqueuedJob[]> {
    const { queue, producer } = this.parts.target;
    return producer.enqueueMany(
      queue,
      pairs.map(({ converted }) => converted),
    );
  }

  async #storeDead(pairs: readonly Pair[]): Promise<EnqueuedJob[]> {
    const { queue, producer, dataSource } = this.parts.target;
    return dataSource.transaction(async (manager) => {
      const jobs = pairs.map(({ converted }) => converted);
      const enqueued = await producer.enqueueMany(queue, jobs, { manager });
      const created = enqueued.flatMap((one, index) => (isKnown(one) ? [] : { id: one.id, job: pairs[index]!.job }));
      await this.#deadJobs.bury(manager, created);
      return enqueued;
    });
  }

  /** A job that is locked now has been started by a worker of BullMQ: it runs there, and here. */
  async #remove(jobs: readonly BullmqJob[]): Promise<void> {
    const results = await Promise.allSettled(jobs.map((job) => job.remove({ removeChildren: false })));
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected')
        this.#leave(jobs[index]!, `it is stored here, and Redis keeps it: ${(result.reason as Error).message}`);
    }
  }

  #leave({ id }: BullmqJob, reason: string): void {
    this.left.push({ id: id!, reason });
  }
}

async function hasChildren(job: BullmqJob): Promise<boolean> {
  return Object.values(await job.getDependenciesCount()).some((count) => count > 0);
}

function isKnown({ outcome }: EnqueuedJob): boolean {
  return outcome === 'existing';
}
