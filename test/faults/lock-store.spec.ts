import { hasCode } from '../../lib/job/errors.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { rescueRules } from '../support/jobs.js';
import { FAULTS, openFaulty, SENDING } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';

const FREE = 5;
const MISSING = 7;

describe.each(SENDING)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    it.each(FAULTS)(
      'at any statement (%s) of holding a lock and looking for free ones frees each job once, and nobody’s',
      async (fault) => {
        const world = await setup();
        const { locks, arm, disarm } = await openFaulty(world, { multipleStatements });
        const living = await world.locks!.take('living');

        const faults = await everyFault(async (failAt) => {
          const [kept, ...lost] = await world.put({}, {}, {});
          for (const lockId of [living.id, FREE, MISSING]) await world.claim({ strategy: 'lock', lockId });
          await world.sql(`INSERT INTO sql_queue_locks (id, worker_id, locked_at) VALUES (${FREE}, 'dead', 0)`);
          arm(fault, failAt);
          const lock = await stubborn(() => locks!.take('worker'));
          await lock.ping();
          await stubborn(() => locks!.rescue(rescueRules()));
          await lock.release();
          const statements = disarm();
          // What a connection that went away had locked is passed over until the server has noticed.
          await eventually(async () => {
            await world.locks!.rescue(rescueRules());
            const held = await world.sql(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`);
            return held.length === 1 && (await world.sql('SELECT id FROM sql_queue_locks')).length === 1;
          });

          const left = await world.sql('SELECT id, state, attempt FROM sql_queue_jobs ORDER BY id');
          expect({
            failAt,
            left: left.map((row) => ({ ...(row as object), id: Number((row as { id: string }).id) })),
          }).toEqual({
            failAt,
            left: [
              { id: kept, state: 'active', attempt: 1 },
              ...lost.map((id) => ({ id, state: 'waiting', attempt: 1 })),
            ],
          });
          expect(living.gone.aborted).toBe(false);
          for (const table of ['jobs', 'claims']) await world.sql(`DELETE FROM sql_queue_${table}`);
          return { statements };
        });

        expect(faults).toBeGreaterThan(multipleStatements ? 10 : 20);
        await living.release();
      },
      60_000,
    );
  });
});

async function stubborn<T>(verb: () => Promise<T>, tries = 20): Promise<T> {
  try {
    return await verb();
  } catch (error) {
    if (tries === 0 || !hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    return stubborn(verb, tries - 1);
  }
}
