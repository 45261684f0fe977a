import { notFound } from '../dashboard/error-status.js';
import type { FlowRecord } from '../../job/flows/flow-record.js';
import type { JobRecord } from '../../job/job.js';
import type { ScheduleRecord } from '../../store/features/schedules/schedule-store.js';
import type { BoardCall } from './board-call.js';
import type { BoardVerb } from './board-verbs.js';

/** The queue of the request, if the caller may use the verb in it. */
export async function queueFor({ access, input }: BoardCall, verb: BoardVerb): Promise<string> {
  const queue = input.required('queue');
  await access.require(verb, queue);
  return queue;
}

/** The job with the id, if the caller may use the verb in its queue. */
export async function jobFor(call: BoardCall, verb: BoardVerb, id = call.input.id()): Promise<JobRecord> {
  const job = await call.admin.get(id);
  if (!job) throw notFound(`Job ${id}`);
  await call.access.require(verb, job.queue);
  return job;
}

/** The flow of the request, if the caller may use the verb in the queues of all its jobs. */
export async function flowFor({ admin, access, input }: BoardCall, verb: BoardVerb): Promise<FlowRecord> {
  const id = input.id();
  const flow = await admin.flow(id);
  if (!flow) throw notFound(`Flow ${id}`);
  for (const { queue } of flow.jobs) await access.require(verb, queue);
  return flow;
}

/** The schedule of the request, if the caller may use the verb in its queue. */
export async function scheduleFor({ schedules, access, input }: BoardCall, verb: BoardVerb): Promise<ScheduleRecord> {
  const name = input.required('name');
  const schedule = await schedules.get(name);
  if (!schedule) throw notFound(`Schedule "${name}"`);
  await access.require(verb, schedule.queue);
  return schedule;
}
