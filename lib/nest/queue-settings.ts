import { InvalidOptionsError } from '../job/errors.js';
import { overlay, resolveQueueOptions, type QueueOptions, type ResolvedQueueOptions } from '../job/queue-options.js';
import { matches } from '../job/queue-pattern.js';
import type { Archives } from '../store/archive.js';
import type { NamedQueueOptions, SqlQueueModuleOptions } from './module-options.js';

/**
 * The options of each queue, from all the places they can stand in: library defaults < `defaults` < decorator <
 * `queues['prefix*']` (the longer prefix wins) < `queues[name]`.
 */
export class QueueSettings {
  readonly #decorated = new Map<string, QueueOptions>();
  readonly #resolved = new Map<string, ResolvedQueueOptions>();

  readonly #queues: Readonly<Record<string, NamedQueueOptions>>;

  constructor(private readonly options: SqlQueueModuleOptions) {
    this.#queues = (options.queues ?? {}) as Record<string, NamedQueueOptions>;
  }

  /** What a decorator says. Of what factories make it is found out at boot, after some may have asked. */
  decorate(queue: string, options: QueueOptions): void {
    this.#decorated.set(queue, options);
    this.#resolved.clear();
  }

  /** What a handler says that is registered at run time. Throws an InvalidOptionsError if it does not fit in. */
  define(queue: string, options: QueueOptions): void {
    const before = this.#decorated.get(queue);
    this.decorate(queue, options);
    const problems = this.deadLetterProblems([queue]);
    if (problems.length === 0) return;
    if (before) this.decorate(queue, before);
    else this.#decorated.delete(queue);
    this.#resolved.clear();
    throw new InvalidOptionsError('Cannot handle queue', problems);
  }

  of(queue: string): ResolvedQueueOptions {
    let resolved = this.#resolved.get(queue);
    if (!resolved) this.#resolved.set(queue, (resolved = this.#resolve(queue)));
    return resolved;
  }

  /** The shortest lease and the largest payload that any of the options known by now allow. */
  get extremes(): { shortestLeaseMs: number; largestPayloadBytes: number } {
    const { defaults = {} } = this.options;
    const given = [defaults, ...Object.values(this.#queues).map((queue) => overlay(defaults, queue))].map(
      resolveQueueOptions,
    );
    const all = [...given, ...[...this.#decorated.keys()].map((queue) => this.of(queue))];
    return {
      shortestLeaseMs: Math.min(...all.map(({ leaseMs }) => leaseMs)),
      largestPayloadBytes: Math.max(...all.map(({ maxPayloadBytes }) => maxPayloadBytes)),
    };
  }

  /** What is wrong with the dead-letter queues of these queues, and of all that the module's options name. */
  deadLetterProblems(handled: readonly string[]): string[] {
    const { defaults = {} } = this.options;
    const named = Object.keys(this.#queues).filter((key) => !key.endsWith('*'));
    const letters = new Set([...handled, ...named].map((queue) => this.of(queue).deadLetter));
    for (const { deadLetter } of [defaults, ...Object.values(this.#queues)]) letters.add(deadLetter ?? false);
    return [...letters].flatMap((queue) => {
      const next = queue && this.of(queue).deadLetter;
      if (!next) return [];
      return `dead-letter queue "${queue}": expected none of its own, got "${next}". Set \`deadLetter: false\` for "${queue}"`;
    });
  }

  /** Whether any queue that the options name wants its events recorded. */
  get someRecorded(): boolean {
    const { defaults = {} } = this.options;
    return [defaults, ...Object.values(this.#queues), ...this.#decorated.values()].some(
      ({ events }) => events === true,
    );
  }

  /** The archives that the module's options name; undefined: none. */
  get archives(): Archives | undefined {
    const given = [this.options.archive, ...Object.values(this.#queues).map(({ archive }) => archive)];
    const tables = new Set(given.flatMap((archive) => (archive ? archive.to : [])));
    if (tables.size === 0) return undefined;
    return { tables: [...tables], of: (queue) => this.#archiveOf(this.#overlaid(queue)) };
  }

  #resolve(queue: string): ResolvedQueueOptions {
    const options = this.#overlaid(queue);
    // Said for all queues, or for some, it does not mean itself.
    const resolved = resolveQueueOptions(options.deadLetter === queue ? { ...options, deadLetter: false } : options);
    if (this.#archiveOf(options) === undefined) return resolved;
    // On its way to the archive a job is in the history, however short.
    const { completedMs, deadMs } = resolved.retention;
    return { ...resolved, retention: { completedMs: completedMs || 0, deadMs: deadMs || 0 } };
  }

  #overlaid(queue: string): NamedQueueOptions {
    const { defaults = {} } = this.options;
    const prefixes = Object.keys(this.#queues).filter((key) => key.endsWith('*') && matches(key, queue));
    const layers = [
      this.#decorated.get(queue) ?? {},
      ...prefixes.sort((a, b) => a.length - b.length).map((prefix) => this.#queues[prefix]!),
      Object.hasOwn(this.#queues, queue) ? this.#queues[queue]! : {},
    ];
    return layers.reduce<NamedQueueOptions>(overlay, defaults);
  }

  #archiveOf({ archive, retention }: NamedQueueOptions): string | undefined {
    if (archive !== undefined) return archive ? archive.to : undefined;
    return retention?.completed === false ? undefined : this.options.archive?.to;
  }
}
