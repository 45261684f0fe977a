import { readStats } from '../../lib/admin/read-stats.js';
import { systemClock } from '../../lib/common/clock.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { watched } from '../support/watched-reads.js';

const LARGE = 1_000_000;
const SMALL_QUEUES = 20;
const PROCESSES = 20;
const READERS = 4;
const READING_MS = Number(process.env.STATS_READING_MS ?? 15_000);
// Prints the times of samples, which depend on the machine.
const printsTimes = process.env.STATS_TIMES !== undefined;

describeStoresOf(['mysql', 'mariadb'], 'among 1.1 million jobs, a sample of the statistics', (setup, { title }) => {
  it('reads a bounded number of rows, and at most every 5 seconds for 20 processes with 4 readers each', async () => {
    const world = await setup();
    await fill(world);
    await world.sql(
      `UPDATE sql_queue_jobs SET created_at = created_at - 60000 WHERE queue = 'large' ORDER BY id LIMIT 1`,
    );
    const { reads, store } = await watched(world, /FROM/);

    const { queues } = await store.stats.takeSample();

    const large = queues.find(({ queue }) => queue === 'large')!;
    expect(large).toMatchObject({ waiting: { value: 10_000, atLeast: true }, dead: { value: 10_000, atLeast: true } });
    expect(large.oldestWaitingMs).toBeGreaterThanOrEqual(60_000);
    const [{ jobs }] = (await world.sql(`SELECT COUNT(*) AS jobs FROM sql_queue_jobs WHERE queue = 'small-3'`)) as [
      { jobs: string },
    ];
    expect(queues.find(({ queue }) => queue === 'small-3')!.waiting).toEqual({ value: Number(jobs), atLeast: false });
    // With the statistics of the empty table: 10,000 waiting, 10,000 scheduled, 10,000 dead, 10,000 and 1,000 in groups; 5,000 of each small queue.
    expect(reads()).toBeLessThan(400_000);
    const before = reads();
    await world.sql('ANALYZE TABLE sql_queue_jobs, sql_queue_history');
    await store.stats.takeSample();
    expect(reads() - before).toBeLessThan(400_000);

    const samples = await readByMany(world);
    const took = samples.map(({ tookMs }) => tookMs);
    if (printsTimes) process.stderr.write(`\n${title}: ${samples.length} samples, ${took.join(', ')} ms\n`);
    const times = samples.map(({ at }) => at).sort((a, b) => a - b);
    const pauses = times.slice(1).map((at, index) => at - times[index]!);
    expect(pauses.filter((ms) => ms < 5_000)).toEqual([]);
    expect(samples.length).toBeGreaterThanOrEqual(1);
  }, 600_000);
});

async function fill({ sql }: World): Promise<void> {
  const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ');
  const joins = 'abcdef'.split('').map((name) => `(${digits}) AS ${name}`);
  const number = 'a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d';
  const numbers = (size: number) => `(SELECT ${number} AS n FROM ${joins.join(', ')} LIMIT ${size}) AS numbers`;
  const into = 'INSERT INTO sql_queue_jobs (queue, payload, priority, runnable, run_at, group_key)';
  await sql(`${into} SELECT 'large', '{"a":1}', n % 3, 1, NULL, '' FROM ${numbers(LARGE)}`);
  await sql(`${into} SELECT 'large', '{"a":1}', 0, 0, 4000000000000 + n, '' FROM ${numbers(50_000)}`);
  await sql(`${into} SELECT 'grouped', '{"a":1}', 0, 3, NULL, CONCAT('g', n % 1000) FROM ${numbers(50_000)}`);
  await sql(
    `${into} SELECT CONCAT('small-', n % ${SMALL_QUEUES}), '{"a":1}', 0, 1, NULL, '' FROM ${numbers(SMALL_QUEUES * 5_000)}`,
  );
  await sql(`INSERT INTO sql_queue_history
      (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload)
    SELECT n + 10000000, 'large', 'n', 'dead', 0, 1, 0, 0, 4000000000000, '{"a":1}' FROM ${numbers(200_000)}`);
}

/** Many readers ask every quarter of a second. Returns the samples that they took. */
async function readByMany(world: World): Promise<{ at: number; tookMs: number }[]> {
  const samples: { at: number; tookMs: number }[] = [];
  const stores = await Promise.all(
    Array.from({ length: PROCESSES }, async () => world.open({ dataSource: await world.connect() })),
  );
  const endsAt = performance.now() + READING_MS;
  const readOften = async ({ stats }: Pick<World, 'stats'>) => {
    const recorded = {
      read: () => stats.read(),
      takeLease: (after: number) => stats.takeLease(after),
      sample: () => stats.sample(),
      takeSample: async () => {
        const sample = await stats.takeSample();
        samples.push({ at: sample.sampledAtMs, tookMs: sample.tookMs });
        return sample;
      },
    };
    while (performance.now() < endsAt) {
      await readStats({ stats: recorded, clock: systemClock }, {});
      await systemClock.sleep(250);
    }
  };
  await Promise.all(stores.flatMap((store) => Array.from({ length: READERS }, () => readOften(store))));
  return samples;
}
