import { describeEngines } from '../support/engines.js';
import { ProgramProcess } from '../support/programs.js';
import { blobsFor } from '../support/test-blobs.js';

const FOUR_MONTHS_MS = 120 * 86_400_000;

describeEngines('a producer that is killed', (setup) => {
  it.each(['during put', 'after put'])('%s leaves no job, and at most a blob that expires', async (killAt) => {
    const world = await setup();
    const files = await blobsFor(world);
    const blobs = { store: files.store, over: 100 };
    const { producer, admin, events } = await world.start({ blobs, handlers: { q: (job) => job.payload } });

    const program = await ProgramProcess.start('blob-producer', {
      connection: world.connection,
      folder: files.folder,
      killAt,
    });
    world.afterTest(() => program.kill());
    await program.ended;
    const orphans = await files.keys();

    expect(orphans.length).toBeLessThanOrEqual(1);
    if (killAt === 'after put') expect(await files.texts()).toEqual([JSON.stringify('x'.repeat(1_000_000))]);
    expect(Object.values(await admin.counts()).reduce((sum, count) => sum + count)).toBe(0);
    const { id } = await producer.enqueue('q', 'y'.repeat(200));
    expect(await events.until('completed', { jobId: id })).toMatchObject({ result: 'y'.repeat(200) });
    const expired = await files.expiredAt(new Date(Date.now() + FOUR_MONTHS_MS));
    expect(expired.sort()).toEqual((await files.keys()).filter((key) => !key.endsWith('.partial')));
  });
});
