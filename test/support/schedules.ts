import type { NewSchedule } from '../../lib/job/schedules/schedule.js';
import { newJob } from './jobs.js';

/** A schedule of every hour for the queue `q`, except for the fields in `given`. */
export function newSchedule({ job, ...given }: Partial<NewSchedule> & Pick<NewSchedule, 'name'>): NewSchedule {
  return {
    job: newJob(job),
    ...{ cron: null, everyMs: 3_600_000, tz: 'UTC', untilMs: null },
    ...{ missed: 'once', missedLimit: 1, overlap: 'allow', jitterMs: 0 },
    ...given,
  };
}
