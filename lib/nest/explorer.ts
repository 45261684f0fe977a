import { isDeepStrictEqual } from 'node:util';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { didYouMean } from '../common/message-text.js';
import { nameProblem } from '../job/identifiers.js';
import { processorOptionProblems, type ProcessorOptions } from '../job/processor-options.js';
import type { QueueOptions } from '../job/queue-options.js';
import type { SubscriptionOptions } from '../job/topics.js';
import { QUEUE_EVENTS, storedEventOf } from '../job/queue-event.js';
import { featureOptions } from './feature-queues.js';
import {
  JOB_HANDLER,
  PROCESSOR,
  QUEUE_EVENT,
  SCHEDULE,
  type JobHandlerMetadata,
  type ProcessorMetadata,
  type QueueEventMetadata,
  type ScheduleMetadata,
} from './decorators.js';
import { replacedMethods } from './loaded-classes.js';
import { prototypeOf } from './prototype-of.js';

export interface FoundMethod {
  readonly wrapper: InstanceWrapper;
  readonly method: string;
  /** `Class.method`, for logs and messages. */
  readonly title: string;
}

export interface FoundHandler extends FoundMethod {
  readonly queue: string;
  readonly name: string | undefined;
  /** The maximum number of jobs per call. Undefined: the handler receives one job, without an array. */
  readonly batch: number | undefined;
}

export type FoundListener = FoundMethod & QueueEventMetadata;

export interface FoundSchedule extends ScheduleMetadata {
  readonly title: string;
  readonly queue: string;
  readonly jobName: string | undefined;
}

export type ExplorerResult = ReturnType<Explorer['explore']>;

/** Finds the decorated handlers and listeners of one instance of the module. Throws one error with all contradictions. */
export class Explorer {
  readonly #found = {
    handlers: [] as FoundHandler[],
    schedules: [] as FoundSchedule[],
    listeners: [] as FoundListener[],
    options: new Map<string, QueueOptions>(),
    subscriptions: new Map<string, SubscriptionOptions>(),
    /** Warnings of decorators without effect. */
    replaced: new Set<string>(),
  };
  readonly #problems: string[] = [];
  readonly #optionsAt = new Map<string, string>();
  readonly #scanner = new MetadataScanner();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly instance = '',
    private readonly instances: ReadonlySet<string>,
  ) {}

  explore() {
    const explored = new Set<unknown>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const prototype = prototypeOf(wrapper);
      // An object that is provided under two tokens is one handler.
      const identity = wrapper.isDependencyTreeStatic() ? wrapper.instance : wrapper;
      if (!prototype || explored.has(identity)) continue;
      explored.add(identity);
      this.#exploreClass(wrapper, prototype);
    }
    for (const [queue, options] of featureOptions(this.discovery.getProviders(), this.instance)) {
      this.#addOptions(queue, options, 'SqlQueueModule.forFeature()');
    }
    this.#rejectDuplicates();
    InvalidOptionsError.throwIfAny('Queue handlers', [...new Set(this.#problems)]);
    return this.#found;
  }

  #exploreClass(wrapper: InstanceWrapper, prototype: object): void {
    for (const line of replacedMethods(prototype, this.instance, [...this.instances])) this.#found.replaced.add(line);
    const ofClass = Reflect.getMetadata(PROCESSOR, prototype.constructor) as ProcessorMetadata | undefined;
    const countBefore = this.#found.handlers.length;
    const isOurs = ofClass !== undefined && this.#isOurs(ofClass, prototype.constructor.name);
    if (isOurs) this.#addProcessor(ofClass, prototype.constructor.name);
    for (const method of this.#scanner.getAllMethodNames(prototype)) {
      const found = { wrapper, method, title: `${prototype.constructor.name}.${method}` };
      const callback = (prototype as Record<string, object>)[method]!;
      this.#exploreHandler(found, callback, ofClass);
      this.#exploreListener(found, callback);
    }
    if (isOurs && this.#found.handlers.length === countBefore) {
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
    const schedules = (Reflect.getMetadata(SCHEDULE, callback) ?? []) as ScheduleMetadata[];
    if (!isHandler && schedules.length > 0)
      this.#problems.push(`${found.title}: expected @QueueProcessor() or @JobHandler() beside @Schedule(), got none`);
    if (!isHandler) return;
    if (!processor) {
      this.#problems.push(
        `${found.title}: expected @QueueProcessor('queue') on the class or the method beside @JobHandler(), got none`,
      );
      return;
    }
    if (!this.#isOurs(processor, found.title)) return;
    if (ofMethod) this.#addProcessor(ofMethod, found.title);
    const problem = handler?.name === undefined ? undefined : nameProblem('job name', handler.name);
    if (problem) this.#problems.push(`${found.title}: ${problem}`);
    this.#found.handlers.push({
      ...found,
      queue: processor.queue,
      name: handler?.name,
      batch: processor.options.batch,
    });
    for (const schedule of schedules)
      this.#addSchedule({ ...schedule, title: found.title, queue: processor.queue, jobName: handler?.name });
  }

  #addSchedule(schedule: FoundSchedule): void {
    const other = this.#found.schedules.find(({ name }) => name === schedule.name);
    if (other)
      this.#problems.push(
        `two schedules "${schedule.name}": ${other.title} and ${schedule.title}. Give one another name`,
      );
    this.#found.schedules.push(schedule);
  }

  #exploreListener(found: FoundMethod, callback: object): void {
    for (const metadata of (Reflect.getMetadata(QUEUE_EVENT, callback) ?? []) as QueueEventMetadata[]) {
      if (!this.#isOurs(metadata, found.title)) continue;
      const problem = listenerProblem(metadata);
      if (problem) this.#problems.push(`${found.title}: ${problem}`);
      else this.#found.listeners.push({ ...found, ...metadata });
    }
  }

  #addProcessor(processor: ProcessorMetadata, title: string): void {
    this.#problems.push(...processorProblems(processor).map((line) => `${title}: ${line}`));
    const { queue, options } = processor;
    const { topic, where } = options;
    const ofQueue = queueOptionsOf(options);
    if (Object.keys(ofQueue).length === 0 && topic === undefined) return;
    this.#addOptions(queue, ofQueue, title);
    if (topic !== undefined) this.#found.subscriptions.set(queue, { topic, ...(where === undefined ? {} : { where }) });
  }

  #addOptions(queue: string, options: QueueOptions, title: string): void {
    const elsewhere = this.#optionsAt.get(queue);
    // Several modules may import a queue with equal options.
    const isSame = elsewhere === title && isDeepStrictEqual(this.#found.options.get(queue), options);
    if (elsewhere && !isSame) {
      this.#problems.push(`queue "${queue}" has options at ${elsewhere} and at ${title}, expected them in one place`);
    }
    this.#optionsAt.set(queue, title);
    this.#found.options.set(queue, options);
  }

  #rejectDuplicates(): void {
    const first = new Map<string, FoundHandler>();
    for (const handler of this.#found.handlers) {
      const target = `queue "${handler.queue}"${handler.name === undefined ? '' : `, name "${handler.name}"`}`;
      const other = first.get(target);
      if (!other) first.set(target, handler);
      else
        this.#problems.push(
          `two handlers for ${target}: ${locationOf(other)} and ${locationOf(handler)}. Remove one of them`,
        );
    }
  }

  #isOurs({ instance = '' }: { instance: string | undefined }, title: string): boolean {
    if (!this.instances.has(instance)) {
      const known = [...this.instances].map((name) => name || '(the unnamed one)');
      const requested = instance ? `instance "${instance}"` : 'the unnamed instance';
      this.#problems.push(
        `${title}: expected an instance of SqlQueueModule, got ${requested} (known: ${known.join(', ')})`,
      );
    }
    return instance === this.instance;
  }
}

/**
 * The valid queue options of forFeature() and of decorators on classes. They are known before Nest creates any provider,
 * unlike decorators on objects from factories. Invalid options are skipped here; `Explorer` rejects them later.
 */
export function decoratedOptions(wrappers: readonly InstanceWrapper[], instance = ''): Map<string, QueueOptions> {
  const scanner = new MetadataScanner();
  const processors = wrappers.flatMap((wrapper) => {
    const prototype = prototypeOf(wrapper) as Record<string, object> | undefined;
    if (!prototype) return [];
    const decorated = [prototype.constructor, ...scanner.getAllMethodNames(prototype).map((name) => prototype[name]!)];
    return decorated.map((of) => Reflect.getMetadata(PROCESSOR, of) as ProcessorMetadata | undefined);
  });
  const ours = processors.filter((found) => found !== undefined && (found.instance ?? '') === instance);
  const valid = (ours as ProcessorMetadata[]).filter((processor) => processorProblems(processor).length === 0);
  const declared = valid.map(({ queue, options }) => [queue, queueOptionsOf(options)] as const);
  // Several decorators can name a queue, but only one may have options. The others must not overwrite them.
  const ofDecorators = declared.filter(([, options]) => Object.keys(options).length > 0);
  return new Map([...featureOptions(wrappers, instance), ...ofDecorators]);
}

function processorProblems({ queue, options }: ProcessorMetadata): string[] {
  const problems = [nameProblem('queue name', queue), ...processorOptionProblems(options, queue)];
  return problems.filter((line) => line !== undefined);
}

function queueOptionsOf(options: ProcessorOptions): QueueOptions {
  const { batch: _, topic: __, where: ___, ...ofQueue } = options;
  return ofQueue;
}

function listenerProblem({ event, from }: QueueEventMetadata): string | undefined {
  if (!QUEUE_EVENTS.includes(event)) {
    const suggestion = didYouMean(String(event), QUEUE_EVENTS) || ` (known: ${QUEUE_EVENTS.join(', ')})`;
    return `unknown event "${String(event)}"${suggestion}`;
  }
  const origin = expected(from === 'here' || from === 'anywhere', `from to be 'here' or 'anywhere'`, from);
  const stored = storedEventOf(event);
  if (origin || from === 'here' || stored === event) return origin;
  return `expected from 'here' for "${event}", got 'anywhere': the database does not store this event. Listen to "${stored}"`;
}

function locationOf({ title, wrapper }: FoundHandler): string {
  return `${title} (in ${wrapper.host?.name ?? 'unknown module'})`;
}
