import { inRootContext } from '../../common/async-context.js';
import type { Clock } from '../../common/clock.js';
import { Batcher } from '../../common/batcher.js';
import { groupBy } from '../../common/lists.js';
import type { QueueEvents } from '../../listen/queue-events.js';
import type { FlowStore, RetentionOf, SettledJobs } from '../../store/features/flows/flow-store.js';
import type { WaitNotifier } from '../../listen/wait-notifier.js';

// Most locks last for milliseconds.
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface FlowSettlerParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly flows: Pick<FlowStore, 'settle' | 'recheck' | 'sweep'>;
  readonly retentionOf: RetentionOf;
  readonly events: Pick<QueueEvents, 'emitChanges'>;
  readonly waitNotifier: Pick<WaitNotifier, 'notifyAlways'>;
  readonly notifier: { wake(queue: string, jobs: number): void; expectDue(queue: string, ms: number): void };
}

/**
 * Unblocks or cancels the jobs of flows after others have ended. If that fails, a sweep repeats it within two minutes. Jobs
 * that another transaction has locked are skipped, and visited again until they are unlocked.
 */
export class FlowSettler {
  readonly #ended = new Batcher<number>(async (ids) =>
    this.#onSettled(await this.parts.flows.settle(ids, this.parts.retentionOf)),
  );
  readonly #blocked = new Batcher<number>(async (ids) =>
    this.#onSettled(await this.parts.flows.recheck(ids, this.parts.retentionOf)),
  );

  readonly #locked = new Set<number>();
  #revisiting: Promise<void> | undefined;
  readonly #stopping = new AbortController();

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

  /** Leaves locked jobs to the sweep, and resolves when the jobs that have ended before are settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#revisiting, this.#ended.idle(), this.#blocked.idle()]);
  }

  /** The pauses become longer, up to a second. */
  async #revisitLocked(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    while (this.#locked.size > 0 && !signal.aborted) {
      await this.parts.clock.sleep(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      const ids = [...this.#locked];
      this.#locked.clear();
      if (!signal.aborted) await this.recheck(ids);
    }
    this.#revisiting = undefined;
  }

  #onSettled({ unblocked, cancelled, locked = [] }: SettledJobs): void {
    for (const id of locked) this.#locked.add(id);
    if (locked.length > 0) this.#revisiting ??= inRootContext(() => this.#revisitLocked());
    const { events, waitNotifier, notifier } = this.parts;
    const waiting = unblocked.filter(({ delayMs }) => delayMs <= 0);
    events.emitChanges('promoted', waiting);
    events.emitChanges('cancelled', cancelled);
    for (const { id } of cancelled) waitNotifier.notifyAlways(id);
    for (const { queue, delayMs } of unblocked) if (delayMs > 0) notifier.expectDue(queue, delayMs);
    for (const [queue, { length }] of groupBy(waiting, (job) => job.queue)) notifier.wake(queue, length);
  }
}
