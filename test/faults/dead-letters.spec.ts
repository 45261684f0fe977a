import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { endOf, LEASE_MS, outcomes, rescueRules } from '../support/jobs.js';
import { FAULTS, openFaulty } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

const deadLetter = 'dlq';
const dying = rescueRules({ decide: () => outcomes.dead });

describeStoresOf(['mysql', 'mariadb'], 'a connection that fails while jobs die', (setup) => {
  it.each(FAULTS)('at any statement (%s) leaves each dead with one dead letter', async (fault) => {
    const world = await setup();
    const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements: true });

    const faults = await everyFault(async (failAt) => {
      for (const table of ['jobs', 'claims', 'history']) await world.sql(`DELETE FROM sql_queue_${table}`);
      const ids = await world.put({}, {}, {});
      const end = endOf(await world.claim({ limit: 2 }), outcomes.dead, { deadLetter });
      await world.claim({ deadLetter });
      arm(fault, failAt);
      await stubborn((again) => jobs.settle({ ...end, again }));
      world.advance(LEASE_MS + 1_000);
      await stubborn(() => jobs.rescue(dying));
      const statements = disarm();
      // The server may not have noticed yet that a connection is gone, whose locks are passed over.
      await eventually(async () => {
        await world.jobs.rescue(dying);
        return (await world.admin.counts()).active === 0;
      });

      expect({ failAt, ...(await lettersOf(world)) }).toEqual({ failAt, dead: ids, letters: ids });
      return { statements };
    });

    expect(faults).toBeGreaterThan(8);
  });
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
