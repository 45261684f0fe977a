import { AsyncLocalStorage } from 'node:async_hooks';

const DEFAULT_USER = 'bull-board';

/** The user of the present request, which bull-board does not hand on to its queues. */
export class RequestUser {
  readonly #storage = new AsyncLocalStorage<string | undefined>();

  run(user: string | undefined, act: () => void): void {
    this.#storage.run(user, act);
  }

  get name(): string {
    return this.#storage.getStore() ?? DEFAULT_USER;
  }
}
