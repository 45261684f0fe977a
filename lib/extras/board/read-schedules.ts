import type { ScheduleRecord } from '../../store/features/schedules/schedule-store.js';
import type { BoardCall } from './board-call.js';
import { scheduleFor } from './allowed.js';

export async function readSchedules({ schedules, access, redactor }: BoardCall) {
  const visible = await access.filter(await schedules.list());
  const withPayload = new Set(await access.filter(visible, 'read-payload'));
  return {
    schedules: visible.map((schedule) => {
      const { payload, ...others } = schedule;
      const context = { queue: schedule.queue, name: schedule.jobName, what: 'payload' } as const;
      const isShown = withPayload.has(schedule) && payload !== undefined;
      return { ...others, payload: isShown ? redactor.show(payload, context) : null };
    }),
  };
}

/** The next ticks of a stored schedule. */
export async function previewSchedule(call: BoardCall) {
  const schedule = await scheduleFor(call, 'read');
  return { ticks: call.schedules.preview(timesOf(schedule), call.input.number('count') ?? 5) };
}

function timesOf({ cron, everyMs, tz, until }: ScheduleRecord) {
  return {
    ...(cron !== null ? { cron, tz } : { every: everyMs! }),
    ...(until && { until }),
  };
}
