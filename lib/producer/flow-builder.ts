import { isTurnLong, nextTurn } from '../common/turn.js';
import { FlowCycleError, InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys, requireOptions } from '../job/expectation.js';
import { onFailureProblem, resolveFlowOptions, type FanOutOptions } from '../job/flows/flow-options.js';
import { buildJob } from '../job/job-content.js';
import { checkFlowSize, type NewEdge, type NewFlow, type OnFailure } from '../job/flows/flow.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { NewJob } from '../job/job.js';
import { checkQueueName } from '../job/identifiers.js';
import type { PayloadOf, QueueName } from '../job/queue-jobs.js';
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
  #prerequisites: Map<FlowJob, OnFailure> | undefined;
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
    /** @internal The number of jobs that were added before. */
    readonly position: number,
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
    return this.needing(prerequisitesOf(this.builder, jobs, onFailure, unknown), onFailure);
  }

  /** @internal Adds checked jobs. */
  needing(jobs: readonly FlowJob[], onFailure: OnFailure): this {
    // Most jobs of a large flow wait for none, so they need no map.
    this.#prerequisites ??= new Map();
    for (const job of jobs) this.#prerequisites.set(job, onFailure);
    return this;
  }

  /** @internal */
  get prerequisites(): ReadonlyMap<FlowJob, OnFailure> {
    return this.#prerequisites ?? NONE;
  }

  /** @internal */
  setId(id: number): void {
    this.#id = id;
  }
}

const NONE: ReadonlyMap<FlowJob, OnFailure> = new Map();

/** Collects the jobs of a flow. Each job can wait for any others. */
export class FlowBuilder {
  readonly #jobs: FlowJob[] = [];
  #isClosed = false;

  /** @internal Whether the function that builds the flow has returned. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws InvalidOptionsError for invalid options, and after the function that builds the flow has returned */
  add<Queue extends QueueName>(queue: Queue, payload: PayloadOf<Queue>, given: FlowJobOptions = {}): FlowJob {
    return this.#add(queue, [payload], given)[0]!;
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
    return payloads.length === 0 ? [] : this.#add(queue, payloads, given);
  }

  /** Checks the options once, because the function of the caller adds all jobs in one turn of the event loop. */
  #add(queue: QueueName, payloads: readonly unknown[], given: FlowJobOptions): FlowJob[] {
    checkQueueName(queue);
    const where = `Cannot add a job of queue "${queue}" to the flow`;
    InvalidOptionsError.throwIfAny(where, [
      this.#isClosed ? lateCall('add') : undefined,
      expected(isOptions(given), 'options to be an object', given),
    ]);
    const { after, ...others } = given;
    const { onFailure, options } = resolveFlowOptions(where, others);
    const prerequisites = after === undefined ? undefined : prerequisitesOf(this, after, onFailure);
    return payloads.map((payload) => {
      const job = new FlowJob(queue, payload, options, this, this.#jobs.length);
      this.#jobs.push(job);
      return prerequisites ? job.needing(prerequisites, onFailure) : job;
    });
  }

  /**
   * @internal
   * @param buildJob checks and encodes a job
   * @throws FlowCycleError or FlowTooLargeError
   */
  async finish(buildJob: (job: FlowJob) => NewJob | Promise<NewJob>): Promise<NewFlow & { added: readonly FlowJob[] }> {
    this.#isClosed = true;
    const added = this.#jobs;
    InvalidOptionsError.throwIfAny('Cannot store the flow', [
      expected(added.length > 0, 'at least one job', added.length),
    ]);
    checkFlowSize(
      added.length,
      added.reduce((sum, { prerequisites }) => sum + prerequisites.size, 0),
    );
    const edges: NewEdge[] = [];
    for (const { position, prerequisites } of added) {
      for (const [needed, onFailure] of prerequisites) {
        edges.push({ job: position, needs: needed.position, onFailure });
        if (isTurnLong()) await nextTurn();
      }
    }
    const cycle = await findCycle(added);
    if (cycle) throw new FlowCycleError(cycle.map(({ queue, position }) => `${queue} (job ${position + 1})`));
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
  { optionsFor, flows, instrumentations }: Pick<ProducerParts, 'optionsFor' | 'flows' | 'instrumentations'>,
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
  // The turn begins here for the loops below: the function of the caller is a part of it.
  isTurnLong();
  await build(builder);
  const { added, ...flow } = await builder.finish(({ queue, payload, options }) =>
    buildJob(queue, payload, options, optionsFor),
  );
  const insert = async (sent: readonly NewJob[]): Promise<EnqueuedFlow> => {
    const create = () => flows.create({ ...flow, jobs: sent }, manager);
    const { id, jobIds } = await inserter.storeWithinLimits(sent, manager, create);
    const jobs = sent.map(({ queue, name }, index): EnqueuedJob => {
      return { id: jobIds[index]!, queue, name, outcome: 'created' };
    });
    const free = sent.filter(({ isBlocked }) => !isBlocked);
    await inserter.afterCommit(manager, jobs, free);
    return { id, jobs };
  };
  const stored = await (instrumentations
    ? instrumentations.enqueue('flow', flow.jobs, insert, ({ jobs }) => jobs)
    : insert(flow.jobs));
  added.forEach((job, index) => job.setId(stored.jobs[index]!.id));
  return stored;
}

/** The checked jobs of `after`. */
function prerequisitesOf(
  builder: FlowBuilder,
  jobs: FlowJob | readonly FlowJob[],
  onFailure: OnFailure,
  unknown: object = {},
): readonly FlowJob[] {
  const all = jobs instanceof FlowJob ? [jobs] : jobs;
  const areOfFlow = Array.isArray(all) && all.every((job) => job instanceof FlowJob && job.builder === builder);
  InvalidOptionsError.throwIfAny(`Cannot add a job to the flow`, [
    builder.isClosed ? lateCall('after') : undefined,
    ...unknownKeys(unknown, ['onFailure']),
    expected(areOfFlow, 'after to be a job, or a list of jobs, that add() of this flow has returned', jobs),
    onFailureProblem(onFailure),
  ]);
  return all;
}

function lateCall(method: 'add' | 'after'): string {
  return `expected ${method}() before the function that builds the flow ends, got a later call`;
}

/** The jobs of a cycle, the first one again at the end. Without recursion, because a chain may be long. */
async function findCycle(jobs: readonly FlowJob[]): Promise<FlowJob[] | undefined> {
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
      if (isTurnLong()) await nextTurn();
    }
  }
  return undefined;
}
