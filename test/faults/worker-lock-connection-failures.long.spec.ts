import { hasCode } from '../../lib/job/errors.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { rescueRules } from '../support/jobs.js';
import { CHOSEN_FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf } from '../support/stores.js';
import { mainly } from '../support/servers.js';

const FREE = 5;
const MISSING = 7;

describe.each(SEND_MODES)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mysql'), 'a store', (setup) => {
    it.each(CHOSEN_FAULTS)(
      'rescues each job of a free lock once, and no job of a held lock, if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { workerLocks, arm, disarm } = await openFaultyStore(world, { multipleStatements });
        const living = await world.workerLocks!.acquire('living');

        const faults = await everyFault(async (failAt) => {
          const [kept, ...lost] = await world.put({}, {}, {});
          for (const lockId of [living.id, FREE, MISSING]) await world.claim({ strategy: 'lock', lockId });
          await world.sql(`INSERT INTO sql_queue_locks (id, worker_id, locked_at) VALUES (${FREE}, 'dead', 0)`);
          arm(fault, failAt);
          const lock = await retryWhileUnavailable(() => workerLocks!.acquire('worker'));
          await lock.ping();
          await retryWhileUnavailable(() => workerLocks!.rescue(rescueRules()));
          await lock.release();
          const statements = disarm();
          // Rescues skip rows that a broken connection still locks, until the server notices the disconnect.
          await eventually(async () => {
            await world.workerLocks!.rescue(rescueRules());
            const held = await world.sql(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`);
            return held.length === 1 && (await world.sql('SELECT id FROM sql_queue_locks')).length === 1;
          });

          const remaining = await world.sql('SELECT id, state, attempt FROM sql_queue_jobs ORDER BY id');
          expect({
            failAt,
            remaining: remaining.map((row) => ({ ...(row as object), id: Number((row as { id: string }).id) })),
          }).toEqual({
            failAt,
            remaining: [
              { id: kept, state: 'active', attempt: 1 },
              ...lost.map((id) => ({ id, state: 'waiting', attempt: 1 })),
            ],
          });
          expect(living.lostSignal.aborted).toBe(false);
          for (const table of ['jobs', 'claims']) await world.sql(`DELETE FROM sql_queue_${table}`);
          return { statements };
        });

        expect(faults).toBeGreaterThan(multipleStatements ? 10 : 20);
        await living.release();
      },
    );
  });
});

async function retryWhileUnavailable<T>(verb: () => Promise<T>, tries = 20): Promise<T> {
  try {
    return await verb();
  } catch (error) {
    if (tries === 0 || !hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    return retryWhileUnavailable(verb, tries - 1);
  }
}
