import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { finalBatchOf, LEASE_MS, outcomes, rescueRules } from '../support/jobs.js';
import { FAULTS, openFaultyStore } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';

const deadLetter = 'dlq';
const dying = rescueRules({ decide: () => outcomes.dead });

describeStoresOf(['mysql', 'mariadb'], 'a store', (setup) => {
  it.each(FAULTS)(
    'stores each dead job with exactly one dead letter if its connection fails at any statement (%s)',
    async (fault) => {
      const world = await setup();
      const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements: true });

      const faults = await everyFault(async (failAt) => {
        for (const table of ['jobs', 'claims', 'history']) await world.sql(`DELETE FROM sql_queue_${table}`);
        const ids = await world.put({}, {}, {});
        const end = finalBatchOf(await world.claim({ limit: 2 }), outcomes.dead, { deadLetter });
        await world.claim({ deadLetter });
        arm(fault, failAt);
        await retryWhileUnavailable((again) => jobs.complete({ ...end, mayHaveCommitted: again }));
        world.advance(LEASE_MS + 1_000);
        await retryWhileUnavailable(() => jobs.rescue(dying));
        const statements = disarm();
        // The server may still hold the locks of a broken connection. Rescues skip those rows.
        await eventually(async () => {
          await world.jobs.rescue(dying);
          return (await world.admin.counts()).active === 0;
        });

        expect({ failAt, ...(await lettersOf(world)) }).toEqual({ failAt, dead: ids, letters: ids });
        return { statements };
      });

      expect(faults).toBeGreaterThan(8);
    },
  );
});

async function lettersOf({ admin }: World) {
  const page = { order: 'oldest', limit: 100 } as const;
  const dead = (await admin.find({ state: 'dead' }, page)).jobs;
  const letters = (await admin.find({ queue: deadLetter }, page)).jobs;
  return {
    dead: dead.map(({ id }) => id),
    letters: letters.map(({ headers }) => Number(headers['dead-letter.id'])).sort((a, b) => a - b),
  };
}
