import { everyFault } from '../support/every-fault.js';
import { endOf, outcomes } from '../support/jobs.js';
import { FAULTS, openFaulty } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

describeStoresOf(['mysql', 'mariadb'], 'a connection that fails while dead jobs are replayed', (setup) => {
  it.each(FAULTS)('at any statement (%s) leaves each where it is to go, once', async (fault) => {
    const world = await setup();
    const { admin, arm, disarm } = await openFaulty(world, { multipleStatements: true });

    const faults = await everyFault(async (failAt) => {
      for (const table of ['jobs', 'claims', 'history']) await world.sql(`DELETE FROM sql_queue_${table}`);
      const ids = await world.put({}, {}, {});
      await world.jobs.settle(endOf(await world.claim({ limit: 3 }), outcomes.dead));
      arm(fault, failAt);
      await stubborn(() => admin.replay(ids, { to: 'again', firstMs: 0, everyMs: 1_000 }));
      const statements = disarm();

      const found = (await world.admin.find({}, { order: 'oldest', limit: 9 })).jobs;
      expect({ failAt, found: found.map(({ id, queue, state }) => [id, queue, state]) }).toEqual({
        failAt,
        found: ids.map((id, n) => [id, 'again', n === 0 ? 'waiting' : 'scheduled']),
      });
      return { statements };
    });

    expect(faults).toBeGreaterThanOrEqual(4);
  });
});
