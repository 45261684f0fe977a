import { buildJob } from '../job/job-content.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { checkQueueName } from '../job/identifiers.js';
import type { NewJob } from '../job/job.js';
import { requireOptions } from '../job/expectation.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { EnqueueStatement, InTransaction, StatementOptions } from './enqueued-job.js';
import type { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';

/**
 * The INSERT of a job, which the limits of its queue admit now and the caller sends. Checks the job as `enqueue` does, and
 * refuses options that one INSERT cannot store.
 */
export async function buildStatement(
  { optionsFor, store, instrumentations }: ProducerParts,
  inserter: JobInserter,
  queue: string,
  payload: unknown,
  given: StatementOptions,
  ownManager: CallerTransaction | undefined,
): Promise<EnqueueStatement> {
  checkQueueName(queue);
  const { manager = ownManager, ...options }: EnqueueOptions & InTransaction = requireOptions('Cannot enqueue', given);
  InvalidOptionsError.throwIfAny(`Cannot build a statement for queue "${queue}"`, [
    options.key !== undefined ? refused('key', 'an INSERT cannot find the owner of a key') : undefined,
    options.subject !== undefined ? refused('subject', 'a subject has a row of its own') : undefined,
    manager ? 'expected no manager, got one: enqueue() stores the job in its transaction' : undefined,
  ]);
  const job = await buildJob(queue, payload, options, optionsFor);
  const build = async (sent: NewJob): Promise<EnqueueStatement> => {
    const bind = () => store.enqueueStatement(sent);
    const { text: sql, values } = await inserter.storeWithinLimits([sent], undefined, bind);
    return { sql, values: [...values], notify: () => inserter.notifyWorkers(sent.queue, [sent]) };
  };
  if (!instrumentations) return build(job);
  return instrumentations.enqueue(
    'enqueueStatement',
    [job],
    ([sent]) => build(sent!),
    () => [],
  );
}

function refused(option: keyof EnqueueOptions, reason: string): string {
  return (
    `expected no ${option}, got one: ${reason}. ` +
    `Store a job without it by the statement, and let its handler call enqueue() with the ${option}`
  );
}
