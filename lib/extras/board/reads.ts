import type { MetricsStep } from '../../admin/read-history.js';
import { CHANGED_STATES } from '../../job/changed-states.js';
import { defined } from '../../job/option-schema.js';
import type { ErrorRange } from './shared-errors.js';
import { WRITE_VERBS } from './board-verbs.js';
import { flowFor, queueFor } from './allowed.js';
import type { BoardAction, BoardCall } from './board-call.js';
import { readableQueues, readQueues, statisticsOf } from './board-queues.js';
import { notFound } from '../dashboard/error-status.js';
import { groupDeadJobs } from './dead-groups.js';
import { assignedRow, jobRow } from './job-views.js';
import { readAudit } from './read-audit.js';
import { MAX_IDS } from './bulk-actions.js';
import { checkInput } from './input.js';
import { explainJob } from './explain-job.js';
import { readFlows, readSignals, readWaits } from './read-flows.js';
import { readJob, readLogs, readRelatives, readSteps } from './read-job.js';
import { previewSchedule, readPastTicks, readSchedules } from './read-schedules.js';

const MAX_QUEUES = 200;

/** The reads of the board by the last part of their URL. Each checks the right to read. */
export const READS: Readonly<Record<string, BoardAction>> = {
  rights: readRights,
  queues: readStatistics,
  problems: readProblems,
  diagnoses: readDiagnoses,
  throughput: async ({ throughput, access }) => ({ queues: await access.filter(await throughput.lastHour()) }),
  queue: readQueue,
  history: readHistory,
  jobs: findJobs,
  'job-states': readStates,
  job: readJob,
  logs: readLogs,
  steps: readSteps,
  relatives: readRelatives,
  explain: explainJob,
  errors: readErrors,
  'dead-groups': async ({ deadJobs, access }) => deadJobs.read((queue) => access.allows('read', queue)),
  groups: readGroups,
  audit: readAudit,
  dead: async (call) => groupDeadJobs(call.admin, call.redactor, await queueFor(call, 'read')),
  people: readPeople,
  schedules: readSchedules,
  preview: previewSchedule,
  'past-ticks': readPastTicks,
  flow: (call) => flowFor(call, 'read'),
  flows: readFlows,
  waits: readWaits,
  signals: readSignals,
  workers: readWorkers,
  subscriptions: async ({ admin, access }) => ({ subscriptions: await access.filter(await admin.subscriptions()) }),
};

/** Those without a queue, and those in each queue. The page hides the buttons of other verbs; the server checks each again. */
async function readRights({ access, input }: BoardCall) {
  const verbs = ['read', 'read-payload', ...WRITE_VERBS] as const;
  const queues = await Promise.all(
    input.texts('queue').map(async (queue) => [queue, await access.allowed(verbs, queue)] as const),
  );
  return {
    ...{ isReadOnly: access.isReadOnly, user: access.user ?? null },
    verbs: await access.allowed(verbs),
    queues: Object.fromEntries(queues),
    // The page disables a verb that would change none of the jobs.
    changes: CHANGED_STATES,
  };
}

async function readStatistics({ admin, access }: BoardCall) {
  const all = await readQueues(admin);
  return statisticsOf(await readableQueues(access, all), all);
}

async function readQueue(call: BoardCall) {
  const queue = await queueFor(call, 'read');
  const found = (await readQueues(call.admin)).find((one) => one.queue === queue);
  if (!found) throw notFound(`Queue "${queue}"`);
  return found;
}

/** The problems of readable queues, and those of workers for viewers who may read the list of workers. */
async function readProblems({ problems, access }: BoardCall) {
  return { problems: await access.filter(await problems.read()) };
}

/** Those of the last minute, unless the viewer asks for new ones. */
async function readDiagnoses({ diagnoses, access, input }: BoardCall) {
  await access.require('read');
  if (input.has('again')) diagnoses.clear();
  return { diagnoses: await diagnoses.read() };
}

/** The errors of the last hour, or of another range, of one queue or of all queues that the viewer may read. */
async function readErrors(call: BoardCall) {
  const { errors, access, input } = call;
  const range = (input.text('range') ?? 'hour') as ErrorRange;
  if (input.has('queue')) return errors.ofQueue(await queueFor(call, 'read'), range);
  return errors.ofAll(range, (queue) => access.allows('read', queue));
}

/** The attempts of one queue, or of the first 200 queues that the viewer may read. */
async function readHistory(call: BoardCall) {
  const { admin, input, access, history } = call;
  if (!input.has('queue')) {
    const readable = await access.filter(await admin.queues());
    const queues = readable.slice(0, MAX_QUEUES).map(({ queue }) => queue);
    return { points: await history.read({ queues, step: (input.text('step') ?? 'minute') as MetricsStep }) };
  }
  const queue = await queueFor(call, 'read');
  const range = { from: input.date('from'), to: input.date('to'), step: input.text('step') as 'minute' | undefined };
  return { points: await admin.history(queue, defined(range)) };
}

async function findJobs({ admin, access, input, redactor }: BoardCall) {
  const filter = input.queryFilter();
  if (filter.queue !== undefined) await access.require('read', filter.queue);
  // A filter finds out values of headers as well as showing them does.
  if (filter.headers !== undefined) await access.require('read-payload', filter.queue);
  const { jobs, next } = await admin.find(filter, input.page());
  const visible = await access.filter(jobs);
  return { jobs: visible.map((job) => jobRow(job, redactor)), next: next ?? null };
}

/** The present states of jobs that a list shows. Unknown jobs, and those of other queues, are left out. */
async function readStates({ admin, access, input }: BoardCall) {
  // One text, because parsers of queries take many values of one name for something else.
  const ids = input.required('ids').split(',').map(Number);
  checkInput(ids.length <= MAX_IDS, `at most ${MAX_IDS} ids`, ids.length);
  const jobs = await access.filter(await admin.states(ids));
  return { states: jobs.map(({ id, state }) => ({ id, state })) };
}

async function readGroups(call: BoardCall) {
  const queue = await queueFor(call, 'read');
  const { admin, input } = call;
  const state = input.text('state') as 'ready' | undefined;
  const { limit = 50, after } = input.page();
  const page = { counts: true, limit, after, ...(state !== undefined && { state }) };
  const { groups, next } = await admin.groups(queue, page);
  return { groups, next: next ?? null };
}

/** The workers of queues that the viewer may read, with these queues only. */
async function readWorkers({ workers, access }: BoardCall) {
  await access.require('read');
  const all = await workers.read();
  const shown = await Promise.all(
    all.map(async (worker) => ({ ...worker, queues: await access.filter(worker.queues) })),
  );
  return { workers: shown.filter(({ queues }, index) => queues.length > 0 || all[index]!.queues.length === 0) };
}

/** The jobs of an owner, of a stage, or those without an owner. */
async function readPeople({ consumer, access, input, redactor }: BoardCall) {
  const [owner, queue, stage] = [input.text('owner'), input.text('queue'), input.text('stage')];
  const page = input.page();
  if (queue !== undefined) await access.require('read', queue);
  const { jobs, next } =
    owner !== undefined
      ? await consumer.assigned(owner, { ...page, ...(queue !== undefined && { queue }) })
      : stage !== undefined
        ? await consumer.inStage(input.required('queue'), stage, page)
        : await consumer.unassigned(input.required('queue'), page);
  const visible = await access.filter(jobs);
  return { jobs: visible.map((job) => assignedRow(job, redactor)), next: next ?? null };
}
