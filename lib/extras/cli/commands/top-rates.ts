import type { Engine } from '../../../engine/engine.js';

/** Attempts per minute that completed and failed. */
export interface Rates {
  readonly completed: number;
  readonly failed: number;
}

const MINUTE_MS = 60_000;
// Processes save the attempts that ended in them every ten seconds.
const MAX_AGE_MS = 10_000;
// One statement each.
const MAX_QUEUES = 30;

/** The attempts per minute of some queues, each read at most every ten seconds. */
export class TopRates {
  readonly #known = new Map<string, Rates & { readonly readAtMs: number }>();

  constructor(private readonly engine: Pick<Engine, 'admin' | 'clock'>) {}

  of(queue: string): Rates | undefined {
    return this.#known.get(queue);
  }

  /** @param queues the ones on the screen, the first ones first */
  async read(queues: readonly string[]): Promise<void> {
    for (const queue of queues.slice(0, MAX_QUEUES)) {
      const nowMs = this.engine.clock.now().getTime();
      if (nowMs - (this.#known.get(queue)?.readAtMs ?? 0) >= MAX_AGE_MS) await this.#read(queue, nowMs);
    }
  }

  /** Of the last whole minute and the present one. */
  async #read(queue: string, nowMs: number): Promise<void> {
    const fromMs = (Math.floor(nowMs / MINUTE_MS) - 1) * MINUTE_MS;
    const points = await this.engine.admin.history(queue, { from: new Date(fromMs), step: 'minute' });
    const minutes = (nowMs - fromMs) / MINUTE_MS;
    const perMinute = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0) / minutes;
    this.#known.set(queue, {
      completed: perMinute(points.map(({ completed }) => completed)),
      failed: perMinute(points.map(({ failed }) => failed)),
      readAtMs: nowMs,
    });
  }
}
