import { Batcher } from '../../common/batcher.js';
import { groupBy } from '../../common/group-by.js';
import type { QueueEvents } from '../../listen/queue-events.js';
import type { FlowStore, RetentionOf, SettledJobs } from '../../store/flows/flow-store.js';
import type { WaitNotifier } from '../../listen/wait-notifier.js';

export interface FlowSettlerParts {
  readonly flows: Pick<FlowStore, 'settle' | 'recheck' | 'sweep'>;
  readonly retentionOf: RetentionOf;
  readonly events: Pick<QueueEvents, 'emitChanges'>;
  readonly waitNotifier: Pick<WaitNotifier, 'notifyAlways'>;
  readonly notifier: { wake(queue: string, jobs: number): void; expectDue(queue: string, ms: number): void };
}

/** Unblocks or cancels the jobs of flows after others have ended. If that fails, a sweep repeats it within two minutes. */
export class FlowSettler {
  readonly #ended = new Batcher<number>(async (ids) =>
    this.#onSettled(await this.parts.flows.settle(ids, this.parts.retentionOf)),
  );
  readonly #blocked = new Batcher<number>(async (ids) =>
    this.#onSettled(await this.parts.flows.recheck(ids, this.parts.retentionOf)),
  );

  constructor(private readonly parts: FlowSettlerParts) {}

  /** Call it after these jobs have ended. Never rejects. */
  async settle(endedIds: readonly number[]): Promise<void> {
    await Promise.all(endedIds.map((id) => this.#ended.add(id))).catch(() => undefined);
  }

  /** Call it after these jobs were blocked: the jobs that they need may have ended meanwhile. Never rejects. */
  async recheck(blockedIds: readonly number[]): Promise<void> {
    await Promise.all(blockedIds.map((id) => this.#blocked.add(id))).catch(() => undefined);
  }

  async sweep(): Promise<void> {
    this.#onSettled(await this.parts.flows.sweep(this.parts.retentionOf));
  }

  async idle(): Promise<void> {
    await Promise.all([this.#ended.idle(), this.#blocked.idle()]);
  }

  #onSettled({ unblocked, cancelled }: SettledJobs): void {
    const { events, waitNotifier, notifier } = this.parts;
    const waiting = unblocked.filter(({ delayMs }) => delayMs <= 0);
    events.emitChanges('promoted', waiting);
    events.emitChanges('cancelled', cancelled);
    for (const { id } of cancelled) waitNotifier.notifyAlways(id);
    for (const { queue, delayMs } of unblocked) if (delayMs > 0) notifier.expectDue(queue, delayMs);
    for (const [queue, { length }] of groupBy(waiting, (job) => job.queue)) notifier.wake(queue, length);
  }
}
