import type { AdminEnqueueOptions } from '../../admin/enqueue-job.js';
import { isOptions } from '../../job/expectation.js';
import { checkQueueName } from '../../job/identifiers.js';
import { isFinalState } from '../../job/job-state.js';
import { defined } from '../../job/option-schema.js';
import type { ReplayKind } from '../../job/replay-options.js';
import type { BoardAction, BoardCall } from './board-call.js';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import { notFound, Refusal } from '../dashboard/error-status.js';
import { flowFor, jobFor, queueFor, scheduleFor } from './allowed.js';
import type { BoardWriteVerb } from './board-verbs.js';
import { bulkAnswer } from './bulk-actions.js';
import { checkInput } from './input.js';
import { newPayload } from './new-payload.js';
import { createSchedule, editSchedule } from './schedule-writes.js';

/** The writes of the board by their verb. Each checks the right for the queue that it changes. */
export const WRITES: Readonly<Record<BoardWriteVerb, BoardAction>> = {
  pause: (call) => setPaused(call, 'pause'),
  resume: (call) => setPaused(call, 'resume'),
  limit: async (call) => done(await call.admin.limit(await queueFor(call, 'limit'), call.input.raw('change') as null)),
  configure: async ({ admin, access, input }) => {
    const [queue, settings] = [input.required('queue'), input.raw('settings')];
    for (const verb of verbsOf(settings)) await access.require(verb, queue);
    return done(await admin.configure(queue, settings as null));
  },
  enqueue: enqueueJob,
  'pause-group': async (call) => done(await (await groupOf(call, 'pause-group')).pause()),
  'resume-group': async (call) => done(await (await groupOf(call, 'resume-group')).resume()),
  'limit-group': async (call) =>
    done(await (await groupOf(call, 'limit-group')).limit(call.input.raw('change') as null)),
  retry: retryJobs,
  cancel: (call) => bulkAnswer(call, 'cancel', {}, (which, bulk) => call.admin.cancel(which, bulk)),
  promote: (call) => bulkAnswer(call, 'promote', {}, (which, bulk) => call.admin.promote(which, bulk)),
  remove: (call) => bulkAnswer(call, 'remove', {}, (which, bulk) => call.admin.remove(which, bulk)),
  release: async (call) => oneChanged(await call.admin.release((await jobFor(call, 'release')).id)),
  reschedule: async (call) => {
    const { admin, input } = call;
    const until = input.has('runAt') ? input.date('runAt') : input.raw('delay');
    return oneChanged(await admin.reschedule((await jobFor(call, 'reschedule')).id, until as Date));
  },
  reprioritise: async (call) =>
    oneChanged(await call.admin.reprioritise((await jobFor(call, 'reprioritise')).id, call.input.number('priority')!)),
  update: async (call) => {
    const payload = newPayload(call.input.raw('payload'));
    return oneChanged(await call.admin.update((await jobFor(call, 'update')).id, { payload }));
  },
  duplicate: async (call) => {
    const job = await jobFor(call, 'duplicate');
    const id = await call.admin.duplicate(job.id, await differencesOf(call, job.queue));
    if (id === null) throw notFound(`Job ${job.id}`);
    return { id };
  },
  signal: sendSignal,
  'cancel-flow': async (call) => changed(await call.admin.cancelFlow((await flowFor(call, 'cancel-flow')).id)),
  'retry-flow': async (call) => changed(await call.admin.retryFlow((await flowFor(call, 'retry-flow')).id)),
  'create-schedule': createSchedule,
  'edit-schedule': editSchedule,
  'remove-schedule': async (call) =>
    oneChanged(await call.schedules.remove((await scheduleFor(call, 'remove-schedule')).name)),
  'pause-schedule': async (call) => done(await call.schedules.pause((await scheduleFor(call, 'pause-schedule')).name)),
  'resume-schedule': async (call) =>
    done(await call.schedules.resume((await scheduleFor(call, 'resume-schedule')).name)),
  'run-schedule': async (call) => ({ id: await call.schedules.runNow((await scheduleFor(call, 'run-schedule')).name) }),
};

const done = (_result: void) => ({});
const changed = (count: number) => ({ changed: count });
const oneChanged = (isChanged: boolean) => ({ changed: isChanged ? 1 : 0 });

/** One queue, or all queues that the caller may change. */
async function setPaused({ admin, access, input }: BoardCall, verb: 'pause' | 'resume'): Promise<object> {
  const queue = input.text('queue');
  if (queue !== undefined) {
    await access.require(verb, queue);
    await admin[verb](queue);
    return changed(1);
  }
  checkInput(input.raw('all') === true, 'queue, or all: true', input.raw('all'));
  const queues = await access.filter(await admin.queues(), verb);
  if (queues.length === 0) throw new Refusal(`No right to ${verb} any queue.`, 403, 'FORBIDDEN');
  for (const one of queues) await admin[verb](one.queue);
  return changed(queues.length);
}

/** Enqueues a job. Another owner of its key is an error: the person who fills in the form wants a new job. */
async function enqueueJob(call: BoardCall): Promise<object> {
  const { admin, input } = call;
  const queue = await queueFor(call, 'enqueue');
  checkQueueName(queue);
  const payload = newPayload(input.raw('payload'), 'Cannot enqueue');
  const options = {
    ...input.given('name', 'delay', 'key', 'group'),
    ...defined({ runAt: input.date('runAt'), priority: input.number('priority') }),
    ...(input.text('key') !== undefined && { onConflict: 'reject' }),
  } as AdminEnqueueOptions;
  const { id } = await admin.enqueue(queue, payload, options);
  return { id };
}

async function retryJobs(call: BoardCall): Promise<object> {
  const { admin, access, input } = call;
  const options = { ...input.given('rate', 'to'), ...defined({ completed: input.raw('completed') }) } as ReplayKind;
  if (options.to !== undefined) await access.require('retry', options.to);
  return bulkAnswer(call, 'retry', options, (which, bulk) => admin.retry(which, { ...options, ...bulk }));
}

/** A copy with a payload of its own does the same as a copy and an update, so it needs both rights. */
async function differencesOf({ access, input }: BoardCall, queue: string) {
  if (!input.has('payload')) return {};
  await access.require('update', queue);
  return { payload: newPayload(input.raw('payload')) };
}

/** A signal that the job waits for: the key is that of its wait, so a viewer cannot send any other signal. */
async function sendSignal(call: BoardCall): Promise<object> {
  const { admin, input } = call;
  const job = await jobFor(call, 'signal');
  const name = input.required('name');
  const key = isFinalState(job.state) ? undefined : await keyOfWait(admin, job.id, name);
  if (key === undefined) throw new Refusal(`Job ${job.id} waits for no signal "${name}".`, 409, 'CONFLICT');
  return changed((await admin.signal(name, key, input.raw('data'))) ?? 0);
}

/** The key of the signal that the job waits for, now or when it runs again. */
async function keyOfWait(admin: QueueAdmin, jobId: number, name: string): Promise<string | undefined> {
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const { steps, next } = await admin.steps(jobId, { after });
    const wait = steps.find((step) => step.name === name && step.state === 'waiting');
    if (wait) return wait.signalKey ?? undefined;
    after = next;
  }
  return undefined;
}

async function groupOf(call: BoardCall, verb: BoardWriteVerb) {
  const queue = await queueFor(call, verb);
  return call.admin.group(queue, call.input.required('group'));
}

/** Settings can do the same as other verbs, so they need the same rights. Null ends a pause and all limits. */
function verbsOf(settings: unknown): BoardWriteVerb[] {
  if (!isOptions(settings)) return ['configure', 'resume', 'limit'];
  return [
    'configure',
    ...('paused' in settings || 'enabled' in settings ? (['pause', 'resume'] as const) : []),
    ...('maxRunning' in settings || 'rate' in settings ? (['limit'] as const) : []),
  ];
}
