import 'reflect-metadata';
import { Inject, SetMetadata } from '@nestjs/common';
import { InvalidOptionsError } from '../job/errors.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueEventName } from '../job/queue-event.js';
import type { InjectQueueDecorator, ProcessorDecorator } from './handler-types.js';
import { rememberProcessor } from './loaded-processors.js';
import {
  JOB_HANDLER,
  PROCESSOR,
  QUEUE_EVENT,
  type EventOrigin,
  type JobHandlerMetadata,
  type OfInstance,
  type ProcessorMetadata,
  type QueueEventMetadata,
} from './metadata.js';
import { getQueueToken } from './tokens.js';

/**
 * On a method: it handles the jobs of the queue. On a class: its @JobHandler() methods do, or its `handle()`.
 *
 * Looked for once, at boot, in all providers and controllers there are by then. Not found are those of a module that
 * LazyModuleLoader loads later, and those of what a request-scoped `useFactory` makes, which nobody can look at before its
 * first job: provide the class itself.
 *
 * @param options between the module's `defaults` and its `queues`; see QueueOptions, and ProcessorOptions for `batch`
 * @example
 * ```ts
 * @QueueProcessor('email.send', { concurrency: 20 })
 * async send(job: JobContext<{ to: string }>) { … }
 *
 * @QueueProcessor('click.count', { batch: 100 })
 * async count(jobs: JobContext<{ url: string }>[]) { … }
 * ```
 */
export function QueueProcessor<Name extends QueueName, const Batch extends number | undefined = undefined>(
  queue: Name,
  given: Omit<ProcessorOptions, 'batch'> & { batch?: Batch } & OfInstance = {},
): ProcessorDecorator<Name, Batch> {
  const { instance, ...options } = given as ProcessorOptions & OfInstance;
  const decorate = SetMetadata(PROCESSOR, {
    queue,
    options,
    ...(instance === undefined ? {} : { instance }),
  } satisfies ProcessorMetadata);
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
    const host = (descriptor?.value ?? target) as object;
    const title =
      method === undefined ? (target as { name: string }).name : `${target.constructor.name}.${String(method)}`;
    const other = Reflect.getOwnMetadata(PROCESSOR, host) as ProcessorMetadata | undefined;
    if (other) {
      throw new InvalidOptionsError(title, [
        `expected one @QueueProcessor(), got two: "${queue}" and "${other.queue}". Give each queue a method`,
      ]);
    }
    rememberProcessor({ queue, instance: instance ?? '', title });
    decorate(target, method as string, descriptor as never);
  };
}

/** This method handles the queue's jobs of that name; without a name those that no other method names. */
export function JobHandler(name?: string): MethodDecorator {
  return SetMetadata(JOB_HANDLER, { name } satisfies JobHandlerMetadata);
}

export interface OnQueueEventOptions extends OfInstance {
  /** Of this queue's jobs alone. */
  queue?: QueueName;
  /**
   * `here` (the default): what this process does. `anywhere`: what becomes of jobs in any process, this one among them, as
   * it was recorded in the same transactions: of queues with the option `events`, from the start of this process on, each
   * event once in each process that listens, some milliseconds after its commit, a second where processes cannot wake one
   * another. Not `started` and `lost`, of which the database does not know. What a process misses that cannot reach the
   * database for ten minutes is lost to it.
   */
  from?: EventOrigin;
}

/** This method of any provider or controller is told what happens to jobs. Can stand more than once. */
export function OnQueueEvent(
  event: QueueEventName,
  { queue, instance, from = 'here' }: OnQueueEventOptions = {},
): MethodDecorator {
  return (_target, _method, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as object;
    const others = (Reflect.getMetadata(QUEUE_EVENT, method) ?? []) as QueueEventMetadata[];
    const metadata = { event, queue, from, ...(instance === undefined ? {} : { instance }) };
    Reflect.defineMetadata(QUEUE_EVENT, [...others, metadata], method);
  };
}

/** Injects the Queue of that name, which `SqlQueueModule.forFeature([name])` provides. */
export function InjectQueue<Name extends QueueName>(
  queue: Name,
  { instance }: OfInstance = {},
): InjectQueueDecorator<Name> {
  return Inject(getQueueToken(queue, instance));
}
