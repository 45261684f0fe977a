import { buildJob } from '../../lib/job/job-content.js';
import { resolveQueueOptions, type JobDefaults } from '../../lib/job/queue-options.js';
import type { ScheduleOptions } from '../../lib/job/schedules/schedule-options.js';
import { buildSchedule } from '../../lib/schedules/build-schedule.js';

const withDefaults = (jobDefaults: JobDefaults) => () => resolveQueueOptions({ jobDefaults });
const MAIL = { queue: 'mail', name: 'default' };

describe('a job that expires', () => {
  it.each(['5m', '10m'] as const)(
    'is rejected if the default delay of its queue takes as long as its %s',
    (expiresIn) => {
      const build = () => buildJob('mail', null, { expiresIn }, withDefaults({ delay: '10m' }));

      expect(build).toThrow(
        `Cannot enqueue into "mail": expected expiresIn to be longer than jobDefaults.delay of queue "mail", got ` +
          `"${expiresIn}"; set delay beside it, or a longer expiresIn`,
      );
    },
  );

  it.each([{ expiresIn: '11m' }, { expiresIn: '5m', delay: '1m' }, { expiresIn: '5m', delay: 0 }] as const)(
    'may have the options %j in a queue with a default delay of ten minutes',
    (options) => {
      expect(buildJob('mail', null, options, withDefaults({ delay: '10m' }))).toMatchObject({ queue: 'mail' });
    },
  );
});

describe('a schedule whose jobs expire', () => {
  const build = (options: ScheduleOptions, jobDefaults: JobDefaults = {}) =>
    buildSchedule('report', MAIL, options, withDefaults(jobDefaults));

  it.each(['5m', '10m'] as const)('is rejected if its jitter can take as long as their %s', async (expiresIn) => {
    await expect(build({ every: '1h', jitter: '10m', options: { expiresIn } })).rejects.toThrow(
      `Schedule "report": expected options.expiresIn to be longer than jitter, got "${expiresIn}"`,
    );
  });

  it('may have any jitter that is shorter', async () => {
    const schedule = await build({ every: '1h', jitter: '4m', options: { expiresIn: '5m' } });

    expect(schedule).toMatchObject({ jitterMs: 240_000, job: { overrides: '{"expiresInMs":300000}' } });
  });

  it('may be in a queue with a default delay, which its jobs do not have', async () => {
    const schedule = await build({ every: '1h', options: { expiresIn: '5m' } }, { delay: '10m', priority: 3 });

    expect(schedule.job).toMatchObject({ delayMs: null, priority: 3 });
  });
});
