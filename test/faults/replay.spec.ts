import { everyFault } from '../support/every-fault.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { FAULTS, openFaultyStore } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';

describeStoresOf(['mysql', 'mariadb'], 'a replay of dead jobs', (setup) => {
  it.each(FAULTS)(
    'moves each job to its target queue once if the connection fails at any statement (%s)',
    async (fault) => {
      const world = await setup();
      const { admin, arm, disarm } = await openFaultyStore(world, { multipleStatements: true });

      const faults = await everyFault(async (failAt) => {
        for (const table of ['jobs', 'claims', 'history']) await world.sql(`DELETE FROM sql_queue_${table}`);
        const ids = await world.put({}, {}, {});
        await world.jobs.complete(finalBatchOf(await world.claim({ limit: 3 }), outcomes.dead));
        arm(fault, failAt);
        await retryWhileUnavailable(() =>
          admin.replay(ids, { to: 'again', firstMs: 0, intervalMs: 1_000, completed: false }),
        );
        const statements = disarm();

        const found = (await world.admin.find({}, { order: 'oldest', limit: 9 })).jobs;
        expect({ failAt, found: found.map(({ id, queue, state }) => [id, queue, state]) }).toEqual({
          failAt,
          found: ids.map((id, n) => [id, 'again', n === 0 ? 'waiting' : 'scheduled']),
        });
        return { statements };
      });

      expect(faults).toBeGreaterThanOrEqual(4);
    },
  );
});
