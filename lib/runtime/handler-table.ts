import type { Handler } from './run.js';

/** The handlers of this process: per queue one for each job name, and at most one for all other names. */
export class HandlerTable {
  readonly #queues = new Map<string, { any?: Handler; named: Map<string, Handler> }>();

  get queues(): string[] {
    return [...this.#queues.keys()];
  }

  /** @param name undefined: for all names that have no handler of their own */
  add(queue: string, name: string | undefined, handler: Handler): void {
    const handlers = this.#queues.get(queue) ?? { named: new Map<string, Handler>() };
    if (name === undefined) handlers.any = handler;
    else handlers.named.set(name, handler);
    this.#queues.set(queue, handlers);
  }

  find(queue: string, name: string): Handler | undefined {
    const handlers = this.#queues.get(queue);
    return handlers?.named.get(name) ?? handlers?.any;
  }
}
