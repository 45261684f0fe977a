import { systemClock } from '../../common/clock.js';
import { hasCode, type InvalidOptionsError } from '../../job/errors.js';
import type { ScheduleRecord } from '../../store/features/schedules/schedule-store.js';
import type { BoardCall } from './board-call.js';
import { scheduleTimes } from './schedule-writes.js';
import { scheduleFor } from './allowed.js';

const DAY_MS = 86_400_000;
const MAX_TICKS = 100;
// Ticks take CPU, so that those of thousands of schedules would delay the process.
const MAX_SCHEDULES = 50;

/**
 * The schedules of readable queues. `creatableIn`: the queues in which the viewer may create one. `ticks`: those of the next
 * 24 hours; null beyond the first schedules.
 */
export async function readSchedules({ admin, schedules, access, redactor }: BoardCall) {
  const visible = await access.filter(await schedules.list());
  const withPayload = new Set(await access.filter(visible, 'read-payload'));
  const creatable = await access.filter(await admin.queues(), 'create-schedule');
  return {
    creatableIn: creatable.map(({ queue }) => queue),
    schedules: visible.map((schedule, index) => {
      // The options of its jobs have headers, which may be secret.
      const { payload, options: _, ...others } = schedule;
      const context = { queue: schedule.queue, name: schedule.jobName, what: 'payload' } as const;
      const isShown = withPayload.has(schedule) && payload !== undefined;
      const { isPaused, nextAt } = schedule;
      const hasTicks = !isPaused && nextAt !== null;
      const ticks = index >= MAX_SCHEDULES ? null : hasTicks ? ticksOfDay(schedules, schedule) : [];
      return { ...others, ticks, payload: isShown ? redactor.show(payload, context) : null };
    }),
  };
}

const PAST_TICKS = 10;

/** The jobs of the last ticks. Examines at most the newest 1,000 jobs of the queue in each table: `isAll` is false beyond. */
export async function readPastTicks(call: BoardCall) {
  const { name, queue } = await scheduleFor(call, 'read');
  const page = { limit: PAST_TICKS, order: 'newest' } as const;
  const { jobs, next } = await call.admin.find({ queue, schedule: name }, page);
  return {
    ticks: jobs.map(({ id, state, schedule }) => ({ id, state, at: schedule!.at, missed: schedule!.missed })),
    isAll: next === undefined || jobs.length === PAST_TICKS,
  };
}

/** The ticks of the next 24 hours, at most 100. None if another program has stored times that are not valid. */
function ticksOfDay(schedules: BoardCall['schedules'], schedule: ScheduleRecord): Date[] {
  try {
    const now = systemClock.now();
    const end = new Date(now.getTime() + DAY_MS);
    const { until } = schedule;
    return schedules.preview({ ...timesOf(schedule), until: until && until < end ? until : end }, MAX_TICKS, now);
  } catch (error) {
    if (hasCode(error, 'INVALID_OPTIONS')) return [];
    throw error;
  }
}

/** The next ticks of a stored schedule or, without a name, of the times of a form, with their problems. */
export async function previewSchedule(call: BoardCall) {
  if (!call.input.has('name')) return previewTimes(call);
  const schedule = await scheduleFor(call, 'read');
  return { ticks: call.schedules.preview(timesOf(schedule), call.input.number('count') ?? 5) };
}

function timesOf({ cron, everyMs, tz, until }: ScheduleRecord) {
  return {
    ...(cron !== null ? { cron, tz } : { every: everyMs! }),
    ...(until && { until }),
  };
}

const PREVIEWED = 5;

/** Times that a person is typing are no failed request. */
async function previewTimes({ schedules, access, input }: BoardCall) {
  await access.require('read', input.text('queue'));
  try {
    return { ticks: schedules.preview(scheduleTimes(input), PREVIEWED), problems: [] };
  } catch (error) {
    if (hasCode(error, 'INVALID_OPTIONS')) return { ticks: [], problems: (error as InvalidOptionsError).problems };
    throw error;
  }
}
