import { archivedTo } from '../support/archives.js';
import { everyFault } from '../support/every-fault.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { FAULTS, openFaultyStore } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';

describeStoresOf(['mysql', 'mariadb'], 'a move to an archive', (setup) => {
  it.each(FAULTS)('leaves each job in one place if the connection fails at any statement (%s)', async (fault) => {
    const world = await setup();
    const settings = { archives: archivedTo('kept_jobs') };
    const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements: true }, settings);

    const faults = await everyFault(async (failAt) => {
      for (const table of ['sql_queue_history', 'kept_jobs']) await world.sql(`DELETE FROM ${table}`);
      await world.put({}, {}, {});
      await world.jobs.complete(finalBatchOf(await world.claim({ limit: 3 }), outcomes.dead, { retentionMs: 0 }));
      world.advance(1);
      arm(fault, failAt);
      await retryWhileUnavailable(() => jobs.prune(2));
      const statements = disarm();

      const places = await world.sql<{ id: string }>(
        'SELECT id FROM sql_queue_history UNION ALL SELECT id FROM kept_jobs',
      );
      expect({ failAt, places: new Set(places.map(({ id }) => id)).size, rows: places.length }).toEqual({
        failAt,
        places: 3,
        rows: 3,
      });
      return { statements };
    });

    expect(faults).toBeGreaterThanOrEqual(5);
  });
});
