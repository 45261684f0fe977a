import { workerOf, type Doorbell, type Heard } from '../../lib/store/doorbell.js';

/** A doorbell that a test can watch: it does what the one behind it does, and tells of it. */
export class ObservedDoorbell implements Doorbell {
  /** What ended each time of listening, in order. */
  readonly heard: Heard[] = [];
  /** Each ring that was asked for: the queue and how many jobs. */
  readonly rings: [queue: string, jobs: number][] = [];
  /** How often it was listened so far that no ring could be missed any more. */
  times = 0;
  #listeningTo: readonly string[] | undefined;
  #waiting: (() => void)[] = [];

  constructor(private readonly doorbell: Doorbell) {}

  /** Resolves as soon as it is listened, for exactly those queues where some are given. */
  async untilListening(...queues: string[]): Promise<void> {
    while (!this.#isListening(queues)) await this.#change();
  }

  async untilHeard(count: number): Promise<void> {
    while (this.heard.length < count) await this.#change();
  }

  async untilTimes(times: number): Promise<void> {
    while (this.times < times) await this.#change();
  }

  async untilRung(): Promise<void> {
    while (this.rings.length === 0) await this.#change();
  }

  findFault(stop: AbortSignal): Promise<string | undefined> {
    return this.doorbell.findFault(stop);
  }

  async listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Heard> {
    const listening = () => {
      this.#listeningTo = queues;
      this.times++;
      onListening();
      this.#changed();
    };
    try {
      const heard = await this.doorbell.listen(queues, stop, listening);
      this.heard.push(heard);
      return heard;
    } finally {
      this.#listeningTo = undefined;
      this.#changed();
    }
  }

  hangUp(): void {
    this.doorbell.hangUp();
  }

  foresee(): void {
    this.doorbell.foresee();
  }

  ring(queue: string, jobs: number): void {
    this.rings.push([queue, jobs]);
    this.doorbell.ring(queue, jobs);
    this.#changed();
  }

  ringAll(): void {
    this.doorbell.ringAll();
  }

  close(): Promise<void> {
    return this.doorbell.close();
  }

  #isListening(queues: readonly string[]): boolean {
    const to = this.#listeningTo;
    return to !== undefined && (queues.length === 0 || this.#queues.join() === queues.join());
  }

  get #queues(): string[] {
    return (this.#listeningTo ?? []).filter((name) => workerOf(name) === undefined);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    this.#waiting.splice(0).forEach((look) => look());
  }
}
