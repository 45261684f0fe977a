import { setTimeout } from 'node:timers/promises';
import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';

// A process saves its metrics this often, or at the end of a minute, and may be late by the time of the statement.
const SAVED_WITHIN_MS = 12_000;

async function count({ sql }: World, statement: string): Promise<number> {
  const [row] = await sql<{ n: number | null }>(statement);
  return Number(row!.n ?? 0);
}

/** A server may still execute a commit that the killed process has sent. */
async function untilHistoryRests(world: World): Promise<void> {
  const history = 'SELECT COUNT(*) AS n FROM sql_queue_history';
  await eventually(async () => {
    const before = await count(world, history);
    await setTimeout(200);
    return before === (await count(world, history));
  });
}

describeEngines('the metrics of a process that is killed', (setup) => {
  it('have all attempts but those of its last ten seconds, and no job is lost', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const queue = { concurrency: 2, lease: '2s', retention: { completed: '1h' } } as const;
    const { producer, admin } = await world.start({ autoStart: false });
    const dying = await processes.worker({ queue });
    const total = 400;
    await producer.enqueueMany(
      'q',
      Array.from({ length: total }, () => ({ payload: { sleep: 80 } })),
    );

    await eventually(async () => (await count(world, 'SELECT SUM(completed) AS n FROM sql_queue_metrics')) > 0);
    await dying.kill();
    processes.recordDeath(dying);
    await untilHistoryRests(world);
    const killedAt = await world.now();
    const saved = await count(world, 'SELECT SUM(completed) AS n FROM sql_queue_metrics');
    const older = await count(
      world,
      `SELECT COUNT(*) AS n FROM sql_queue_history WHERE finished_at < ${killedAt - SAVED_WITHIN_MS}`,
    );
    const completed = await count(world, 'SELECT COUNT(*) AS n FROM sql_queue_history');
    const heir = await processes.worker({ queue: { ...queue, concurrency: 100 } });
    await eventually(async () => (await admin.counts('q')).completed === total);
    await heir.stop();

    expect(saved).toBeGreaterThanOrEqual(older);
    expect(saved).toBeLessThanOrEqual(completed);
    // The other worker saved the rest when it stopped. Jobs that the first one was running count once.
    const all = await count(world, 'SELECT SUM(completed) AS n FROM sql_queue_metrics');
    expect(all).toBe(saved + total - completed);
    expect(await processes.violations()).toEqual([]);
  });
});
