import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { PollLoop } from '../../common/poll-loop.js';
import type { Heartbeat, HeartbeatSettings } from './heartbeat.js';
import type { LeaseStoreOptions } from '../../store/open-lease-store.js';
import { sharedMonotonic, type Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/with-timeout.js';
import type { MessageFromThread, ThreadSettings, MessageToThread } from './thread-messages.js';

const RESTART_DELAY_MS = 1_000;
// A thread that waits for the database is terminated after this time.
const STOP_TIMEOUT_MS = 500;

/** Renews the leases in a thread with its own connection, also while the event loop of the process is blocked. */
export class ThreadHeartbeat implements Heartbeat {
  readonly #claimIds = new Set<number>();
  readonly #loopTurns = new Int32Array(new SharedArrayBuffer(4));
  readonly #turnLoop: PollLoop;
  readonly #stopping = new AbortController();
  #thread: Worker | undefined;
  #port: MessagePort | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly program: URL,
    private readonly database: LeaseStoreOptions,
    private readonly maxBlockedMs: number,
    private readonly clock: Clock,
    private readonly settings: HeartbeatSettings,
  ) {
    const turnIntervalMs = Math.min(1_000, maxBlockedMs / 4);
    const turn = () => Promise.resolve(Atomics.add(this.#loopTurns, 0, 1)).then(() => turnIntervalMs);
    this.#turnLoop = new PollLoop(turn, clock, () => turnIntervalMs);
  }

  start(): void {
    this.#turnLoop.start();
    this.#startThreadOrRetry();
  }

  add(claimId: number): void {
    this.#claimIds.add(claimId);
    this.#send({ add: claimId });
  }

  remove(claimId: number): void {
    this.#claimIds.delete(claimId);
    this.#send({ remove: claimId });
  }

  renewNow(): void {
    // The thread must not take the process for blocked, because it just was.
    Atomics.add(this.#loopTurns, 0, 1);
    this.#send({ renew: true });
  }

  deliverPending(): void {
    for (;;) {
      const next = this.#port && receiveMessageOnPort(this.#port);
      if (!next) return;
      this.#receive(next.message as MessageFromThread);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#port?.close();
    await this.#turnLoop.stop();
    await withTimeout(this.clock, STOP_TIMEOUT_MS, this.#exited);
    await this.#thread?.terminate();
  }

  #startThread(): void {
    const { port1, port2 } = new MessageChannel();
    const { workerId, intervalMs, onError } = this.settings;
    const { database, maxBlockedMs } = this;
    const workerData: ThreadSettings = {
      database,
      workerId,
      intervalMs,
      maxBlockedMs,
      port: port2,
      loopTurns: this.#loopTurns,
    };
    const thread = new Worker(this.program, { workerData, transferList: [port2], execArgv: [], stdin: false });
    this.#thread = thread;
    this.#port = port1;
    port1.on('message', (message: MessageFromThread) => this.#receive(message));
    for (const id of this.#claimIds) this.#send({ add: id });
    // Neither may keep the process alive. The other loops of the worker do that until it stops.
    port1.unref();
    thread.unref();
    thread.on('error', onError);
    this.#exited = new Promise((resolve) => thread.once('exit', resolve)).then(() => this.#restartThread());
  }

  /** The system may refuse a new thread at this moment. */
  #startThreadOrRetry(): void {
    try {
      this.#startThread();
    } catch (error) {
      this.settings.onError(error);
      this.#exited = this.#restartThread();
    }
  }

  /** Leases are long enough for the delay. */
  async #restartThread(): Promise<void> {
    await this.clock.sleep(RESTART_DELAY_MS, this.#stopping.signal);
    if (!this.#stopping.signal.aborted) this.#startThreadOrRetry();
  }

  #send(message: MessageToThread): void {
    this.#port?.postMessage(message);
  }

  #receive(message: MessageFromThread): void {
    if ('error' in message) return this.settings.onError(new Error(message.error));
    const { result } = message;
    const agoMs = sharedMonotonic() - result.requestedAt;
    this.settings.onResult({ ...result, requestedAt: this.clock.monotonic() - agoMs });
  }
}
