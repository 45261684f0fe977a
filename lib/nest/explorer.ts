import { isDeepStrictEqual } from 'node:util';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { InvalidOptionsError } from '../job/errors.js';
import { didYouMean, expected } from '../job/expectation.js';
import { nameProblem } from '../job/job-names.js';
import { processorOptionProblems, type ProcessorOptions } from '../job/processor-options.js';
import type { QueueOptions } from '../job/queue-options.js';
import type { SubscriptionOptions } from '../job/topics.js';
import { isChange, QUEUE_EVENTS, type QueueEventName } from '../job/queue-event.js';
import { featureOptions } from './feature-queues.js';
import {
  JOB_HANDLER,
  PROCESSOR,
  QUEUE_EVENT,
  type EventOrigin,
  type JobHandlerMetadata,
  type ProcessorMetadata,
  type QueueEventMetadata,
} from './metadata.js';

/** A method of a provider or controller. */
export interface FoundMethod {
  readonly wrapper: InstanceWrapper;
  readonly method: string;
  /** `Class.method`, for logs and messages. */
  readonly title: string;
}

export interface FoundHandler extends FoundMethod {
  readonly queue: string;
  readonly name: string | undefined;
  /** The most jobs of one call; undefined: one, not in an array. */
  readonly batch: number | undefined;
}

export interface FoundListener extends FoundMethod {
  readonly event: QueueEventName;
  readonly queue: string | undefined;
  readonly from: EventOrigin;
}

export interface Found {
  readonly handlers: FoundHandler[];
  readonly listeners: FoundListener[];
  readonly options: Map<string, QueueOptions>;
  readonly subscriptions: Map<string, SubscriptionOptions>;
}

/** Finds what is decorated for one instance of the module, and refuses what contradicts itself, all problems at once. */
export class Explorer {
  readonly #found: Found = { handlers: [], listeners: [], options: new Map(), subscriptions: new Map() };
  readonly #problems: string[] = [];
  readonly #optionsAt = new Map<string, string>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly instance: string | undefined,
    private readonly instances: ReadonlySet<string>,
  ) {}

  explore(): Found {
    const seen = new Set<unknown>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const prototype = prototypeOf(wrapper);
      // One object under two tokens is one handler.
      const identity = wrapper.isDependencyTreeStatic() ? wrapper.instance : wrapper;
      if (!prototype || seen.has(identity)) continue;
      seen.add(identity);
      this.#exploreClass(wrapper, prototype);
    }
    for (const [queue, options] of featureOptions(this.discovery.getProviders(), this.instance)) {
      this.#noteOptions(queue, options, 'SqlQueueModule.forFeature()');
    }
    this.#refuseDuplicates();
    InvalidOptionsError.throwIfAny('Queue handlers', [...new Set(this.#problems)]);
    return this.#found;
  }

  #exploreClass(wrapper: InstanceWrapper, prototype: object): void {
    const ofClass = Reflect.getMetadata(PROCESSOR, prototype.constructor) as ProcessorMetadata | undefined;
    const before = this.#found.handlers.length;
    const ours = ofClass !== undefined && this.#isOurs(ofClass, prototype.constructor.name);
    if (ours) this.#noteProcessor(ofClass, prototype.constructor.name);
    for (const method of this.scanner.getAllMethodNames(prototype)) {
      const found = { wrapper, method, title: `${prototype.constructor.name}.${method}` };
      const callback = (prototype as Record<string, object>)[method]!;
      this.#exploreHandler(found, callback, ofClass);
      this.#exploreListener(found, callback);
    }
    if (ours && this.#found.handlers.length === before) {
      const { name } = prototype.constructor;
      this.#problems.push(
        `${name}: expected a method handle() or methods with @JobHandler() in a @QueueProcessor class, got none`,
      );
    }
  }

  #exploreHandler(found: FoundMethod, callback: object, ofClass: ProcessorMetadata | undefined): void {
    const ofMethod = Reflect.getMetadata(PROCESSOR, callback) as ProcessorMetadata | undefined;
    const handler = Reflect.getMetadata(JOB_HANDLER, callback) as JobHandlerMetadata | undefined;
    const processor = ofMethod ?? ofClass;
    const isHandler = Boolean(ofMethod ?? handler ?? (ofClass && found.method === 'handle'));
    if (!isHandler) return;
    if (!processor) {
      this.#problems.push(
        `${found.title}: expected @QueueProcessor('queue') on the class or the method beside @JobHandler(), got none`,
      );
      return;
    }
    if (!this.#isOurs(processor, found.title)) return;
    if (ofMethod) this.#noteProcessor(ofMethod, found.title);
    const problem = handler?.name === undefined ? undefined : nameProblem('job name', handler.name);
    if (problem) this.#problems.push(`${found.title}: ${problem}`);
    this.#found.handlers.push({
      ...found,
      queue: processor.queue,
      name: handler?.name,
      batch: processor.options.batch,
    });
  }

  #exploreListener(found: FoundMethod, callback: object): void {
    for (const metadata of (Reflect.getMetadata(QUEUE_EVENT, callback) ?? []) as QueueEventMetadata[]) {
      if (!this.#isOurs(metadata, found.title)) continue;
      const problem = listenerProblem(metadata);
      if (problem) this.#problems.push(`${found.title}: ${problem}`);
      else this.#found.listeners.push({ ...found, ...metadata });
    }
  }

  #noteProcessor({ queue, options }: ProcessorMetadata, title: string): void {
    this.#problems.push(...processorProblems({ queue, options }).map((line) => `${title}: ${line}`));
    const { topic, where } = options;
    const ofQueue = ofQueueAlone(options);
    if (Object.keys(ofQueue).length === 0 && topic === undefined) return;
    this.#noteOptions(queue, ofQueue, title);
    if (topic !== undefined) this.#found.subscriptions.set(queue, { topic, ...(where === undefined ? {} : { where }) });
  }

  #noteOptions(queue: string, options: QueueOptions, title: string): void {
    const elsewhere = this.#optionsAt.get(queue);
    // Several modules may import one queue with the same options.
    const isSame = elsewhere === title && isDeepStrictEqual(this.#found.options.get(queue), options);
    if (elsewhere && !isSame) {
      this.#problems.push(`queue "${queue}" has options at ${elsewhere} and at ${title}, expected them in one place`);
    }
    this.#optionsAt.set(queue, title);
    this.#found.options.set(queue, options);
  }

  #refuseDuplicates(): void {
    const first = new Map<string, FoundHandler>();
    for (const handler of this.#found.handlers) {
      const what = `queue "${handler.queue}"${handler.name === undefined ? '' : `, name "${handler.name}"`}`;
      const other = first.get(what);
      if (!other) first.set(what, handler);
      else this.#problems.push(`two handlers for ${what}: ${place(other)} and ${place(handler)}. Remove one of them`);
    }
  }

  #isOurs({ instance = '' }: { instance?: string }, title: string): boolean {
    if (!this.instances.has(instance)) {
      const known = [...this.instances].map((name) => name || '(the unnamed one)');
      const wanted = instance ? `instance "${instance}"` : 'the unnamed instance';
      this.#problems.push(
        `${title}: expected an instance of SqlQueueModule, got ${wanted} (known: ${known.join(', ')})`,
      );
    }
    return instance === (this.instance ?? '');
  }
}

/**
 * What forFeature() and the decorators of classes say of queues, where it is in order. Known before anything is made, unlike what they say
 * of what factories make; nothing is refused yet.
 */
export function decoratedOptions(
  wrappers: readonly InstanceWrapper[],
  scanner: MetadataScanner,
  instance = '',
): Map<string, QueueOptions> {
  const processors = wrappers.flatMap((wrapper) => {
    const prototype = prototypeOf(wrapper) as Record<string, object> | undefined;
    if (!prototype) return [];
    const decorated = [prototype.constructor, ...scanner.getAllMethodNames(prototype).map((name) => prototype[name]!)];
    return decorated.map((of) => Reflect.getMetadata(PROCESSOR, of) as ProcessorMetadata | undefined);
  });
  const ours = processors.filter((found) => found !== undefined && (found.instance ?? '') === instance);
  const sound = (ours as ProcessorMetadata[]).filter((processor) => processorProblems(processor).length === 0);
  const said = sound.map(({ queue, options }) => [queue, ofQueueAlone(options)] as const);
  // Several can name a queue, and one of them says something of it.
  const ofDecorators = said.filter(([, options]) => Object.keys(options).length > 0);
  return new Map([...featureOptions(wrappers, instance), ...ofDecorators]);
}

function processorProblems({ queue, options }: ProcessorMetadata): string[] {
  const problems = [nameProblem('queue name', queue), ...processorOptionProblems(options, queue)];
  return problems.filter((line) => line !== undefined);
}

function ofQueueAlone(options: ProcessorOptions): QueueOptions {
  const { batch: _, topic: __, where: ___, ...ofQueue } = options;
  return ofQueue;
}

function listenerProblem({ event, from }: QueueEventMetadata): string | undefined {
  if (!QUEUE_EVENTS.includes(event)) {
    const way = didYouMean(String(event), QUEUE_EVENTS) || ` (known: ${QUEUE_EVENTS.join(', ')})`;
    return `unknown event "${String(event)}"${way}`;
  }
  const origin = expected(from === 'here' || from === 'anywhere', `from to be 'here' or 'anywhere'`, from);
  if (origin || from === 'here' || isChange(event)) return origin;
  return `"${event}" can be heard from 'here' alone, since nothing of it is in the database. Listen to "claimed" or "rescued"`;
}

function place({ title, wrapper }: FoundHandler): string {
  return `${title} (in ${wrapper.host?.name ?? 'unknown module'})`;
}

/** Where a provider's methods are to be found; undefined where there can be none. */
function prototypeOf(wrapper: InstanceWrapper): object | undefined {
  if (wrapper.isAlias) return undefined;
  const instance = wrapper.instance as object | null | undefined;
  // What a factory made or a value is, only the thing itself can tell.
  if (wrapper.isNotMetatype || !wrapper.metatype) {
    return typeof instance === 'object' && instance !== null ? methodsOf(Object.getPrototypeOf(instance)) : undefined;
  }
  return methodsOf((wrapper.metatype as { prototype?: object }).prototype);
}

function methodsOf(prototype: object | null | undefined): object | undefined {
  return prototype && prototype !== Object.prototype && typeof prototype.constructor === 'function'
    ? prototype
    : undefined;
}
