import { DatabaseClock } from '../../lib/common/clock.js';
import { MetricsRecorder } from '../../lib/instrumentation/metrics-recorder.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { ERROR } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const SAVE_INTERVAL_MS = 10_000;
const STANDSTILL_MS = 12 * 60_000;

/** The clock of a machine that can sleep: then only its wall clock goes on. */
class SleepingClock extends FakeClock {
  sleptMs = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.sleptMs);
  }
}

describeStores('the metrics of a process', (setup) => {
  it.each(['the process stood still', 'the machine slept'])('count each attempt once after %s', async (cause) => {
    const world = await setup();
    const { clock, recorder, fail, saves } = await open(world);
    fail(10);
    saves.before = () => fail(2);
    await clock.advance(SAVE_INTERVAL_MS);
    await saves.until(1);
    saves.before = () => undefined;

    await standStill(world);
    clock.sleptMs = cause === 'the machine slept' ? STANDSTILL_MS : 0;
    await clock.advance(STANDSTILL_MS - clock.sleptMs + SAVE_INTERVAL_MS);
    await saves.until(2, 0);
    fail(1);
    await recorder.stop();

    expect(await foldedCounts(world)).toEqual([13, 13]);
  });

  it('include the attempts that end while a save is under way and the process stops', async () => {
    const world = await setup();
    const { clock, recorder, fail, saves } = await open(world);
    fail(1);
    let stopped: Promise<void> | undefined;
    saves.before = () => {
      saves.before = () => undefined;
      fail(2);
      stopped = recorder.stop();
    };
    await clock.advance(SAVE_INTERVAL_MS);
    await eventually(() => stopped !== undefined);
    await stopped;

    expect(await foldedCounts(world)).toEqual([3, 3]);
  });

  it('count each attempt once after the database was away for this process alone', async () => {
    const world = await setup();
    const { clock, recorder, fail, saves } = await open(world);
    fail(10);
    saves.before = () => fail(2);
    await clock.advance(SAVE_INTERVAL_MS);
    await saves.until(1);
    saves.before = () => {
      throw new Error('away');
    };

    await standStill(world);
    for (let ms = 0; ms < STANDSTILL_MS; ms += 60_000) {
      fail(1);
      await clock.advance(60_000);
    }
    saves.before = () => undefined;
    await recorder.stop();

    expect(await foldedCounts(world)).toEqual([24, 24]);
  });
});

async function open(world: World) {
  const clock = new SleepingClock();
  const databaseClock = new DatabaseClock(clock);
  databaseClock.learn(await world.metrics.readTime(), clock.monotonic());
  let count = 0;
  const saves = {
    before: () => undefined as void,
    /** Until that many saves have ended, and this number of others is planned. */
    until: (wanted: number, planned = 1) => eventually(() => count === wanted && clock.sleeperCount === planned),
  };
  const store = {
    ...world.metrics,
    async save(...rows: Parameters<World['metrics']['save']>) {
      saves.before();
      await world.metrics.save(...rows);
      count++;
    },
    // Another process adds the rows up.
    fold: () => Promise.resolve(0),
  };
  const logger = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
  const recorder = new MetricsRecorder({ store, clock, databaseClock, logger });
  const attempt = { jobId: 1, queue: 'q', name: 'default', attempt: 1, outcome: 'failed', error: ERROR } as const;
  const fail = (times: number) => {
    for (let n = 0; n < times; n++) recorder.ended({ ...attempt, waitMs: 1, ranMs: 1 });
  };
  return { clock, recorder, fail, saves };
}

/** Another process adds up what was saved. */
async function standStill(world: World): Promise<void> {
  world.advance(STANDSTILL_MS);
  while ((await world.metrics.fold(100)) > 0);
}

async function foldedCounts(world: World): Promise<number[]> {
  await standStill(world);
  const sums = ['metrics', 'errors'].map((table) => `(SELECT SUM(failed) FROM sql_queue_${table}) AS in_${table}`);
  const [row] = await world.sql<Record<string, number>>(`SELECT ${sums.join(', ')}`);
  return Object.values(row!).map(Number);
}
