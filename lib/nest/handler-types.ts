import type { AsDeclared, PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { Queue } from './queue.js';
import type { JobContext } from '../worker/run/job-context.js';

/**
 * Decorates a method, or a class with a method `handle()`. If the first parameter is the job, its type must fit: a
 * JobContext with the payload of the queue, or an array of them with the option `batch`. Parameters with decorators are
 * not checked, because the compiler does not know their values.
 */
export interface ProcessorDecorator<Name extends QueueName, Batch> {
  // oxlint-disable-next-line typescript/no-explicit-any
  <Class extends abstract new (...args: any[]) => object>(target: Class & FitsClass<Class, Name, Batch>): void;
  <Handler>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler> & Fits<Handler, Name, Batch>,
  ): void;
}

/** Decorates a constructor parameter or a property of a type to which `Queue<Name>` is assignable. */
export interface InjectQueueDecorator<Name extends QueueName> {
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
