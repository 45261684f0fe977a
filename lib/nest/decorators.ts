import 'reflect-metadata';
import { Inject, SetMetadata } from '@nestjs/common';
import { InvalidOptionsError } from '../job/errors.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueEventName } from '../job/queue-event.js';
import type { ScheduleOptions } from '../job/schedules/schedule-options.js';
import type { AsDeclared, PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { JobContext } from '../worker/run/job-context.js';
import { recordDecorator } from './loaded-classes.js';
import type { Queue } from './queue.js';
import { getQueueToken } from './tokens.js';

// Strings, not symbols, so that the explorer of one copy of the package finds the decorators of another copy.
export const PROCESSOR = 'sql-queue:processor';
export const JOB_HANDLER = 'sql-queue:job-handler';
export const QUEUE_EVENT = 'sql-queue:event';
export const SCHEDULE = 'sql-queue:schedule';

export interface InstanceOptions {
  /** The `name` of the module instance. Default: the instance without a name. */
  instance?: string;
}

export interface ProcessorMetadata {
  queue: string;
  instance: string | undefined;
  options: ProcessorOptions;
}

export interface JobHandlerMetadata {
  /** Undefined: all names that have no handler of their own. */
  name: string | undefined;
}

export interface ScheduleMetadata {
  name: string;
  options: ScheduleOptions;
}

/** `here`: events of this process. `anywhere`: events of all processes that share the database. */
type EventOrigin = 'here' | 'anywhere';

export interface QueueEventMetadata {
  event: QueueEventName;
  instance: string | undefined;
  queue: string | undefined;
  from: EventOrigin;
}

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
  const decorate = SetMetadata(PROCESSOR, { queue, instance, options } satisfies ProcessorMetadata);
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
    // A decorator of the ECMAScript standard would get an object here.
    const key = typeof method === 'string' || typeof method === 'symbol' ? method : undefined;
    const title = recordDecorator(target, key, descriptor, {
      kind: 'processor',
      decorator: `@QueueProcessor('${queue}')`,
      key: PROCESSOR,
      instance: instance ?? '',
      queue,
    });
    const host = (descriptor?.value ?? target) as object;
    const other = Reflect.getOwnMetadata(PROCESSOR, host) as ProcessorMetadata | undefined;
    if (other) {
      throw new InvalidOptionsError(title, [
        `expected one @QueueProcessor(), got two: "${queue}" and "${other.queue}". Give each queue a method`,
      ]);
    }
    decorate(target, method as string, descriptor as never);
  };
}

/**
 * Handles the jobs of the queue with this name. Without a name: all jobs that no other method handles by name. A method
 * has one: a second one throws InvalidOptionsError.
 */
export function JobHandler(name?: string): MethodDecorator {
  const decorate = SetMetadata(JOB_HANDLER, { name } satisfies JobHandlerMetadata);
  return (target, method, descriptor) => {
    const decorator = jobHandlerDecorator(name);
    recordDecorator(target, method, descriptor, { kind: 'handler', decorator, key: JOB_HANDLER, instance: undefined });
    const other = Reflect.getOwnMetadata(JOB_HANDLER, descriptor.value as object) as JobHandlerMetadata | undefined;
    if (other) {
      throw new InvalidOptionsError(`${target.constructor.name}.${String(method)}`, [
        `expected one @JobHandler(), got two: ${jobHandlerDecorator(other.name)} and ${decorator}. Give each name a method, ` +
          `or use @JobHandler() for all names and read job.name`,
      ]);
    }
    decorate(target, method, descriptor);
  };
}

function jobHandlerDecorator(name: string | undefined): string {
  return `@JobHandler(${name === undefined ? '' : `'${name}'`})`;
}

/**
 * Enqueues a job for this handler at each tick: exactly one per tick, whatever the number of processes. A method may have
 * several schedules. The module option `schedules` says how deployments change them.
 *
 * @param name 1 to 100 of the characters A-Z a-z 0-9 . _ : -; unique in the database
 * @example
 * ```ts
 * @QueueProcessor('report.build')
 * @Schedule('nightly-report', { cron: '0 3 * * *', tz: 'Europe/Berlin', overlap: 'skip' })
 * async build(job: JobContext) { await this.reports.build(job.schedule?.at ?? new Date()); }
 * ```
 */
export function Schedule(name: string, options: ScheduleOptions): MethodDecorator {
  return addMetadata(SCHEDULE, `@Schedule('${name}')`, { name, options } satisfies ScheduleMetadata);
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
  const metadata = { event, instance, queue, from } satisfies QueueEventMetadata;
  return addMetadata(QUEUE_EVENT, `@OnQueueEvent('${event}')`, metadata, instance ?? '');
}

/** For a decorator that a method may have several times. */
function addMetadata(key: string, decorator: string, metadata: object, instance?: string): MethodDecorator {
  return (target, name, descriptor: PropertyDescriptor) => {
    recordDecorator(target, name, descriptor, { kind: 'listener', decorator, key, instance });
    const { value: method } = descriptor;
    const others = (Reflect.getMetadata(key, method as object) ?? []) as object[];
    Reflect.defineMetadata(key, [metadata, ...others], method as object);
  };
}

/** Injects the Queue with this name, which `SqlQueueModule.forFeature([name])` provides. */
export function InjectQueue<Name extends QueueName>(
  queue: Name,
  { instance }: InstanceOptions = {},
): InjectQueueDecorator<Name> {
  return Inject(getQueueToken(queue, instance));
}

/**
 * Decorates a method, or a class with a method `handle()`. If the first parameter is the job, its type must fit: a
 * JobContext with the payload of the queue, or an array of them with the option `batch`. Parameters with decorators are
 * not checked, because the compiler does not know their values.
 */
interface ProcessorDecorator<Name extends QueueName, Batch> {
  // oxlint-disable-next-line typescript/no-explicit-any
  <Class extends abstract new (...args: any[]) => object>(target: Class & FitsClass<Class, Name, Batch>): void;
  <Handler>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler> & Fits<Handler, Name, Batch>,
  ): void;
}

/** Decorates a constructor parameter or a property of a type to which `Queue<Name>` is assignable. */
interface InjectQueueDecorator<Name extends QueueName> {
  // oxlint-disable-next-line typescript/no-explicit-any
  <Class extends abstract new (...args: any[]) => object, Index extends number>(
    target: Class,
    key: undefined,
    index: Index & AcceptsQueue<ConstructorParameters<Class>[Index], Name>,
  ): void;
  <Target extends object, Key extends string | symbol>(
    target: Target & AcceptsQueue<Target extends Record<Key, infer Property> ? Property : unknown, Name>,
    key: Key,
  ): void;
}

/** The name of the property appears in the compiler error for a handler that does not fit. */
interface ExpectedHandler<Parameter> {
  readonly 'expected a handler that takes': Parameter;
}

type Fits<Handler, Name extends QueueName, Batch> = Handler extends (...args: infer Args) => unknown
  ? FitsFirst<Args[0], JobContext<AsDeclared<PayloadOf<Name>>, AsDeclared<ResultOf<Name>>>, CallOf<Batch>>
  : unknown;

type FitsClass<Class extends abstract new (...args: never[]) => object, Name extends QueueName, Batch> =
  InstanceType<Class> extends { handle: infer Handler } ? Fits<Handler, Name, Batch> : unknown;

/** Both are possible if the batch size is known only at run time. */
type CallOf<Batch> = Batch extends undefined ? 'one' : number extends Batch ? 'one' | 'many' : 'many';

// A parameter of another type has a decorator such as @JobPayload().
type FitsFirst<First, Job, Call> = unknown extends First
  ? unknown
  : First extends JobContext
    ? 'one' extends Call
      ? FitsJob<First, Job>
      : ExpectedHandler<Job[]>
    : First extends readonly JobContext[]
      ? 'many' extends Call
        ? FitsJob<First, Job[]>
        : ExpectedHandler<Job>
      : unknown;

type FitsJob<First, Given> = Given extends First ? unknown : ExpectedHandler<Given>;

type AcceptsQueue<Parameter, Name extends QueueName> = Queue<Name> extends Parameter ? unknown : Queue<Name>;
