import type { QueueJob, QueueJobOptions } from '@bull-board/api/typings/app';
import { adminOf, MAY_CREATE, type BullBoardParts } from './bull-board-parts.js';
import { BullJob, refuseHidden } from './bull-job.js';
import { stateOf } from './job-statuses.js';
import { Refusal } from '../dashboard/error-status.js';

/** Jobs up to this number are counted for a message. */
const MAX_COUNTED = 1_000;
/** The text by which bull-board recognizes this refusal. */
const HAS_ACTIVE_JOBS = 'Cannot obliterate queue with active jobs';

/** The changes of one queue, each in the name of the user of the request. */
export class QueueWrites {
  constructor(
    private readonly queue: string,
    private readonly parts: BullBoardParts,
  ) {}

  async add(name: string, payload: unknown, { attempts, ...options }: QueueJobOptions): Promise<QueueJob> {
    refuseHidden(payload);
    const { id } = await adminOf(this.parts).enqueue(this.queue, payload, {
      ...options,
      ...(name !== '' && { name }),
      ...(attempts !== undefined && { retry: attempts }),
      ...MAY_CREATE,
    });
    const job = await this.parts.admin.get(id);
    if (!job) throw new Refusal(`Job ${id} was enqueued, and has ended without a trace.`);
    return new BullJob(job, this.parts);
  }

  /** @returns the number of jobs that started anew */
  async retryAll(status: string): Promise<number> {
    const state = stateOf(status);
    const retried = await adminOf(this.parts).retry({ queue: this.queue, state });
    this.parts.overview.forget(this.queue);
    if (state === 'dead') await this.#reportUnrecoverable(retried);
    return retried;
  }

  async clean(status: string, graceMs: number): Promise<void> {
    const state = stateOf(status);
    if (state === 'active') throw new Refusal('Active jobs cannot be removed. Release or cancel them first.');
    const isFinished = state === 'completed' || state === 'dead';
    const finishedBefore = new Date(this.parts.clock.now().getTime() - graceMs);
    await adminOf(this.parts).remove({ queue: this.queue, state, ...(isFinished && { finishedBefore }) });
    this.parts.overview.forget(this.queue);
  }

  /** Removes the jobs that have not started. */
  async empty(): Promise<void> {
    for (const state of ['waiting', 'scheduled', 'blocked'] as const)
      await adminOf(this.parts).remove({ queue: this.queue, state });
  }

  async obliterate(isForced: boolean): Promise<void> {
    if (!isForced) {
      const { jobs } = await this.parts.admin.find({ queue: this.queue, state: 'active' }, { limit: 1 });
      if (jobs.length > 0) throw new Refusal(HAS_ACTIVE_JOBS);
    }
    await adminOf(this.parts).obliterate(this.queue, { confirm: this.queue });
    this.parts.overview.forget(this.queue);
  }

  /** bull-board would say that all jobs have started. */
  async #reportUnrecoverable(retried: number): Promise<void> {
    const filter = { queue: this.queue, state: 'dead', error: 'UNRECOVERABLE' } as const;
    const left = await this.parts.admin.remove(filter, { dryRun: true, limit: MAX_COUNTED });
    if (left === 0) return;
    const atLeast = left === MAX_COUNTED ? ' or more' : '';
    throw new Refusal(
      `${retried} jobs were retried. ${left}${atLeast} jobs stay dead, because they were discarded or failed with an ` +
        `UnrecoverableError. Retry each of them alone.`,
    );
  }
}
