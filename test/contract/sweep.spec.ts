import { describeStores, type World } from '../support/stores.js';

const WINDOW = 10_000;

describeStores('sweeping the stages', (setup) => {
  it('goes on where it stopped, so that it never reads all that people have in their hands', async () => {
    const world = await setup();
    await stand(world, WINDOW + 2);
    await remove(world, WINDOW + 1);

    const first = [await world.jobs.sweep(10), await places(world)];
    const second = [await world.jobs.sweep(10), await places(world)];
    await remove(world, 1);
    const third = [await world.jobs.sweep(10), await places(world)];

    expect([first, second, third]).toEqual([
      [0, WINDOW + 2],
      [1, WINDOW + 1],
      [1, WINDOW],
    ]);
  });

  it('comes back to what it could not finish', async () => {
    const world = await setup();
    await stand(world, 5);
    for (const id of [1, 3, 5]) await remove(world, id);

    expect([await world.jobs.sweep(2), await world.jobs.sweep(2), await world.jobs.sweep(2)]).toEqual([2, 1, 0]);
  });
});

/** Jobs 1 to `count`, all in one stage. */
async function stand({ sql }: World, count: number): Promise<void> {
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

async function places({ sql }: World): Promise<number> {
  const [row] = await sql<{ places: number }>('SELECT COUNT(*) AS places FROM sql_queue_stages');
  return Number(row!.places);
}
