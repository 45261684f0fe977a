import { hasCode } from '../../lib/job/errors.js';
import type { JobEventName } from '../../lib/job/queue-event.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { everyFault } from '../support/every-fault.js';
import {
  claimFrom,
  completionBatchOf,
  LEASE_MS,
  newJob,
  outcomes,
  rescueRules,
  completionOf,
  type Claim,
} from '../support/jobs.js';
import { CHOSEN_FAULTS, openFaultyStore } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';
import { mainly } from '../support/servers.js';

const eventOutbox = { emitsEvents: () => true, onEventsCommitted: () => {} };

describe.each([
  { sent: 'one by one', multipleStatements: false },
  { sent: 'together if possible', multipleStatements: true },
])('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mariadb'), 'a store', (setup) => {
    it.each(CHOSEN_FAULTS)(
      'stores one event for each committed change, and no other, if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...store } = await openFaultyStore(world, { multipleStatements }, { eventOutbox });

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

/** Enqueues, claims, completes, promotes, rescues and retries jobs, each verb until it succeeds. */
async function live({ jobs, admin }: OpenStore, { advance }: World): Promise<void> {
  await jobs.enqueue([newJob(), newJob(), newJob(), newJob()]).catch(unlessUnknown);
  const first = await retryWhileUnavailable(() => claim(jobs, 3));
  const kinds = [outcomes.complete, { ...outcomes.retry, delayMs: 1_000 }, outcomes.dead];
  const settlements = first.jobs.map((job, n) => completionOf(first, job, kinds[n], { retentionMs: 1e12 }));
  const flush = completionBatchOf(settlements, { claims: [{ id: first.id, startLimit: 3, isFinished: true }] });
  await retryWhileUnavailable((again) => jobs.complete({ ...flush, mayHaveCommitted: again }));
  await retryWhileUnavailable(() => claim(jobs, 1));
  advance(LEASE_MS + 1_000);
  await retryWhileUnavailable(() => jobs.promote(100));
  await retryWhileUnavailable(() => jobs.rescue(rescueRules({ decide: () => outcomes.retry })));
  const [dead] = first.jobs.slice(2);
  if (dead) await retryWhileUnavailable(() => admin.retry([dead.id]));
}

async function claim(jobs: OpenStore['jobs'], limit: number): Promise<Claim> {
  return claimFrom(jobs, { limit });
}

/** The state of the jobs according to the events. */
async function recorded({ events }: OpenStore) {
  const all = (await events.readAfter(0, 1_000)).map(({ event }) => event);
  const jobs = (event: JobEventName) =>
    all
      .filter((one) => one.event === event)
      .map(({ jobId }) => jobId)
      .sort(rising);
  const lastOf = new Map(all.map(({ jobId, event, attempt }) => [jobId, { event, attempt }]));
  return {
    there: jobs('enqueued'),
    completed: jobs('completed'),
    // A retry starts again at attempt 0.
    attempts: Array.from(lastOf, ([id, { event, attempt }]) => [id, event === 'retried' ? 0 : attempt]).sort(byId),
  };
}

/** The state of the jobs according to the tables. */
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
