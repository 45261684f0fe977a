import type { JobRetryStatus, JobState as BullJobState, QueueJob, QueueJobJson } from '@bull-board/api/typings/app';
import { hasMask } from '../dashboard/redactor.js';
import type { JobRecord } from '../../job/job.js';
import { adminOf, type BullBoardParts } from './bull-board-parts.js';
import { jobJson, shown } from './job-json.js';
import { statusOf } from './job-statuses.js';
import { Refusal } from '../dashboard/error-status.js';

/** One job for bull-board, with its verbs. Each rejects if it changes nothing. */
export class BullJob implements QueueJob {
  /** Not in the type of bull-board, and needed by its route for flows. */
  readonly id: string;
  readonly opts: { delay?: number };

  readonly #json: QueueJobJson;

  constructor(
    private readonly record: JobRecord,
    private readonly parts: BullBoardParts,
  ) {
    this.#json = jobJson(record, parts.redactor);
    this.id = String(record.id);
    this.opts = { delay: this.#json.delay ?? 0 };
  }

  toJSON(): QueueJobJson {
    return this.#json;
  }

  async getState(): Promise<BullJobState> {
    const job = await this.parts.admin.get(this.record.id);
    return job ? statusOf(job.state) : 'unknown';
  }

  async promote(): Promise<void> {
    await this.#expectChange('promoted', (await adminOf(this.parts).promote(this.record.id)) > 0);
  }

  async retry(status?: JobRetryStatus): Promise<void> {
    const retried = await adminOf(this.parts).retry(this.record.id, status === 'completed' ? { completed: true } : {});
    this.parts.overview.forget(this.record.queue);
    await this.#expectChange('retried', retried > 0);
  }

  async remove(): Promise<void> {
    const removed = await adminOf(this.parts).remove(this.record.id);
    this.parts.overview.forget(this.record.queue);
    await this.#expectChange('removed', removed > 0);
  }

  async updateData(payload: unknown): Promise<void> {
    refuseHidden(payload);
    if (shown(this.record, 'payload', this.record.payload, this.parts.redactor).isCut) {
      throw new Refusal(
        `Job ${this.id} is not updated: bull-board has only the beginning of its payload. Use QueueAdmin.update.`,
      );
    }
    await this.#expectChange('updated', await adminOf(this.parts).update(this.record.id, { payload }));
  }

  async changeDelay(delayMs: number): Promise<void> {
    await this.#expectChange('rescheduled', await adminOf(this.parts).reschedule(this.record.id, delayMs));
  }

  async changePriority({ priority = 0, lifo }: { priority?: number; lifo?: boolean }): Promise<void> {
    if (lifo) throw new Refusal('The queue has no order of the last job first: use a smaller priority.');
    await this.#expectChange('changed', await adminOf(this.parts).reprioritise(this.record.id, priority));
  }

  async #expectChange(verb: string, isChanged: boolean): Promise<void> {
    if (isChanged) return;
    const job = await this.parts.admin.get(this.record.id);
    const state = job ? `it is ${job.state}` : 'it does not exist any more';
    throw new Refusal(`Job ${this.id} is not ${verb}: ${state}.`);
  }
}

/** The page shows masks in place of secrets. They must not become the payload. */
export function refuseHidden(payload: unknown): void {
  if (hasMask(payload)) {
    throw new Refusal('The payload has hidden values (••••): write values in their place.');
  }
}
