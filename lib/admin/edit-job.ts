import type { EncodeContext } from '../job/codec/payload-codec.js';
import { encodeHeaders, encodePayload } from '../job/job-content.js';
import { HEADERS, resolveEnqueueOptions, type EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys, requireOptions } from '../job/expectation.js';
import type { JobRecord, NewJob } from '../job/job.js';
import { checkJobId } from '../job/identifiers.js';
import { jobOverridesOf, readDate } from '../job/read-columns.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor, within, type ChangeOptions } from './in-transaction.js';

/** The new content of a job. Parts that are not given stay. */
export interface JobUpdate {
  /**
   * Checked by the schema and the limits of the queue, as in `enqueue`. The job starts anew: steps, progress, log lines and
   * children of its earlier runs are forgotten, and a sleep, or a wait for a signal, ends.
   */
  payload?: unknown;
  /** Whether the job goes on after the steps that have ended with its old payload. Default false. */
  keepSteps?: boolean;
  /** All headers of the job: the new ones replace the old ones. */
  headers?: Record<string, string>;
}

/** The differences between a job and its copy. */
export interface DuplicateOptions extends Pick<EnqueueOptions, 'delay' | 'runAt' | 'priority'>, ChangeOptions {
  /** Default: the payload of the job. */
  payload?: unknown;
}

export async function updateJob(
  parts: AdminParts,
  id: number,
  update: JobUpdate,
  options: ChangeOptions,
): Promise<boolean> {
  checkJobId(id);
  const where = `Cannot update job ${id}`;
  const { store, audit, optionsFor, transaction, recheckFlows, notifier } = partsFor(parts, where, options);
  const { headers, ...others } = requireOptions(where, update);
  const { payload, keepSteps, ...unknown } = others;
  const hasPayload = 'payload' in others;
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(unknown, ['payload', 'headers', 'keepSteps']),
    expected(keepSteps === undefined || typeof keepSteps === 'boolean', 'keepSteps to be true or false', keepSteps),
    ...(headers === undefined ? [] : HEADERS.problems('headers', headers)),
    expected(hasPayload || headers !== undefined, 'payload or headers', update),
  ]);
  const job = await store.get(id, transaction);
  if (!job) return false;
  const { queue } = job;
  const due = await dueOf(store, job, transaction);
  const encoded = hasPayload ? await encodePayload(queue, payload, optionsFor(queue), job.name, due) : undefined;
  const edit = {
    ...(encoded !== undefined && { payload: encoded }),
    ...(headers !== undefined && { headers: encodeHeaders(queue, headers) }),
  };
  const changes = Object.keys(edit);
  const call = {
    verb: 'update',
    which: id,
    options: { changes, ...(keepSteps !== undefined && { keepSteps }) },
    queue,
  } as const;
  const startsAnew = encoded !== undefined && keepSteps !== true;
  const isChanged = await audit.change(call, (change) =>
    store.edit(id, queue, startsAnew ? edit : { ...edit, keepsSteps: true }, change),
  );
  if (!isChanged || !startsAnew) return isChanged;
  // It may have waited for its children, for a signal or for the end of a sleep.
  await recheckFlows([id]);
  notifier.poll();
  return true;
}

/** When the job needs its payload. A blocked job has its delay in its options. */
async function dueOf(
  store: Pick<AdminParts['store'], 'copyOf'>,
  { id, state, runAt }: JobRecord,
  transaction: ChangeOptions['manager'],
): Promise<Pick<EncodeContext, 'delayMs' | 'runAtMs'>> {
  if (state !== 'blocked') return { runAtMs: readDate(runAt?.getTime() ?? null) };
  const copy = await store.copyOf(id, transaction);
  return { delayMs: copy?.delayMs, runAtMs: copy?.runAtMs };
}

export async function duplicateJob(parts: AdminParts, id: number, given: DuplicateOptions): Promise<number | null> {
  checkJobId(id);
  const where = `Cannot duplicate job ${id}`;
  const { delay, runAt, priority, manager, ...others } = requireOptions(where, given);
  const own = within(parts, manager);
  const { payload, ...unknown } = others;
  InvalidOptionsError.throwIfAny(where, unknownKeys(unknown, ['payload', 'delay', 'runAt', 'priority', 'manager']));
  const options = {
    ...(delay !== undefined && { delay }),
    ...(runAt && { runAt }),
    ...(priority !== undefined && { priority }),
  };
  const { delayMs, runAtMs, priority: newPriority } = resolveEnqueueOptions('', options, [], where);
  const copy = await own.store.copyOf(id, manager);
  if (!copy) return null;
  const { queue, name } = copy;
  const { expiresInMs = Infinity } = jobOverridesOf(copy.overrides);
  InvalidOptionsError.throwIfAny(where, [
    expected(expiresInMs > (delayMs ?? 0), `delay to be shorter than expiresIn of the job, ${expiresInMs} ms`, delay),
  ]);
  const due = { delayMs, runAtMs };
  const job: NewJob = {
    ...copy,
    delayMs,
    runAtMs,
    priority: priority === undefined ? copy.priority : newPriority,
    ...('payload' in others && { payload: await encodePayload(queue, payload, parts.optionsFor(queue), name, due) }),
  };
  const call = { verb: 'duplicate', which: id, options, queue } as const;
  const newId = await own.audit.change(call, (change) => own.store.enqueueCopy(job, change));
  own.events.emitChanges('enqueued', [{ id: newId, queue, name }]);
  own.notifier.poll();
  return newId;
}
