import type { AsDeclared, PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { Queue } from './queue.js';
import type { JobContext } from '../runtime/job-context.js';

/**
 * Decorates a method, or a class for the sake of its `handle()`. Its first parameter, if it is the job, has to fit: a JobContext
 * with the queue's payload, or an array of them with the option `batch`. Parameters with decorators are not checked, since their types
 * are not known here.
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

/** Decorates a parameter of the constructor, or a property: a `Queue<Name>`, or whatever such a queue can stand for. */
export interface InjectQueueDecorator<Name extends QueueName> {
  // oxlint-disable-next-line typescript/no-explicit-any
  <Class extends abstract new (...args: any[]) => object, Index extends number>(
    target: Class,
    key: undefined,
    index: Index & Takes<ConstructorParameters<Class>[Index], Name>,
  ): void;
  <Target extends object, Key extends string | symbol>(
    target: Target & Takes<Target extends Record<Key, infer Property> ? Property : unknown, Name>,
    key: Key,
  ): void;
}

/** What the compiler shows of a handler that does not fit. */
interface ExpectedHandler<Parameter> {
  readonly 'expected a handler that takes': Parameter;
}

type Fits<Handler, Name extends QueueName, Batch> = Handler extends (...args: infer Args) => unknown
  ? FitsFirst<Args[0], JobContext<AsDeclared<PayloadOf<Name>>, AsDeclared<ResultOf<Name>>>, CallOf<Batch>>
  : unknown;

type FitsClass<Class extends abstract new (...args: never[]) => object, Name extends QueueName, Batch> =
  InstanceType<Class> extends { handle: infer Handler } ? Fits<Handler, Name, Batch> : unknown;

/** Whether a call is for one job or for many; either, if the size of the batch is not known before run time. */
type CallOf<Batch> = Batch extends undefined ? 'one' : number extends Batch ? 'one' | 'many' : 'many';

// A parameter of another type has a decorator, as @JobPayload().
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

type Takes<Parameter, Name extends QueueName> = Queue<Name> extends Parameter ? unknown : Queue<Name>;
