import { buildJob } from '../job/build-job.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys } from '../job/expectation.js';
import { requireOptions } from '../job/option-schema.js';
import type { CallerTransaction } from '../store/jobs/job-store.js';
import type { EnqueuedJob, InTransaction } from './enqueued-job.js';
import { FlowBuilder } from './flow-builder.js';
import type { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';

/** A stored flow. */
export interface EnqueuedFlow {
  readonly id: number;
  /** In the order in which they were added. */
  readonly jobs: readonly EnqueuedJob[];
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
