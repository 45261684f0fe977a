import { toMs } from '../common/units.js';
import { buildJob } from '../job/job-content.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { digestOf, type NewSchedule, type ScheduleTiming } from '../job/schedules/schedule.js';
import {
  resolveScheduleTimes,
  type ScheduledJobOptions,
  type ScheduleOptions,
} from '../job/schedules/schedule-options.js';

const JOB_OPTIONS = ['priority', 'retry', 'timeout', 'expiresIn', 'lease', 'retention', 'headers'];

/**
 * Checks a schedule and encodes its job.
 *
 * @param also further options in the same object, which the caller checks
 */
export async function buildSchedule(
  name: string,
  { queue, name: jobName }: { readonly queue: string; readonly name: string },
  given: ScheduleOptions,
  optionsFor: (queue: string) => ResolvedQueueOptions,
  also: readonly string[] = [],
): Promise<NewSchedule> {
  const timing = resolveScheduleTimes(name, given, ['payload', 'options', ...also]);
  const { payload = {}, options = {} } = given;
  InvalidOptionsError.throwIfAny(
    `Schedule "${name}"`,
    isOptions(options) ? [...unknownKeys(options, JOB_OPTIONS), expiryProblem(options, timing)] : [],
  );
  // A row of a schedule has no delay, so that of jobDefaults does not apply.
  const jobOptions = { ...options, name: jobName, delay: 0 };
  const { codec } = optionsFor(queue);
  // A blob would expire before the schedule ends.
  const withoutBlobs = (of: string) => ({ ...optionsFor(of), codec: codec?.inline });
  const job = await buildJob(queue, payload, jobOptions, codec ? withoutBlobs : optionsFor);
  const schedule = { name, ...timing, job };
  if (!codec) return schedule;
  const withoutCodec = (of: string) => ({ ...optionsFor(of), codec: undefined, maxPayloadBytes: Infinity });
  const plain = { ...schedule, job: await buildJob(queue, payload, jobOptions, withoutCodec) };
  return { ...schedule, digest: digestOf(plain) };
}

/** Each job is enqueued at its tick, and due after a part of the jitter. */
function expiryProblem({ expiresIn }: ScheduledJobOptions, { jitterMs }: ScheduleTiming): string | undefined {
  const isTooShort = jitterMs > 0 && (toMs(expiresIn) ?? Infinity) <= jitterMs;
  return expected(!isTooShort, 'options.expiresIn to be longer than jitter', expiresIn);
}
