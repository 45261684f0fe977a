import type { BlobStore } from '../../lib/job/codec/blob-options.js';
import { describeEngines } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { blobsFor } from '../support/test-blobs.js';

// The random number of these engines is 0.5.
const FIRST_PRUNED_MS = 30_000;
const PRUNED_EVERY_MS = 60_000;
const BETWEEN_BATCHES_MS = 100;
const BLOB_TIMEOUT_MS = 30_000;

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

  it('goes on if the list of expired blobs never answers', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { store } = await blobsFor(world);
    const never = new Promise<never>(() => undefined);
    async function* expired(): AsyncGenerator<string> {
      yield await never;
    }
    const { log } = await world.start({
      clock,
      blobs: { store: withMethods(store, { expired }) },
      handlers: { q: () => 0 },
    });

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await clock.untilSleeping(BLOB_TIMEOUT_MS);
    await clock.advance(BLOB_TIMEOUT_MS);
    await clock.untilSleeping(PRUNED_EVERY_MS);

    expect(log).toContainEqual(
      expect.stringMatching(/warn: Cannot prune: .*list expired blobs: no answer within 30000 ms/),
    );
  });

  it('deletes the other expired blobs if one cannot be deleted, and says so', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { store, keys } = await blobsFor(world);
    const [locked] = await putExpired(store, 3);
    const broken = withMethods(store, {
      delete: (key, options) => (key === locked ? Promise.reject(new Error('locked')) : store.delete!(key, options)),
    });
    const { log } = await world.start({ clock, blobs: { store: broken }, handlers: { q: () => 0 } });

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await clock.untilSleeping(PRUNED_EVERY_MS);

    expect(await keys()).toEqual([locked]);
    expect(log).toContainEqual(expect.stringMatching(/warn: Cannot prune: .*delete a blob: locked/));
  });

  it('interrupts the deletion of many blobs for its other rows, and goes on later', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { store, keys } = await blobsFor(world);
    await putExpired(store, 3);
    const slow = withMethods(store, {
      delete: async (key, options) => {
        await clock.advance(20_000);
        await store.delete!(key, options);
      },
    });
    await world.start({ clock, blobs: { store: slow }, handlers: { q: () => 0 } });

    await clock.untilSleeping(FIRST_PRUNED_MS);
    await clock.advance(FIRST_PRUNED_MS);
    await clock.untilSleeping(PRUNED_EVERY_MS);
    const left = await keys();
    await clock.advance(PRUNED_EVERY_MS);
    await clock.untilSleeping(PRUNED_EVERY_MS);

    expect(left).toHaveLength(1);
    expect(await keys()).toEqual([]);
  });
});

async function putExpired(store: BlobStore, count: number): Promise<string[]> {
  const blobs = Array.from({ length: count }, (_, n) => `2020-12-31/${String(n).padStart(36, '0')}`);
  const options = { signal: new AbortController().signal, expires: new Date(0) };
  for (const key of blobs) await store.put(key, Buffer.from('x'), options);
  return blobs;
}

function withMethods(store: BlobStore, methods: Partial<BlobStore>): BlobStore {
  return {
    put: (key, body, options) => store.put(key, body, options),
    get: (key, options) => store.get(key, options),
    delete: (key, options) => store.delete!(key, options),
    expired: (before, options) => store.expired!(before, options),
    ...methods,
  };
}
