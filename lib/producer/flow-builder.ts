import { isTurnLong, nextTurn } from '../common/turn.js';
import { FlowCycleError, InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { onFailureProblem, resolveFlowOptions, type FanOutOptions } from '../job/flows/flow-options.js';
import { buildJob } from '../job/build-job.js';
import { checkFlowSize, type NewEdge, type NewFlow, type OnFailure } from '../job/flows/flow.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { NewJob } from '../job/job.js';
import { checkQueueName } from '../job/job-names.js';
import type { PayloadOf, QueueName } from '../job/queue-jobs.js';
import { requireOptions } from '../job/option-schema.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { EnqueuedJob, InTransaction } from './enqueued-job.js';
import type { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';

/** A stored flow. */
export interface EnqueuedFlow {
  readonly id: number;
  /** In the order in which they were added. */
  readonly jobs: readonly EnqueuedJob[];
}

/** The options of a job of a flow: those of `enqueue` without a key. A `delay` counts from the end of the other jobs. */
export interface FlowJobOptions extends FanOutOptions {
  /** The jobs that must end before this one runs. Default: none. */
  after?: FlowJob | readonly FlowJob[];
}

/** A job of a flow that is being built. */
export class FlowJob {
  /** @internal */
  readonly prerequisites = new Map<FlowJob, OnFailure>();
  #id: number | undefined;

  /** @internal `FlowBuilder.add` creates it. */
  constructor(
    readonly queue: string,
    /** @internal */
    readonly payload: unknown,
    /** @internal */
    readonly options: EnqueueOptions | undefined,
    /** @internal */
    readonly builder: FlowBuilder,
  ) {}

  /** The id of the stored job. Throws before `QueueProducer.flow` has resolved. */
  get id(): number {
    if (this.#id === undefined) throw new Error(`The job of queue "${this.queue}" has an id when flow() has resolved.`);
    return this.#id;
  }

  /** Lets the job run after others of the same flow, in addition to those of its options. */
  after(
    jobs: FlowJob | readonly FlowJob[],
    { onFailure = 'cancel', ...unknown }: { onFailure?: OnFailure } = {},
  ): this {
    const all = jobs instanceof FlowJob ? [jobs] : jobs;
    const areOfFlow = Array.isArray(all) && all.every((job) => job instanceof FlowJob && job.builder === this.builder);
    InvalidOptionsError.throwIfAny(`Cannot add a job to the flow`, [
      ...unknownKeys(unknown, ['onFailure']),
      expected(areOfFlow, 'after to be a job, or a list of jobs, that add() of this flow has returned', jobs),
      onFailureProblem(onFailure),
    ]);
    for (const job of all) this.prerequisites.set(job, onFailure);
    return this;
  }

  /** @internal */
  setId(id: number): void {
    this.#id = id;
  }
}

/** Collects the jobs of a flow. Each job can wait for any others. */
export class FlowBuilder {
  readonly #jobs: FlowJob[] = [];
  #isClosed = false;

  /** @throws InvalidOptionsError for invalid options, and after the function that builds the flow has returned */
  add<Queue extends QueueName>(queue: Queue, payload: PayloadOf<Queue>, given: FlowJobOptions = {}): FlowJob {
    checkQueueName(queue);
    const where = `Cannot add a job of queue "${queue}" to the flow`;
    InvalidOptionsError.throwIfAny(where, [
      this.#isClosed ? 'expected add() before the function that builds the flow ends, got a later call' : undefined,
      expected(isOptions(given), 'options to be an object', given),
    ]);
    const { after, ...others } = given;
    const { onFailure, options } = resolveFlowOptions(where, others);
    const job = new FlowJob(queue, payload, options, this);
    if (after !== undefined) job.after(after, { onFailure });
    this.#jobs.push(job);
    return job;
  }

  /** Adds one job for each payload, with the same options. */
  addMany<Queue extends QueueName>(
    queue: Queue,
    payloads: readonly PayloadOf<Queue>[],
    given: FlowJobOptions = {},
  ): FlowJob[] {
    InvalidOptionsError.throwIfAny(`Cannot add jobs of queue "${queue}" to the flow`, [
      expected(Array.isArray(payloads), 'a list of payloads', payloads),
    ]);
    return payloads.map((payload) => this.add(queue, payload, given));
  }

  /**
   * @internal
   * @param buildJob checks and encodes a job
   * @throws FlowCycleError or FlowTooLargeError
   */
  async finish(buildJob: (job: FlowJob) => NewJob | Promise<NewJob>): Promise<NewFlow & { added: readonly FlowJob[] }> {
    this.#isClosed = true;
    const added = this.#jobs;
    const positions = new Map(added.map((job, index) => [job, index]));
    const edges: NewEdge[] = [];
    added.forEach(({ prerequisites }, job) =>
      prerequisites.forEach((onFailure, needed) => edges.push({ job, needs: positions.get(needed)!, onFailure })),
    );
    InvalidOptionsError.throwIfAny('Cannot store the flow', [
      expected(added.length > 0, 'at least one job', added.length),
    ]);
    checkFlowSize(added.length, edges.length);
    const cycle = findCycle(added);
    if (cycle) throw new FlowCycleError(cycle.map((job) => `${job.queue} (job ${positions.get(job)! + 1})`));
    const jobs: NewJob[] = [];
    for (const job of added) {
      const built = buildJob(job);
      const newJob = built instanceof Promise ? await built : built;
      jobs.push(job.prerequisites.size > 0 ? { ...newJob, isBlocked: true } : newJob);
      if (isTurnLong()) await nextTurn();
    }
    return { jobs, edges, added };
  }
}

/** Stores the jobs that `build` adds, all or none. */
export async function storeFlow(
  { optionsFor }: Pick<ProducerParts, 'optionsFor'>,
  inserter: JobInserter,
  build: (flow: FlowBuilder) => unknown,
  given: InTransaction,
  defaultManager: CallerTransaction | undefined,
): Promise<EnqueuedFlow> {
  const where = 'Cannot store the flow';
  const { manager = defaultManager, ...unknown } = requireOptions(where, given);
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(unknown, ['manager']),
    expected(typeof build === 'function', 'a function that adds jobs', build),
  ]);
  const builder = new FlowBuilder();
  await build(builder);
  const { added, ...flow } = await builder.finish(({ queue, payload, options }) =>
    buildJob(queue, payload, options, optionsFor),
  );
  const stored = await inserter.insertFlow(flow, manager);
  added.forEach((job, index) => job.setId(stored.jobs[index]!.id));
  return stored;
}

/** The jobs of a cycle, the first one again at the end. Without recursion, because a chain may be long. */
function findCycle(jobs: readonly FlowJob[]): FlowJob[] | undefined {
  const done = new Set<FlowJob>();
  for (const start of jobs) {
    // Most jobs of a large flow wait for none.
    if (start.prerequisites.size === 0 || done.has(start)) continue;
    const path: { job: FlowJob; rest: Iterator<FlowJob> }[] = [];
    const onPath = new Set<FlowJob>();
    const enter = (job: FlowJob) => {
      path.push({ job, rest: job.prerequisites.keys() });
      onPath.add(job);
    };
    enter(start);
    while (path.length > 0) {
      const { job, rest } = path.at(-1)!;
      const next = rest.next().value as FlowJob | undefined;
      if (next === undefined) {
        path.pop();
        onPath.delete(job);
        done.add(job);
      } else if (onPath.has(next)) {
        const from = path.findIndex((each) => each.job === next);
        return [...path.slice(from).map((each) => each.job), next];
      } else if (next.prerequisites.size > 0 && !done.has(next)) enter(next);
    }
  }
  return undefined;
}
