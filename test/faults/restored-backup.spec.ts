import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { backUp, restore } from '../support/backup.js';
import { describeEngines, gate, openWorld, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freshDatabase } from '../support/servers.js';

/** Opens another, empty database that has the rows of the file. */
async function restoredWorld(world: World, file: string): Promise<World> {
  const database = await freshDatabase(world.server);
  world.afterTest(() => database.drop());
  await restore(world.server, database.connection, file);
  const restored = await openWorld(world.server, database.connection);
  world.afterTest(restored.close);
  return restored.world;
}

describeEngines('a backup that was taken while workers ran jobs', (setup, server) => {
  // Skipped on a machine without the client of the server.
  const itWithClient = server.name !== 'sqlite' && server.client === undefined ? it.skip : it;

  itWithClient('has each job, and its restored jobs run once, with new ids for new jobs', async () => {
    const world = await setup();
    const folder = await mkdtemp(join(tmpdir(), 'sql-queue-backup-'));
    world.afterTest(() => rm(folder, { recursive: true }));
    const ends = gate();
    const original = await world.start({
      queues: { '*': { lease: '5s', prefetch: 0 } },
      handlers: { quick: () => {}, slow: () => ends.opened },
    });
    await original.producer.enqueueMany('quick', plainJobs(20));
    await original.events.untilCount(20, 'completed');
    const running = await original.producer.enqueueMany('slow', plainJobs(5));
    const delayed = await original.producer.enqueue('later', 0, { delay: '1h' });
    const keyed = await original.producer.enqueue('later', 0, { key: 'k', delay: '1h' });
    await eventually(async () => (await original.admin.counts('slow')).active === 5);

    await backUp(world, join(folder, 'backup'));
    ends.open();
    const lost = await original.producer.enqueueMany('quick', plainJobs(30));
    await original.events.untilCount(55, 'completed');
    await original.close();

    const restored = await restoredWorld(world, join(folder, 'backup'));
    const attempts = new Map<number, number>();
    const { admin, producer, events } = await restored.start({
      handlers: { quick: () => {}, slow: (job: JobContext) => void attempts.set(job.id, job.attempt) },
    });
    expect(await admin.counts('quick')).toMatchObject({ completed: 20, waiting: 0 });
    restored.advance(6_000);
    await events.untilCount(5, 'completed', { queue: 'slow' });
    const again = await producer.enqueue('quick', 1);
    await events.until('completed', { jobId: again.id });
    const held = await producer.enqueue('later', 0, { key: 'k' });

    // Their first attempts had begun before the backup.
    expect(attempts).toEqual(new Map(running.map(({ id }) => [id, 2])));
    expect((await admin.get(delayed.id))?.state).toBe('scheduled');
    expect(held).toMatchObject({ id: keyed.id, outcome: 'existing' });
    expect(again.id).toBeGreaterThan(keyed.id);
    // The database has forgotten these jobs, and their ids are free.
    expect(await admin.get(lost.at(-1)!.id)).toBeNull();
  });
});
