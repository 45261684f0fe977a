import { METRICS_STEPS, type MetricsRow } from '../../lib/store/features/metrics/metrics-store.js';
import { metricsRow } from '../support/metrics.js';
import { describeStores, type World } from '../support/stores.js';

const { minute, hour, day } = METRICS_STEPS;

/** The start of the minute, hour or day this long ago. */
async function startBefore({ metrics }: Pick<World, 'metrics'>, ms: number, step: number): Promise<number> {
  const at = (await metrics.readTime()) - ms;
  return at - (at % step);
}

/** The shortest steps first, each in the order of its times. */
async function readAll({ metrics }: Pick<World, 'metrics'>, queue = 'q'): Promise<MetricsRow[]> {
  const rows = await metrics.read([queue], { fromMs: 0, toMs: null, stepMs: minute });
  return rows.sort((a, b) => a.stepMs - b.stepMs || a.startsAtMs - b.startsAtMs);
}

const summary = ({ stepMs, startsAtMs, recorder, completed, failed, waits }: MetricsRow) => ({
  ...{ stepMs, startsAtMs, recorder, completed, failed },
  waits: waits.counts.reduce((sum, count) => sum + count, 0),
});

async function foldAll({ metrics }: Pick<World, 'metrics'>): Promise<void> {
  while ((await metrics.fold(100)) > 0);
}

describeStores('the metrics', (setup) => {
  it('replace the row of the same process and minute, so that a save may happen twice', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, minute, minute);

    await world.metrics.save([metricsRow({ startsAtMs, completed: 1 })]);
    await world.metrics.save([
      metricsRow({ startsAtMs, completed: 3, waits: [1, 2, 300] }),
      metricsRow({ startsAtMs, completed: 5, recorder: 2 }),
    ]);

    expect((await readAll(world)).map(({ completed }) => completed).sort((a, b) => a - b)).toEqual([3, 5]);
    expect((await readAll(world)).find(({ recorder }) => recorder === 1)!.waits.quantile(1)).toBeGreaterThan(250);
  });

  it('have the rows of one queue that overlap a range, 60 steps long by default', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 2 * hour, day);
    const rows = [0, 1, 2].map((n) => metricsRow({ startsAtMs: startsAtMs + n * minute, completed: n }));
    await world.metrics.save([
      ...rows,
      metricsRow({ startsAtMs, stepMs: hour, recorder: 0, completed: 7 }),
      metricsRow({ queue: 'other', startsAtMs, completed: 9 }),
    ]);
    const completedIn = async (fromMs: number | null, toMs: number | null, stepMs: number) =>
      (await world.metrics.read(['q'], { fromMs, toMs, stepMs }))
        .map(({ completed }) => completed)
        .sort((a, b) => a - b);

    // The hour has begun before the range, and ends in it.
    expect(await completedIn(startsAtMs + minute + 1, startsAtMs + 2 * minute, minute)).toEqual([1, 7]);
    expect(await completedIn(null, startsAtMs + 61 * minute, minute)).toEqual([1, 2, 7]);
    expect(await completedIn(null, startsAtMs, minute)).toEqual([]);
    expect(await completedIn(startsAtMs + 2 * minute, null, hour)).toEqual([0, 1, 2, 7]);
    const both = await world.metrics.read(['other', 'q', 'none'], { fromMs: 0, toMs: null, stepMs: minute });
    expect(both.map(({ queue, completed }) => `${queue} ${completed}`).sort()).toEqual([
      'other 9',
      'q 0',
      'q 1',
      'q 2',
      'q 7',
    ]);
  });

  it('add the processes up after ten minutes', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 12 * minute, minute);
    const recent = await startBefore(world, 8 * minute, minute);
    await world.metrics.save([
      ...[1, 2, 3].map((recorder) => metricsRow({ startsAtMs, recorder, completed: 1, failed: 2, waits: [5, 6] })),
      metricsRow({ startsAtMs: recent }),
    ]);

    await foldAll(world);

    expect((await readAll(world)).map(summary)).toEqual([
      summary(metricsRow({ startsAtMs: recent })),
      { stepMs: minute, startsAtMs, recorder: 0, completed: 3, failed: 6, waits: 6 },
    ]);
  });

  it('become hours after a day, days after 30 days, and are deleted after a year', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 0, day);
    await world.metrics.save([
      metricsRow({ startsAtMs, completed: 1, waits: [1] }),
      metricsRow({ startsAtMs: startsAtMs + minute, completed: 2 }),
      metricsRow({ startsAtMs: startsAtMs + hour, completed: 4 }),
    ]);
    const steps: number[][] = [];

    for (const days of [2, 32, 334]) {
      world.advance(days * day);
      await foldAll(world);
      steps.push((await readAll(world)).flatMap(({ stepMs, completed }) => [stepMs, completed]));
    }

    expect(steps).toEqual([[hour, 3, hour, 4], [day, 7], []]);
  });

  it('are added up once by processes that fold at the same time', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 20 * minute, minute);
    const rows = Array.from({ length: 120 }, (_, index) =>
      metricsRow({ queue: `q${index % 3}`, startsAtMs, recorder: index + 1, completed: 1, runs: [100] }),
    );
    await world.metrics.save(rows);
    const others = [await world.open(), await world.open()];

    await Promise.all([world, ...others].flatMap((store) => [store.metrics.fold(50), store.metrics.fold(50)]));
    await foldAll(world);

    for (const queue of ['q0', 'q1', 'q2']) {
      const [row, ...more] = await readAll(world, queue);
      expect(more).toEqual([]);
      expect([row!.completed, row!.runs.quantile(0.5)! > 80]).toEqual([40, true]);
    }
  });

  it('count each attempt once while another process adds them up', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 20 * minute, minute);
    const rows = Array.from({ length: 200 }, (_, index) =>
      metricsRow({ startsAtMs, recorder: index + 1, completed: 1 }),
    );
    await world.metrics.save(rows);
    const other = await world.open();
    const sums = new Set<number>();
    const folded = new AbortController();
    const foldOneByOne = async () => {
      while ((await other.metrics.fold(1)) > 0);
    };
    const folding = foldOneByOne().finally(() => folded.abort());
    do {
      sums.add((await readAll(world)).reduce((sum, { completed }) => sum + completed, 0));
    } while (!folded.signal.aborted);
    await folding;

    expect(sums).toEqual(new Set([200]));
  });

  it('add late rows to those that were added up before', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 20 * minute, minute);
    await world.metrics.save([metricsRow({ startsAtMs, completed: 1 })]);
    await foldAll(world);

    await world.metrics.save([metricsRow({ startsAtMs, recorder: 2, completed: 1 })]);
    await foldAll(world);

    expect((await readAll(world)).map(({ completed }) => completed)).toEqual([2]);
  });

  it('survive a row that another program wrote badly', async () => {
    const world = await setup();
    const startsAtMs = await startBefore(world, 20 * minute, minute);
    await world.metrics.save([1, 2].map((recorder) => metricsRow({ startsAtMs, recorder, completed: 1, waits: [9] })));
    await world.sql(`UPDATE sql_queue_metrics SET waits = '{"a":' WHERE recorder = 1`);
    await world.sql(`UPDATE sql_queue_metrics SET waits = '[1,-5,"x"]' WHERE recorder = 2`);
    const [malformed] = await readAll(world);

    await foldAll(world);

    expect(malformed!.waits.counts).toEqual([]);
    expect((await readAll(world)).map(summary)).toMatchObject([{ completed: 2, waits: 0 }]);
  });
});
