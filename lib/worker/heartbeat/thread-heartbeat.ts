import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { PollLoop } from '../../common/poll-loop.js';
import type { Heartbeat, HeartbeatSettings, HeartbeatResult } from './heartbeat.js';
import type { LeaseStoreOptions } from '../../store/lease-store-options.js';
import { sharedMonotonic, type Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/abort.js';
import { existsSync } from 'node:fs';
import { InvalidOptionsError } from '../../job/errors.js';

const RESTART_DELAY_MS = 1_000;
// A thread that waits for the database is terminated after this time.
const STOP_TIMEOUT_MS = 500;

/** Renews the leases in a thread with its own connection, also while the event loop of the process is blocked. */
export class ThreadHeartbeat implements Heartbeat {
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
    this.#send({ add: claimId });
  }

  remove(claimId: number): void {
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
    const { workerId, intervalMs, claimIds, onError } = this.settings;
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
    for (const id of claimIds()) this.#send({ add: id });
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
    if ('isUnregistered' in message) return this.settings.onUnregistered();
    const { result } = message;
    const agoMs = sharedMonotonic() - result.requestedAt;
    this.settings.onResult({ ...result, requestedAt: this.clock.monotonic() - agoMs });
  }
}

// Undefined if an application bundles the ES modules as CommonJS. Our own CommonJS files have __filename instead.
const ownUrl = import.meta.url as string | URL | undefined;

/**
 * The program of the heartbeat thread. The name of its file is long, so that a file of an application beside a bundle is not
 * taken for it.
 *
 * @throws InvalidOptionsError if the file is not there, because a bundler has moved the library into another file
 */
export function heartbeatProgram(): URL {
  const url = ownUrl === undefined ? undefined : new URL('./heartbeat-program.js', ownUrl);
  if (url?.protocol === 'file:' && existsSync(url)) return url;
  throw new InvalidOptionsError('SqlQueueModule options', [
    `worker: expected for heartbeat 'thread' the file heartbeat-program.js of the library, got none: a bundler has moved the ` +
      `library into another file. Keep nestjs-sql-queue out of the bundle (\`external\`), or leave out \`heartbeat\``,
  ]);
}

export interface ThreadSettings {
  readonly database: LeaseStoreOptions;
  readonly workerId: string;
  readonly intervalMs: number;
  readonly maxBlockedMs: number;
  readonly port: MessagePort;
  /** A counter that grows while the event loop of the process is not blocked. */
  readonly loopTurns: Int32Array;
}

export type MessageToThread = { add: number } | { remove: number } | { renew: true };

/** `requestedAt` of the result is a time of the machine's monotonic clock, see `sharedMonotonic`. */
export type MessageFromThread = { result: HeartbeatResult } | { isUnregistered: true } | { error: string };
