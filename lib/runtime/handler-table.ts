import type { HandlerEntry } from './run.js';

/** The handlers of this process: per queue one for each job name, and at most one for all other names. */
export class HandlerTable {
  readonly #queues = new Map<string, { any?: HandlerEntry; named: Map<string, HandlerEntry> }>();

  get queues(): string[] {
    return [...this.#queues.keys()];
  }

  /** @param name undefined: for all names that have no handler of their own */
  add(queue: string, name: string | undefined, entry: HandlerEntry): void {
    const handlers = this.#queues.get(queue) ?? { named: new Map<string, HandlerEntry>() };
    if (name === undefined) handlers.any = entry;
    else handlers.named.set(name, entry);
    this.#queues.set(queue, handlers);
  }

  remove(queue: string): void {
    this.#queues.delete(queue);
  }

  find(queue: string, name: string): HandlerEntry | undefined {
    const handlers = this.#queues.get(queue);
    return handlers?.named.get(name) ?? handlers?.any;
  }

  /** The most jobs that one call of a handler of the queue takes. */
  largestBatch(queue: string): number {
    const { any, named } = this.#queues.get(queue) ?? { named: new Map<string, HandlerEntry>() };
    return Math.max(1, any?.batch ?? 1, ...[...named.values()].map(({ batch = 1 }) => batch));
  }
}
