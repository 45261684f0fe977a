import { watch } from 'node:fs';
import { utimes } from 'node:fs/promises';
import type { Clock } from '../../time/clock.js';
import type { Doorbell, Heard } from '../doorbell.js';
import { Ringer } from '../ringer.js';

const LISTEN_MS = 20_000;
const TRIAL_MS = 5_000;

/** What a touch was for, if for us: asked when listening begins, and then after each. */
export type Look = (queues: readonly string[]) => Promise<() => Promise<Heard | undefined>>;

/**
 * Processes on one file are on one machine, and its file system notifies them: a ring sets the times of the file's `-shm`,
 * which is there as long as anybody has the database open and whose times mean nothing to SQLite. Its own writes to that
 * file go through memory and notify nobody, so that neither a busy nor an idle process has anything to look at.
 */
export class SqliteDoorbell implements Doorbell {
  readonly #bell: string;
  readonly #ringer: Ringer;

  constructor(
    file: string,
    private readonly look: Look,
    private readonly clock: Clock,
  ) {
    this.#bell = `${file}-shm`;
    this.#ringer = new Ringer(() => this.#touch(), clock);
  }

  async findFault(stop: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#watched(stop, TRIAL_MS, async (next) => {
        await this.#touch();
        return (await next()) || stop.aborted ? undefined : 'the file system did not notify us';
      });
    } catch (error) {
      return (error as Error).message;
    }
  }

  listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Heard> {
    return this.#watched(stop, LISTEN_MS, async (next) => {
      const look = await this.look(queues);
      onListening();
      while (await next()) {
        const heard = await look();
        if (heard) return heard;
      }
      return 'nothing';
    });
  }

  hangUp(): void {}

  ring(queue: string, jobs: number): void {
    this.#ringer.ring(queue, jobs);
  }

  // A ring asks nobody who listens.
  foresee(): void {}

  ringAll(): void {
    this.#ringer.ringAll();
  }

  close(): Promise<void> {
    return this.#ringer.close();
  }

  /** Whoever listens looks for himself whether it was for him, which takes microseconds here. */
  async #touch(): Promise<number> {
    const now = this.clock.now();
    await utimes(this.#bell, now, now);
    return 1;
  }

  /** While `act` runs, `next` answers true for each time the file was touched, and false once it is over. */
  async #watched<T>(stop: AbortSignal, ms: number, act: (next: () => Promise<boolean>) => Promise<T>): Promise<T> {
    const over = new AbortController();
    let touched = false;
    let wake = () => {};
    const watcher = watch(this.#bell, { persistent: false }, (event) => {
      // Another file has taken its place.
      if (event === 'rename') over.abort();
      touched = true;
      wake();
    });
    watcher.on('error', () => over.abort());
    over.signal.addEventListener('abort', () => wake(), { once: true });
    const ended = this.clock.sleep(ms, AbortSignal.any([stop, over.signal])).then(() => over.abort());
    const next = async () => {
      if (!touched && !over.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      touched = false;
      return !over.signal.aborted;
    };
    try {
      return await act(next);
    } finally {
      over.abort();
      watcher.close();
      await ended;
    }
  }
}
