import { archivedTo } from '../support/archives.js';
import { everyFault } from '../support/every-fault.js';
import { endOf, outcomes } from '../support/jobs.js';
import { FAULTS, openFaulty } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

describeStoresOf(['mysql', 'mariadb'], 'a connection that fails while jobs move to an archive', (setup) => {
  it.each(FAULTS)('at any statement (%s) leaves each in one place', async (fault) => {
    const world = await setup();
    const settings = { archives: archivedTo('kept_jobs') };
    const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements: true }, settings);

    const faults = await everyFault(async (failAt) => {
      for (const table of ['sql_queue_history', 'kept_jobs']) await world.sql(`DELETE FROM ${table}`);
      await world.put({}, {}, {});
      await world.jobs.settle(endOf(await world.claim({ limit: 3 }), outcomes.dead, { keepMs: 0 }));
      world.advance(1);
      arm(fault, failAt);
      await stubborn(() => jobs.prune(2));
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
