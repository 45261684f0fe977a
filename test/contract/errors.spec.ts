import { finalBatchOf, outcomes } from '../support/jobs.js';
import { errorsRow } from '../support/metrics.js';
import { describeStores, type World } from '../support/stores.js';
import { MAX_ERRORS, METRICS_STEPS, type ErrorsRow } from '../../lib/store/features/metrics/metrics-store.js';

const { minute, hour, day } = METRICS_STEPS;
const SEARCH = { queue: null, fromMs: null, toMs: null, limit: 100 };

/** The start of the minute, hour or day this long ago. */
async function startBefore({ metrics }: World, ms: number, step: number = minute): Promise<number> {
  const at = (await metrics.readTime()) - ms;
  return at - (at % step);
}

async function foldAll({ metrics }: World): Promise<void> {
  while ((await metrics.fold(100)) > 0);
}

const save = ({ metrics }: World, ...errors: ErrorsRow[]) => metrics.save([], errors);

const countsOf = async ({ metrics }: World, search: Partial<typeof SEARCH> | { queue: string } = {}) =>
  (await metrics.readErrors({ ...SEARCH, ...search })).map(({ queue, error, failed, dead }) => [
    ...[queue, error, failed, dead],
  ]);

const stored = ({ sql }: World) =>
  sql<{ step_ms: number; error: string; failed: number }>('SELECT step_ms, error, failed FROM sql_queue_errors');

describeStores('counted errors', (setup) => {
  it('have the failed and dead attempts of the last hour, the most frequent first', async () => {
    const world = await setup();
    const at = await startBefore(world, 5 * minute);
    await save(
      world,
      errorsRow({ startsAtMs: at, failed: 2, dead: 1 }),
      errorsRow({ startsAtMs: at, recorder: 2, failed: 3 }),
      errorsRow({ startsAtMs: at, error: 'É2', failed: 9, dead: 9 }),
      errorsRow({ queue: 'other', startsAtMs: at, failed: 1 }),
      errorsRow({ startsAtMs: at - 90 * minute, failed: 100 }),
    );

    expect(await countsOf(world)).toEqual([
      ['q', 'É2', 9, 9],
      ['q', 'E1', 5, 1],
      ['other', 'E1', 1, 0],
    ]);
    expect(await countsOf(world, { queue: 'q' })).toEqual([
      ['q', 'É2', 9, 9],
      ['q', 'E1', 5, 1],
    ]);
    expect(await countsOf(world, { limit: 1 })).toEqual([['q', 'É2', 9, 9]]);
  });

  it('replace those of the same process and minute, so that a save may happen twice', async () => {
    const world = await setup();
    const at = await startBefore(world, minute);

    for (const failed of [1, 4]) await save(world, errorsRow({ startsAtMs: at, failed }));

    expect(await countsOf(world)).toEqual([['q', 'E1', 4, 0]]);
  });

  it('have the first and the last time, the newest job, and the failed attempts of each of the last 60 minutes', async () => {
    const world = await setup();
    const now = await startBefore(world, 0);
    const row = (minutesAgo: number, more: Partial<ErrorsRow>) => {
      const startsAtMs = now - minutesAgo * minute;
      return errorsRow({ startsAtMs, firstAtMs: startsAtMs + 7, lastAtMs: startsAtMs + 9, ...more });
    };
    await save(
      world,
      row(0, { jobId: 5, failed: 2 }),
      row(3, { jobId: 7, failed: 4 }),
      row(59, { jobId: 2, failed: 1, stepMs: minute, recorder: 0 }),
      row(62, { failed: 50 }),
    );

    const [error] = await world.metrics.readErrors({ ...SEARCH, fromMs: now - 61 * minute, toMs: now + 59_999 });

    expect(error).toMatchObject({ failed: 7, firstAtMs: now - 59 * minute + 7, lastAtMs: now + 9, jobId: 7 });
    expect(error!.lastHour).toHaveLength(60);
    expect(Object.entries(error!.lastHour).filter(([, failed]) => failed > 0)).toEqual([
      ['0', 1],
      ['56', 4],
      ['59', 2],
    ]);
  });

  it.each(['minute', 'hour', 'day'] as const)(
    'of a range that ends with a whole %s are in the course',
    async (step) => {
      const world = await setup();
      const to = await startBefore(world, 0, METRICS_STEPS[step]);
      const steps = { minute: 60, hour: 24, day: 30 }[step];
      const from = to - steps * METRICS_STEPS[step];
      await save(
        world,
        errorsRow({ startsAtMs: from, failed: 2 }),
        errorsRow({ startsAtMs: to - minute, failed: 3 }),
        errorsRow({ startsAtMs: to, failed: 50 }),
      );

      const [error] = await world.metrics.readErrors({ ...SEARCH, step, fromMs: from, toMs: to });

      expect(error!.failed).toBe(5);
      expect(error!.course).toEqual([2, ...Array.from({ length: steps - 2 }, () => 0), 3]);
      expect(error!.lastHour.at(-1)).toBe(3);
    },
  );

  it('have the failed attempts of each of the last 24 hours or 30 days, those of sums included', async () => {
    const world = await setup();
    const now = await startBefore(world, 0);
    const row = (ago: number, stepMs: number, failed: number) => {
      const at = now - ago;
      const sum = stepMs === 0 ? {} : { stepMs, recorder: 0 };
      return errorsRow({ ...sum, startsAtMs: at - (at % (stepMs || minute)), failed });
    };
    await save(
      world,
      row(0, 0, 1),
      row(hour, minute, 2),
      row(23 * hour, hour, 4),
      row(24 * hour, hour, 8),
      row(29 * day, day, 16),
      row(30 * day, day, 32),
    );
    const courseOf = async (step: 'minute' | 'hour' | 'day', queue: string | null) => {
      const search = { ...SEARCH, queue, step, fromMs: now - 40 * day, toMs: now + 59_999 };
      const [error] = await world.metrics.readErrors(search);
      return [error!.course.length, Object.entries(error!.course).filter(([, failed]) => failed > 0)];
    };

    for (const queue of [null, 'q']) {
      expect(await courseOf('minute', queue)).toEqual([60, [['59', 1]]]);
      expect(await courseOf('hour', queue)).toEqual([
        24,
        [
          ['0', 4],
          ['22', 2],
          ['23', 1],
        ],
      ]);
      const [days, byDay] = await courseOf('day', queue);
      expect(days).toBe(30);
      expect((byDay as [string, number][])[0]).toEqual(['0', 16]);
      expect((byDay as [string, number][]).reduce((sum, [, failed]) => sum + failed, 0)).toBe(31);
    }
  });

  it('show that error of the newest job while it is retried, and when it is dead', async () => {
    const world = await setup();
    const { jobs, put, claim, metrics } = world;
    const [retried, dead] = [await put({ queue: 'r', name: 'push' }), await put({ queue: 'd' })];
    await jobs.complete(finalBatchOf(await claim({ queue: 'r' }), outcomes.retry));
    await jobs.complete(finalBatchOf(await claim({ queue: 'd' }), outcomes.dead));
    const at = await startBefore(world, 0);
    const names = { r: outcomes.retry.error.name, d: outcomes.dead.error.name };
    await save(
      world,
      errorsRow({ queue: 'r', startsAtMs: at, jobId: retried[0]!, error: names.r, failed: 4 }),
      errorsRow({ queue: 'd', startsAtMs: at, jobId: dead[0]!, error: names.d, failed: 3 }),
      errorsRow({ queue: 'd', startsAtMs: at, jobId: dead[0]!, error: 'another error', failed: 2 }),
      errorsRow({ queue: 'gone', startsAtMs: at, jobId: 999_999 }),
    );

    const errors = await metrics.readErrors(SEARCH);

    expect(errors.map(({ jobName, example }) => [jobName, example?.message])).toEqual([
      ['push', outcomes.retry.error.message],
      ['default', outcomes.dead.error.message],
      ['default', undefined],
      [null, undefined],
    ]);
  });

  it('are added up with the metrics: after ten minutes, a day and 30 days, and deleted after a year', async () => {
    const world = await setup();
    const at = await startBefore(world, 0, day);
    await save(
      world,
      errorsRow({ startsAtMs: at, failed: 1 }),
      errorsRow({ startsAtMs: at, recorder: 2, failed: 1 }),
      errorsRow({ startsAtMs: at + minute, failed: 2 }),
      errorsRow({ startsAtMs: at + hour, failed: 4, error: 'E2' }),
    );
    const steps: number[][] = [];

    for (const days of [2, 32, 334]) {
      world.advance(days * day);
      await foldAll(world);
      const rows = await stored(world);
      steps.push(rows.flatMap(({ step_ms, failed }) => [Number(step_ms), Number(failed)]).sort((a, b) => a - b));
      if (days === 2)
        expect(await countsOf(world, { fromMs: 0 } as object)).toEqual([
          ['q', 'E1', 4, 0],
          ['q', 'E2', 4, 0],
        ]);
    }

    expect(steps).toEqual([[4, 4, hour, hour], [4, 4, day, day], []]);
  });

  it('are at most a hundred in each sum, and the rarest ones together', async () => {
    const world = await setup();
    const at = await startBefore(world, 20 * minute);
    const rows = (count: number, recorder: number, failed: number) =>
      Array.from({ length: count }, (_, n) =>
        errorsRow({ startsAtMs: at, recorder, error: `${recorder}.${n}`, failed, dead: 1 }),
      );
    await save(world, ...rows(80, 1, 2));
    await foldAll(world);
    await save(world, ...rows(60, 2, 3), errorsRow({ startsAtMs: at, recorder: 2, error: '', failed: 5 }));

    await foldAll(world);

    const sums = await stored(world);
    expect(sums).toHaveLength(MAX_ERRORS + 1);
    // 40 of those with two attempts, and the five.
    expect(Number(sums.find(({ error }) => error === '')!.failed)).toBe(85);
    expect(sums.reduce((sum, { failed }) => sum + Number(failed), 0)).toBe(80 * 2 + 60 * 3 + 5);
  });

  it('are added up once by processes that fold at the same time', async () => {
    const world = await setup();
    const at = await startBefore(world, 20 * minute);
    const rows = Array.from({ length: 120 }, (_, n) =>
      errorsRow({ queue: `q${n % 3}`, error: `E${n % 2}`, startsAtMs: at, recorder: n + 1 }),
    );
    await save(world, ...rows);
    const others = [await world.open(), await world.open()];

    await Promise.all([world, ...others].flatMap((store) => [store.metrics.fold(50), store.metrics.fold(50)]));
    await foldAll(world);

    expect((await stored(world)).map(({ failed }) => Number(failed))).toEqual([20, 20, 20, 20, 20, 20]);
  });
});
