import { callAfter, type Clock } from './clock.js';

/** Rings once at the time that was set last. */
export class Alarm {
  #time = Infinity;
  #timer: AbortController | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly onTime: (time: number) => void,
  ) {}

  /** @param time by the monotonic clock; Infinity: never */
  set(time: number): void {
    if (time === this.#time) return;
    this.#timer?.abort();
    this.#time = time;
    this.#timer = time === Infinity ? undefined : callAfter(this.clock, time - this.clock.monotonic(), this.#ring);
  }

  readonly #ring = (): void => {
    const time = this.#time;
    this.#time = Infinity;
    this.onTime(time);
  };
}
