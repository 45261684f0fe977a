import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { PollLoop } from '../runtime/poll-loop.js';
import type { Pulse, PulseSettings } from '../runtime/pulse.js';
import type { LeaseDatabase } from '../store/open-leases.js';
import { sharedMonotonic, type Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import type { FromThread, ThreadSettings, ToThread } from './messages.js';
import { programUrl } from './program-url.js';

const RETRY_MS = 1_000;
// A thread that waits for a database is ended after this time.
const LAST_MS = 500;

/** In a thread with a connection of its own, which goes on while the event loop of the process computes. */
export class ThreadPulse implements Pulse {
  readonly #held = new Set<number>();
  readonly #turns = new Int32Array(new SharedArrayBuffer(4));
  readonly #turning: PollLoop;
  readonly #stopping = new AbortController();
  #thread: Worker | undefined;
  #port: MessagePort | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: LeaseDatabase,
    private readonly maxBlockedMs: number,
    private readonly clock: Clock,
    private readonly settings: PulseSettings,
  ) {
    const turnEveryMs = Math.min(1_000, maxBlockedMs / 4);
    const turn = () => Promise.resolve(Atomics.add(this.#turns, 0, 1)).then(() => turnEveryMs);
    this.#turning = new PollLoop(turn, clock, () => turnEveryMs);
  }

  start(): void {
    this.#turning.start();
    this.#beginOrWait();
  }

  hold(claimId: number): void {
    this.#held.add(claimId);
    this.#tell({ hold: claimId });
  }

  letGo(claimId: number): void {
    this.#held.delete(claimId);
    this.#tell({ letGo: claimId });
  }

  catchUp(): void {
    for (;;) {
      const next = this.#port && receiveMessageOnPort(this.#port);
      if (!next) return;
      this.#hear(next.message as FromThread);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#port?.close();
    await this.#turning.stop();
    await within(this.clock, LAST_MS, this.#ended);
    await this.#thread?.terminate();
  }

  #begin(): void {
    const { port1, port2 } = new MessageChannel();
    const { workerId, everyMs, onMissed } = this.settings;
    const { database, maxBlockedMs } = this;
    const workerData: ThreadSettings = { database, workerId, everyMs, maxBlockedMs, port: port2, turns: this.#turns };
    const thread = new Worker(programUrl, { workerData, transferList: [port2], execArgv: [], stdin: false });
    this.#thread = thread;
    this.#port = port1;
    port1.on('message', (message: FromThread) => this.#hear(message));
    for (const id of this.#held) this.#tell({ hold: id });
    // Neither may keep the process alive; the worker's other loops do as long as they should.
    port1.unref();
    thread.unref();
    thread.on('error', onMissed);
    this.#ended = new Promise((resolve) => thread.once('exit', resolve)).then(() => this.#beginAgain());
  }

  /** The machine may have no thread to give at this moment. */
  #beginOrWait(): void {
    try {
      this.#begin();
    } catch (error) {
      this.settings.onMissed(error);
      this.#ended = this.#beginAgain();
    }
  }

  /** A thread that broke is replaced; leases are long enough for that. */
  async #beginAgain(): Promise<void> {
    await this.clock.sleep(RETRY_MS, this.#stopping.signal);
    if (!this.#stopping.signal.aborted) this.#beginOrWait();
  }

  #tell(message: ToThread): void {
    this.#port?.postMessage(message);
  }

  #hear(message: FromThread): void {
    if ('missed' in message) return this.settings.onMissed(new Error(message.missed));
    const { beat } = message;
    const agoMs = sharedMonotonic() - beat.askedAt;
    this.settings.onBeat({ ...beat, askedAt: this.clock.monotonic() - agoMs });
  }
}
