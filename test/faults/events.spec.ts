import { hasCode } from '../../lib/job/errors.js';
import type { ChangeName } from '../../lib/job/queue-event.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { everyFault } from '../support/every-fault.js';
import { claimOf, flushOf, LEASE_MS, newJob, outcomes, rescueRules, settled, type Claim } from '../support/jobs.js';
import { FAULTS, openFaulty } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

const recorder = { isRecorded: () => true, onRecorded: () => {} };

describe.each([
  { sent: 'one by one', multipleStatements: false },
  { sent: 'as one text where they can', multipleStatements: true },
])('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    it.each(FAULTS)(
      'at any statement (%s) leaves an event for each change that was done, and for no other',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...store } = await openFaulty(world, { multipleStatements }, { recorder });

        const faults = await everyFault(async (failAt) => {
          for (const table of ['jobs', 'claims', 'history', 'events'])
            await world.sql(`DELETE FROM sql_queue_${table}`);
          arm(fault, failAt);
          await live(store, world);
          const statements = disarm();

          expect({ failAt, ...(await recorded(store)) }).toEqual({ failAt, ...(await done(world)) });
          return { statements };
        });

        expect(faults).toBeGreaterThan(15);
      },
    );
  });
});

/** Puts jobs in, claims, settles, promotes, rescues and steers them, each until it is known to be done. */
async function live({ jobs, admin }: OpenStore, { advance }: World): Promise<void> {
  await jobs.enqueue([newJob(), newJob(), newJob(), newJob()]).catch(unlessUnknown);
  const first = await stubborn(() => claim(jobs, 3));
  const kinds = [outcomes.complete, { ...outcomes.retry, delayMs: 1_000 }, outcomes.dead];
  const settlements = first.jobs.map((job, n) => settled(first, job, kinds[n], { keepMs: 1e12 }));
  const flush = flushOf(settlements, { claims: [{ id: first.id, started: 3, finished: true }] });
  await stubborn((again) => jobs.settle({ ...flush, again }));
  await stubborn(() => claim(jobs, 1));
  advance(LEASE_MS + 1_000);
  await stubborn(() => jobs.promote(100));
  await stubborn(() => jobs.rescue(rescueRules({ decide: () => outcomes.retry })));
  const [dead] = first.jobs.slice(2);
  if (dead) await stubborn(() => admin.retry([dead.id]));
}

async function claim(jobs: OpenStore['jobs'], limit: number): Promise<Claim> {
  const request = claimOf({ limit });
  return { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
}

/** What the events say of the jobs. */
async function recorded({ events }: OpenStore) {
  const all = await events.after(0, 1_000);
  const jobs = (event: ChangeName) =>
    all
      .filter((one) => one.event === event)
      .map(({ jobId }) => jobId)
      .sort(rising);
  const lastOf = new Map(all.map(({ jobId, event, attempt }) => [jobId, { event, attempt }]));
  return {
    there: jobs('enqueued'),
    completed: jobs('completed'),
    // A retry begins with all attempts anew.
    attempts: Array.from(lastOf, ([id, { event, attempt }]) => [id, event === 'retried' ? 0 : attempt]).sort(byId),
  };
}

/** The same as the tables have it. */
async function done({ sql }: World) {
  type Row = { id: number; state: string; attempt: number };
  const rows = (await sql(`
    SELECT id, state, attempt FROM sql_queue_jobs UNION ALL SELECT id, state, attempt FROM sql_queue_history
  `)) as Row[];
  const jobs = rows.map(({ id, ...row }) => ({ ...row, id: Number(id) }));
  return {
    there: jobs.map(({ id }) => id).sort(rising),
    completed: jobs
      .filter(({ state }) => state === 'completed')
      .map(({ id }) => id)
      .sort(rising),
    attempts: jobs.map(({ id, attempt }) => [id, attempt]).sort(byId),
  };
}

function rising(one: number, other: number): number {
  return one - other;
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return (one as number) - (other as number);
}

function unlessUnknown(error: unknown): void {
  if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
}
