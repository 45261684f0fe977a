import type { DataSource } from 'typeorm';
import { StoreUnavailableError } from '../job/errors.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { OpenStore } from '../store/open-store.js';
import { databaseOf } from '../store/databases/index.js';

/** The ports that exist on every database. */
const PORTS = [
  ...(['jobs', 'workers', 'admin', 'audit', 'queues', 'consumer', 'waits', 'jobLogs', 'events'] as const),
  ...(['schedules', 'limits', 'stats', 'metrics', 'groups', 'steps', 'flows', 'subjects', 'blobRows'] as const),
];
type Ports = Pick<OpenStore, (typeof PORTS)[number]>;

type ChannelName = 'workerChannel' | 'waiterChannel' | 'eventChannel';

/**
 * The stores on a DataSource that the application initializes itself, after its boot. Until then every call rejects.
 * `dataSource.initialize()` also opens the stores and starts what waits for them, and rejects if that fails, as the boot
 * would.
 */
export class LateStores {
  readonly stores: OpenStore;
  readonly #afterOpen: (() => Promise<void>)[] = [];
  #opening: Promise<OpenStore> | undefined;
  #opened: OpenStore | undefined;
  #isClosed = false;

  constructor(
    private readonly dataSource: DataSource,
    usesNotifications: boolean,
    private readonly open: () => Promise<OpenStore>,
  ) {
    const initialize = dataSource.initialize.bind(dataSource);
    dataSource.initialize = async () => {
      await initialize();
      if (!this.#isClosed) await this.#open();
      return dataSource;
    };
    const { hasWorkerLocks, connection } = databaseOf(dataSource.options.type);
    const hasChannels = usesNotifications && connection.unsharedBecause(dataSource.options) === undefined;
    this.stores = this.#createStores(hasWorkerLocks, hasChannels);
  }

  /** Calls `act` when the stores are open. Returns false if they are open already, or about to be. */
  startLater(act: () => Promise<void>): boolean {
    if (this.#opening) return false;
    this.#afterOpen.push(act);
    return true;
  }

  async #open(): Promise<void> {
    this.#opening ??= this.open();
    this.#opened = await this.#opening;
    for (const act of this.#afterOpen.splice(0)) await act();
  }

  /** Rejects without the DataSource. Waits while the stores are being opened. */
  #ready(): Promise<OpenStore> {
    if (this.#opening) return this.#opening;
    return Promise.reject(
      new StoreUnavailableError(
        'The DataSource of the queue is not initialized: the application has to do that, because it sets ' +
          '`manualInitialization`. Await `dataSource.initialize()` before the first call. With `connection`, ' +
          'SqlQueueModule connects to the database itself.',
        'not-done',
      ),
    );
  }

  #createStores(hasWorkerLocks: boolean, hasChannels: boolean): OpenStore {
    const ports = Object.fromEntries(PORTS.map((name) => [name, this.#port((opened) => opened[name])])) as Ports;
    const channel = (name: ChannelName) => (hasChannels ? this.#channel(name) : undefined);
    return {
      ...ports,
      jobs: new Proxy(ports.jobs, {
        get: (target, method: keyof OpenStore['jobs']) => {
          if (method === 'close') return () => this.#close();
          // Both are synchronous.
          if (method === 'afterCommit') return this.#opened!.jobs.afterCommit.bind(this.#opened!.jobs);
          if (method === 'prepareCompletion') return this.#opened?.jobs.prepareCompletion;
          return target[method];
        },
      }),
      jobLogs: new Proxy(ports.jobLogs, {
        get: (target, method: keyof OpenStore['jobLogs']) =>
          method === 'prepareJobLog' ? this.#opened?.jobLogs.prepareJobLog : target[method],
      }),
      content: (codec) => this.#port((opened) => opened.content(codec)) as ReturnType<OpenStore['content']>,
      readSchemaState: async () => (await this.#ready()).readSchemaState(),
      diagnose: async () => (await this.#ready()).diagnose(),
      workerChannel: channel('workerChannel'),
      waiterChannel: channel('waiterChannel'),
      eventChannel: channel('eventChannel'),
      workerLocks: hasWorkerLocks
        ? (this.#port((opened) => opened.workerLocks!) as OpenStore['workerLocks'])
        : undefined,
      notices: [],
    };
  }

  /** Every method of a port returns a promise. */
  #port(portOf: (opened: OpenStore) => object): object {
    return new Proxy(
      {},
      {
        get:
          (_, method) =>
          async (...args: unknown[]) => {
            const target = portOf(await this.#ready()) as Record<string | symbol, (...given: unknown[]) => unknown>;
            return target[method]!(...args);
          },
      },
    );
  }

  #channel(name: ChannelName): NotificationChannel {
    const opened = () => this.#opened?.[name];
    return {
      findProblem: async (stop) => (await this.#ready())[name]!.findProblem(stop),
      listen: async (...args) => (await this.#ready())[name]!.listen(...args),
      disconnect: () => opened()?.disconnect(),
      prepare: () => opened()?.prepare(),
      notify: (queue, jobs) => opened()?.notify(queue, jobs),
      notifyAll: () => opened()?.notifyAll(),
      close: async () => opened()?.close(),
    };
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.jobs.close();
  }
}
