import 'reflect-metadata';
import { Inject, SetMetadata } from '@nestjs/common';
import { InvalidOptionsError } from '../job/errors.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueEventName } from '../job/queue-event.js';
import type { InjectQueueDecorator, ProcessorDecorator } from './handler-types.js';
import { recordProcessor } from './loaded-processors.js';
import {
  JOB_HANDLER,
  PROCESSOR,
  QUEUE_EVENT,
  type EventOrigin,
  type JobHandlerMetadata,
  type InstanceOptions,
  type ProcessorMetadata,
  type QueueEventMetadata,
} from './metadata.js';
import { getQueueToken } from './tokens.js';

/**
 * On a method: the method handles the jobs of the queue. On a class: its @JobHandler() methods or its `handle()` do.
 *
 * The module finds decorators once, at boot, in all providers and controllers. It does not find those of a module that
 * LazyModuleLoader loads later. It does not find those on objects from a request-scoped `useFactory` either, which do not
 * exist before the first job: provide the class instead.
 *
 * @param options override the `defaults` of the module and yield to its `queues`. See QueueOptions, and ProcessorOptions
 * for `batch`
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
  given: Omit<ProcessorOptions, 'batch'> & { batch?: Batch } & InstanceOptions = {},
): ProcessorDecorator<Name, Batch> {
  const { instance, ...options } = given as ProcessorOptions & InstanceOptions;
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
    recordProcessor({ queue, instance: instance ?? '', title });
    decorate(target, method as string, descriptor as never);
  };
}

/** Handles the jobs of the queue with this name. Without a name: all jobs that no other method handles by name. */
export function JobHandler(name?: string): MethodDecorator {
  return SetMetadata(JOB_HANDLER, { name } satisfies JobHandlerMetadata);
}

export interface OnQueueEventOptions extends InstanceOptions {
  /** Only events of this queue. Default: all queues. */
  queue?: QueueName;
  /**
   * `here` (default): events of this process. `anywhere`: events of all processes, for queues with the option `events`,
   * from the start of this process on.
   *
   * Events from anywhere are stored in the transaction of the change. Each listening process receives each event once:
   * some milliseconds after the commit, or up to a second if processes cannot notify each other. `started` and `lost` are
   * not stored, so they come from `here` only. A process that cannot reach the database for ten minutes misses events.
   */
  from?: EventOrigin;
}

/** Calls this method of a provider or controller for each such event. A method may have several of these decorators. */
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

/** Injects the Queue with this name, which `SqlQueueModule.forFeature([name])` provides. */
export function InjectQueue<Name extends QueueName>(
  queue: Name,
  { instance }: InstanceOptions = {},
): InjectQueueDecorator<Name> {
  return Inject(getQueueToken(queue, instance));
}
