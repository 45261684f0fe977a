import type { ContentCodec } from '../job/codec/content-codec.js';
import { InvalidOptionsError } from '../job/errors.js';
import { overlay, resolveQueueOptions, type QueueOptions, type ResolvedQueueOptions } from '../job/queue-options.js';
import { matches } from '../job/queue-pattern.js';
import type { Archives } from '../store/tables/archive-options.js';
import type { EngineOptions, NamedQueueOptions } from './engine-options.js';

/**
 * Merges the options of each queue. Later layers win: library defaults, `defaults`, decorator, `queues['prefix*']` (the
 * longest prefix last), `queues[name]`.
 */
export class QueueSettings {
  readonly #decorated = new Map<string, QueueOptions>();
  readonly #resolved = new Map<string, ResolvedQueueOptions>();
  readonly #defaults: QueueOptions;
  readonly #queues: Readonly<Record<string, NamedQueueOptions>>;

  /** @param codec the codecs of the module */
  constructor(
    private readonly options: EngineOptions,
    private readonly codec?: ContentCodec,
  ) {
    this.#defaults = options.defaults ?? {};
    this.#queues = (options.queues ?? {}) as Record<string, NamedQueueOptions>;
  }

  /** Options may be read before this call, because decorators on objects from factories are found late at boot. */
  setDecoratedOptions(queue: string, options: QueueOptions): void {
    this.#decorated.set(queue, options);
    this.#resolved.clear();
  }

  /** @throws InvalidOptionsError and keeps the previous options if a dead-letter queue would have one of its own */
  setRuntimeOptions(queue: string, options: QueueOptions): void {
    const before = this.#decorated.get(queue);
    this.setDecoratedOptions(queue, options);
    const problems = this.deadLetterProblems([queue]);
    if (problems.length === 0) return;
    if (before) this.setDecoratedOptions(queue, before);
    else this.#decorated.delete(queue);
    this.#resolved.clear();
    throw new InvalidOptionsError('Cannot handle queue', problems);
  }

  // A property, because all subsystems receive this function.
  readonly of = (queue: string): ResolvedQueueOptions => {
    let resolved = this.#resolved.get(queue);
    if (!resolved) this.#resolved.set(queue, (resolved = this.#resolve(queue)));
    return resolved;
  };

  /** Whether the store keeps the events of the queue for all processes. */
  readonly emitsEvents = (queue: string): boolean => this.of(queue).events;

  /** The queues that have options of their own, and the dead-letter queues of all. */
  get names(): string[] {
    const named = [...this.#decorated.keys(), ...Object.keys(this.#queues).filter((key) => !key.endsWith('*'))];
    const letters = [...named.map((queue) => this.of(queue).deadLetter), this.#defaults.deadLetter];
    return [...new Set([...named, ...letters.filter((queue) => typeof queue === 'string')])];
  }

  /** Of all options that are known now. */
  get extremes(): { shortestLeaseMs: number; largestPayloadBytes: number } {
    const given = [this.#defaults, ...Object.values(this.#queues).map((queue) => overlay(this.#defaults, queue))].map(
      resolveQueueOptions,
    );
    const all = [...given, ...[...this.#decorated.keys()].map((queue) => this.of(queue))];
    return {
      shortestLeaseMs: Math.min(...all.map(({ leaseMs }) => leaseMs)),
      largestPayloadBytes: Math.max(...all.map(({ maxPayloadBytes }) => maxPayloadBytes)),
    };
  }

  /** A job in the history must find its blobs. Covers the options that are known now. */
  blobProblems(): string[] {
    const keepMs = this.codec?.blobs?.keepMs;
    if (keepMs === undefined) return [];
    const known = ['', ...Object.keys(this.#queues), ...this.#decorated.keys()];
    const longestMs = Math.max(
      ...known
        .map((queue) => this.of(queue).retention)
        .flatMap(({ completedMs, deadMs }) => [completedMs || 0, deadMs || 0]),
    );
    if (keepMs >= longestMs) return [];
    return [`expected blobs.keep to be at least the longest retention of a queue, ${longestMs} ms, got ${keepMs} ms`];
  }

  /** Problems of the dead-letter queues of these queues, and of all queues in the module options. */
  deadLetterProblems(handled: readonly string[]): string[] {
    const named = Object.keys(this.#queues).filter((key) => !key.endsWith('*'));
    const letters = new Set([...handled, ...named].map((queue) => this.of(queue).deadLetter));
    for (const { deadLetter } of [this.#defaults, ...Object.values(this.#queues)]) letters.add(deadLetter ?? false);
    return [...letters].flatMap((queue) => {
      const next = queue && this.of(queue).deadLetter;
      if (!next) return [];
      return `dead-letter queue "${queue}": expected none of its own, got "${next}". Set \`deadLetter: false\` for "${queue}"`;
    });
  }

  get hasQueueWithEvents(): boolean {
    return [this.#defaults, ...Object.values(this.#queues), ...this.#decorated.values()].some(
      ({ events }) => events === true,
    );
  }

  /** Undefined if the options name no archive. */
  get archives(): Archives | undefined {
    const given = [this.options.archive, ...Object.values(this.#queues).map(({ archive }) => archive)];
    const tables = new Set(given.flatMap((archive) => (archive ? archive.to : [])));
    if (tables.size === 0) return undefined;
    return { tables: [...tables], tableOf: (queue) => this.#archiveOf(this.#mergedOptions(queue)) };
  }

  #resolve(queue: string): ResolvedQueueOptions {
    const options = this.#mergedOptions(queue);
    // `deadLetter` in `defaults` or for a prefix also applies to the dead-letter queue itself, which must not have one.
    const own = resolveQueueOptions(options.deadLetter === queue ? { ...options, deadLetter: false } : options);
    const resolved: ResolvedQueueOptions = this.codec ? { ...own, codec: this.codec } : own;
    if (this.#archiveOf(options) === undefined) return resolved;
    // Jobs reach the archive through the history, so the history must keep them at least briefly.
    const { completedMs, deadMs } = resolved.retention;
    return { ...resolved, retention: { completedMs: completedMs || 0, deadMs: deadMs || 0 } };
  }

  #mergedOptions(queue: string): NamedQueueOptions {
    const prefixes = Object.keys(this.#queues).filter((key) => key.endsWith('*') && matches(key, queue));
    const layers = [
      this.#decorated.get(queue) ?? {},
      ...prefixes.sort((a, b) => a.length - b.length).map((prefix) => this.#queues[prefix]!),
      Object.hasOwn(this.#queues, queue) ? this.#queues[queue]! : {},
    ];
    return layers.reduce<NamedQueueOptions>(overlay, this.#defaults);
  }

  #archiveOf({ archive, retention }: NamedQueueOptions): string | undefined {
    if (archive !== undefined) return archive ? archive.to : undefined;
    return retention?.completed === false ? undefined : this.options.archive?.to;
  }
}
