import type { HandlerEntry } from './run.js';

/** The handlers of this process: for each queue one per job name, and at most one for all other names. */
export class HandlerTable {
  readonly #queues = new Map<string, { fallback?: HandlerEntry; named: Map<string, HandlerEntry> }>();

  get queues(): string[] {
    return [...this.#queues.keys()];
  }

  /** @param name the job name; undefined: the handler is for all names without a handler of their own */
  add(queue: string, name: string | undefined, entry: HandlerEntry): void {
    const handlers = this.#queues.get(queue) ?? { named: new Map<string, HandlerEntry>() };
    if (name === undefined) handlers.fallback = entry;
    else handlers.named.set(name, entry);
    this.#queues.set(queue, handlers);
  }

  remove(queue: string): void {
    this.#queues.delete(queue);
  }

  find(queue: string, name: string): HandlerEntry | undefined {
    const handlers = this.#queues.get(queue);
    return handlers?.named.get(name) ?? handlers?.fallback;
  }

  maxBatchSize(queue: string): number {
    const { fallback, named } = this.#queues.get(queue) ?? { named: new Map<string, HandlerEntry>() };
    return Math.max(1, fallback?.batch ?? 1, ...[...named.values()].map(({ batch = 1 }) => batch));
  }
}
