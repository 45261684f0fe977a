import { checkQueueName, isName, NAME_EXPECTED } from '../../job/identifiers.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { defined } from '../../job/option-schema.js';
import type { ScheduleTimes } from '../../job/schedules/schedule-options.js';
import { Refusal } from '../dashboard/error-status.js';
import { queueFor, scheduleFor } from './allowed.js';
import type { BoardCall } from './board-call.js';
import type { BoardInput } from './input.js';
import { newPayload } from './new-payload.js';

/** Stores a schedule with a new name. */
export async function createSchedule(call: BoardCall): Promise<object> {
  const { schedules, input } = call;
  const queue = await queueFor(call, 'create-schedule');
  checkQueueName(queue);
  const name = input.required('name');
  // The store replaces a schedule of the same name.
  if (await schedules.get(name)) throw new Refusal(`A schedule "${name}" exists already.`, 409, 'SCHEDULE_EXISTS');
  const payload = input.has('payload') ? { payload: newPayload(input.raw('payload'), 'Schedule') } : {};
  return nextOf(await schedules.upsert(name, { queue, ...jobNameOf(input), ...scheduleTimes(input), ...payload }));
}

/** Replaces the times and, if they are given, the queue, the job name and the payload. The options of its jobs stay. */
export async function editSchedule(call: BoardCall): Promise<object> {
  const { schedules, access, input } = call;
  const stored = await scheduleFor(call, 'edit-schedule');
  const { name, options } = stored;
  const queue = input.text('queue') ?? stored.queue;
  if (queue !== stored.queue) await access.require('edit-schedule', queue);
  checkQueueName(queue);
  const payload = input.has('payload') ? newPayload(input.raw('payload'), 'Schedule') : stored.payload;
  const job = { jobName: stored.jobName, ...jobNameOf(input), payload, options };
  return nextOf(await schedules.upsert(name, { queue, ...job, ...scheduleTimes(input) }));
}

/** The times of the form. Fields that are missing or empty have their defaults. */
export function scheduleTimes(input: BoardInput): ScheduleTimes {
  return {
    ...input.given('cron', 'every', 'tz', 'overlap', 'jitter'),
    ...defined({ missed: input.raw('missed'), until: input.date('until') }),
  } as ScheduleTimes;
}

/** The library would report a wrong name of the jobs as one of the schedule. */
function jobNameOf(input: BoardInput): { jobName?: string } {
  const jobName = input.text('jobName');
  if (jobName === undefined) return {};
  InvalidOptionsError.throwIfAny('Schedule', [expected(isName(jobName), `jobName to be ${NAME_EXPECTED}`, jobName)]);
  return { jobName };
}

const nextOf = (nextAt: Date | null) => ({ nextAt });
