import { isTurnLong, nextTurn } from '../common/turn.js';
import { buildJob } from '../job/job-content.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys, requireOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import type { NewJob } from '../job/job.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { InTransaction, JobOfQueue, JobToEnqueue } from './enqueued-job.js';
import type { ProducerParts } from './producer-parts.js';

/** The arguments of `enqueueMany`. */
export type JobsToEnqueue =
  | [queue: QueueName, jobs: readonly JobToEnqueue[], given?: InTransaction]
  | [jobs: readonly JobOfQueue[], given?: InTransaction];

/** Checks the arguments of `enqueueMany` and encodes its jobs. */
export async function buildJobs(
  { optionsFor }: ProducerParts,
  args: JobsToEnqueue,
): Promise<{ jobs: NewJob[]; manager: CallerTransaction | undefined }> {
  const [queue, jobs, given = {}] = isOfSeveralQueues(args) ? [undefined, ...args] : args;
  const { manager, ...unknown } = requireOptions('Cannot enqueue', given);
  if (queue !== undefined) checkQueueName(queue);
  const where = queue === undefined ? 'Cannot enqueue' : `Cannot enqueue into "${queue}"`;
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(unknown, ['manager']),
    expected(Array.isArray(jobs), 'a list of { payload, options? }', jobs),
  ]);
  const built: NewJob[] = [];
  // A copy: the caller can change its list while this loop waits.
  for (const [index, job] of [...jobs].entries()) {
    checkJobToEnqueue(where, job, index);
    const newJob = buildJob(queue ?? (job as JobOfQueue).queue, job.payload, job.options, optionsFor);
    built.push(newJob instanceof Promise ? await newJob : newJob);
    if (isTurnLong()) await nextTurn();
  }
  return { jobs: built, manager };
}

function isOfSeveralQueues(args: readonly unknown[]): args is [readonly JobOfQueue[], InTransaction?] {
  return Array.isArray(args[0]);
}

function checkJobToEnqueue(where: string, job: unknown, index: number): asserts job is JobToEnqueue {
  if (typeof job === 'object' && job !== null && 'payload' in job) return;
  throw new InvalidOptionsError(where, [expected(false, `job ${index} to be { payload, options? }`, job)!]);
}
