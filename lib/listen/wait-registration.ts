import type { Clock } from '../common/clock.js';
import type { WaitStore } from '../store/features/waits/wait-store.js';
import type { ResultWait } from './result-wait.js';

// Processes stop notifying a waiter that died after this time. A waiter renews its registration after half of it.
const REGISTRATION_MS = 600_000;
const UNREGISTER_INTERVAL_MS = 1_000;

/** Registers in the database which jobs this process waits for, so that the processes that end them notify it. */
export class WaitRegistration {
  /** By the ids of the jobs; `at` is by the monotonic clock. */
  readonly #registered = new Map<number, { readonly at: number; readonly needsReplyOnly: boolean }>();
  #unregisteredAt = -Infinity;

  constructor(
    private readonly store: Pick<WaitStore, 'register' | 'unregister'>,
    private readonly clock: Clock,
    private readonly waiterId: number,
    private readonly waits: ReadonlyMap<number, ReadonlySet<ResultWait>>,
    private readonly notifyWorkers: () => void,
  ) {}

  /** Registers new waits and renews old ones. Returns whether there were any. */
  async register(): Promise<boolean> {
    const now = this.clock.monotonic();
    const due = [...this.waits].filter(
      ([id]) => now - (this.#registered.get(id)?.at ?? -Infinity) > REGISTRATION_MS / 2,
    );
    if (due.length === 0) return false;
    const ids = due.map(([id]) => id);
    await this.store.register(this.waiterId, ids, REGISTRATION_MS);
    const areWorkersNotified = [...this.#registered.values()].some(({ needsReplyOnly }) => !needsReplyOnly);
    const needReplyOnly = due.map(([, jobWaits]) => [...jobWaits].every((wait) => wait.needsReplyOnly));
    ids.forEach((id, index) => this.#registered.set(id, { at: now, needsReplyOnly: needReplyOnly[index]! }));
    // The job of a request says that its end is awaited. Of other waits the workers learn from their polls, and then
    // they keep polling for them.
    if (!areWorkersNotified && needReplyOnly.includes(false)) this.notifyWorkers();
    return true;
  }

  /** Like `unregister`, but at most once a second while this process waits for other jobs. */
  async unregisterIfDue(): Promise<void> {
    const isDue = this.clock.monotonic() - this.#unregisteredAt >= UNREGISTER_INTERVAL_MS;
    if (this.waits.size === 0 || isDue) await this.unregister();
  }

  /** Unregisters the jobs that this process does not wait for any more. */
  async unregister(): Promise<void> {
    this.#unregisteredAt = this.clock.monotonic();
    const ended = [...this.#registered.keys()].filter((id) => !this.waits.has(id));
    if (ended.length === 0) return;
    for (const id of ended) this.#registered.delete(id);
    await this.store.unregister(this.waiterId, ended);
  }

  /** Forgets the job, whose registration is deleted together with its outcome. */
  delete(id: number): void {
    this.#registered.delete(id);
  }
}
