import type { Clock } from '../../common/clock.js';

/** One read for all viewers of this process, at most once in a time. */
export class SharedRead<Result> {
  #last: { readonly atMs: number; readonly result: Promise<Result> } | undefined;

  constructor(
    private readonly load: () => Promise<Result>,
    private readonly maxAgeMs: number,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  read(): Promise<Result> {
    const now = this.clock.monotonic();
    if (this.#last && now - this.#last.atMs <= this.maxAgeMs) return this.#last.result;
    const read = { atMs: now, result: this.load() };
    this.#last = read;
    // A failure is not kept.
    read.result.catch(() => this.#last === read && this.clear());
    return read.result;
  }

  /** The next call reads anew. */
  clear(): void {
    this.#last = undefined;
  }
}
