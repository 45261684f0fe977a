import { describeEngines } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { blobsFor } from '../support/test-blobs.js';

// The random number of these engines is 0.5.
const FIRST_PRUNED_MS = 30_000;
const PRUNED_EVERY_MS = 60_000;
const BETWEEN_BATCHES_MS = 100;

const HISTORY = `INSERT INTO sql_queue_history
  (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload) VALUES `;

describeEngines('a worker', (setup) => {
  it('deletes expired rows batch after batch, even if other rows cannot be deleted', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { log } = await world.start({ clock, handlers: { q: () => undefined } });
    await world.sql('DROP TABLE sql_queue_waits');
    const rows = Array.from({ length: 1_100 }, (_, id) => `(${id + 1}, 'q', 'n', 'dead', 0, 1, 1, 1, 1, '')`);
    await world.sql(`${HISTORY}${rows.join()}`);

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    for (let batches = 0; batches < 2; batches++) {
      await clock.untilSleeping(BETWEEN_BATCHES_MS);
      await clock.advance(BETWEEN_BATCHES_MS);
    }
    await clock.untilSleeping(PRUNED_EVERY_MS);

    expect(await world.sql('SELECT id FROM sql_queue_history')).toEqual([]);
    expect(log.filter((line) => line.startsWith('warn: Cannot prune'))).toHaveLength(1);
  });

  it('deletes blobs that have expired by the clock of the database', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { store, keys } = await blobsFor(world);
    const never = { signal: new AbortController().signal };
    const [past, future] = ['2020-12-31/0', '2099-01-02/0'].map((day) => day + '0'.repeat(35)) as [string, string];
    for (const key of [past, future]) await store.put(key, Buffer.from('x'), { ...never, expires: clock.now() });
    await world.start({ clock, blobs: { store }, handlers: { q: () => undefined } });

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await clock.untilSleeping(PRUNED_EVERY_MS);

    expect(await keys()).toEqual([future]);
  });
});
