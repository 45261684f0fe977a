import { describeStores, type World } from '../support/stores.js';

const SCAN_BATCH_SIZE = 10_000;

describeStores('the stage cleanup', (setup) => {
  it('continues at its last position, so that it never reads all stages at once', async () => {
    const world = await setup();
    await insertStages(world, SCAN_BATCH_SIZE + 2);
    await remove(world, SCAN_BATCH_SIZE + 1);

    const first = [await world.jobs.cleanUp(10), await countStages(world)];
    const second = [await world.jobs.cleanUp(10), await countStages(world)];
    await remove(world, 1);
    const third = [await world.jobs.cleanUp(10), await countStages(world)];

    expect([first, second, third]).toEqual([
      [0, SCAN_BATCH_SIZE + 2],
      [1, SCAN_BATCH_SIZE + 1],
      [1, SCAN_BATCH_SIZE],
    ]);
  });

  it('returns to rows that it could not delete', async () => {
    const world = await setup();
    await insertStages(world, 5);
    for (const id of [1, 3, 5]) await remove(world, id);

    expect([await world.jobs.cleanUp(2), await world.jobs.cleanUp(2), await world.jobs.cleanUp(2)]).toEqual([2, 1, 0]);
  });
});

/** Inserts jobs 1 to `count`, all in one stage. */
async function insertStages({ sql }: World, count: number): Promise<void> {
  for (let from = 1; from <= count; from += 1_000) {
    const ids = Array.from({ length: Math.min(1_000, count - from + 1) }, (_, n) => from + n);
    await sql(
      `INSERT INTO sql_queue_jobs (id, queue, runnable, payload) VALUES ${ids.map((id) => `(${id}, 'q', 2, '0')`).join()}`,
    );
    await sql(
      `INSERT INTO sql_queue_stages (job_id, queue, stage, priority) VALUES ${ids.map((id) => `(${id}, 'q', 's', 0)`).join()}`,
    );
  }
}

async function remove({ sql }: World, id: number): Promise<void> {
  await sql(`DELETE FROM sql_queue_jobs WHERE id = ${id}`);
}

async function countStages({ sql }: World): Promise<number> {
  const [row] = await sql<{ places: number }>('SELECT COUNT(*) AS places FROM sql_queue_stages');
  return Number(row!.places);
}
