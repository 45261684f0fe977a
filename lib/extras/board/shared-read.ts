import type { Clock } from '../../common/clock.js';

/** The largest number of keys whose results are kept: the most recently used ones. */
const MAX_KEPT = 12;

/** One read for all viewers of this process, for each key at most once in a time. */
export class SharedRead<Result, Key = void> {
  readonly #kept = new Map<string, { readonly atMs: number; readonly result: Promise<Result> }>();

  constructor(
    private readonly load: (key: Key) => Promise<Result>,
    private readonly maxAgeMs: number,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  read(key: Key): Promise<Result> {
    const name = JSON.stringify([key]);
    const now = this.clock.monotonic();
    const last = this.#kept.get(name);
    const read = last && now - last.atMs <= this.maxAgeMs ? last : { atMs: now, result: this.load(key) };
    // The last entry of the map is the most recently used one.
    this.#kept.delete(name);
    this.#kept.set(name, read);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    // A failure is not kept.
    if (read !== last) read.result.catch(() => this.#kept.get(name) === read && this.#kept.delete(name));
    return read.result;
  }

  /** The next call reads anew. */
  clear(): void {
    this.#kept.clear();
  }
}
