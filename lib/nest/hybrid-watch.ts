import type { ModulesContainer } from '@nestjs/core';
import { firstValueFrom, filter, type Observable } from 'rxjs';
import { callAfter, systemClock } from '../common/clock.js';
import { withTimeout } from '../common/abort.js';

// main.ts calls listen() or init() after startAllMicroservices(), which may take seconds longer than the connection: a Kafka
// consumer joins its group.
const INIT_TIMEOUT_MS = 30_000;
// Servers of gRPC, and of some strategies of applications, report no status.
const STATUS_TIMEOUT_MS = 15_000;

interface MicroserviceServer {
  readonly status?: Observable<string>;
}

/**
 * Finds a hybrid application that handles messages and was never initialized: `startAllMicroservices()` calls no lifecycle
 * hook of the application, so no worker would start.
 */
export class HybridWatch {
  readonly #stopping = new AbortController();
  readonly #subscription: { unsubscribe(): void };
  #connecting = 0;
  #cancelTimer: (() => void) | undefined;

  /**
   * @param initStart aborted when Nest begins to initialize the application
   * @param onUninitialized called once, unless `initStart` was aborted or `stop` was called before
   */
  constructor(
    modules: ModulesContainer,
    initStart: AbortSignal,
    private readonly onUninitialized: () => void,
  ) {
    const servers = modules.getRpcTargetRegistry<MicroserviceServer>();
    this.#subscription = servers.subscribe((server) => void this.#await(server));
    initStart.addEventListener('abort', () => this.stop(), { once: true });
  }

  /** The application is initialized, or it closes. */
  stop(): void {
    this.#stopping.abort();
    this.#subscription.unsubscribe();
    this.#cancelTimer?.();
  }

  async #await({ status }: MicroserviceServer): Promise<void> {
    this.#connecting++;
    const connected = status && firstValueFrom(status.pipe(filter((value) => value === 'connected')));
    // A server that closes without a connection rejects, and is awaited no longer.
    if (connected)
      await withTimeout(systemClock, STATUS_TIMEOUT_MS, connected, this.#stopping.signal).catch(() => false);
    this.#connecting--;
    if (this.#connecting > 0 || this.#stopping.signal.aborted) return;
    this.#cancelTimer?.();
    this.#cancelTimer = callAfter(systemClock, INIT_TIMEOUT_MS, this.onUninitialized);
  }
}
