import { hasCode } from '../../lib/job/errors.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import type { KeyedCallResult } from '../../lib/store/features/keys/key-store.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines } from '../support/engines.js';
import { everyFault } from '../support/every-fault.js';
import { eventually } from '../support/eventually.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';
import { CHOSEN_FAULTS, FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { commitsJobs, interfereOnce } from '../support/wire-proxy.js';
import { mainly } from '../support/servers.js';

const LOCKS_COMMIT_LOG = /FROM sql_queue_commit_log.*FOR UPDATE/s;
const KEY = { key: 'k', onConflict: 'coalesce' } as const;

describeEngines(
  'a producer with a broken connection at the commit of a job with a key',
  (setup) => {
    it('does not enqueue the job again if it has started and ended meanwhile', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const worker = await world.start({ handlers: { q: () => undefined } });
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'unanswered', commitsJobs, ({ sql }) =>
        LOCKS_COMMIT_LOG.test(sql) ? 'held' : 'pass',
      );

      const enqueued = producer.enqueue('q', 'one', { key: 'k', keyUntil: 'started' });
      await interfered;
      await worker.events.until('completed');
      await eventually(async () => (await proxy.deliverHeld()) > 0);
      const { id, outcome } = await enqueued;
      await worker.runner.whenIdle();

      expect([id, outcome]).toEqual([worker.events.jobs('completed')[0], 'created']);
      expect(worker.events.of('completed')).toHaveLength(1);
    });

    it('enqueues the job again if the COMMIT never reached the server', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { interfered } = interfereOnce(proxy, 'cut', commitsJobs);

      const enqueued = producer.enqueue('q', 'one', KEY);
      await interfered;
      const { id, outcome } = await enqueued;

      expect(outcome).toBe('created');
      expect(await world.sql('SELECT id FROM sql_queue_jobs')).toMatchObject([{ id: expect.anything() }]);
      expect(await producer.enqueue('q', 'two', KEY)).toMatchObject({ id, outcome: 'existing' });
    });
  },
  mainly('mariadb'),
);

describe.each(SEND_MODES)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mariadb'), 'a store', (setup) => {
    const scenarios = ['no job', 'a waiting job', 'a waiting job, to be replaced', 'a finished job'] as const;

    it.each(FAULTS.flatMap((fault) => scenarios.map((owner) => [fault, owner] as const)))(
      'leaves one job for a key and reports the outcome if its connection fails anywhere (%s; key owner: %s)',
      async (fault, owner) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });
        const onConflict = owner.endsWith('replaced') ? 'replace' : 'coalesce';

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          if (owner === 'no job') await world.sql('DELETE FROM sql_queue_keys');
          else await world.jobs.enqueueKeyed([[keyedJob(KEY, { payload: '"old"' })]]);
          if (owner === 'a finished job') await world.jobs.complete(finalBatchOf(await world.claim()));
          const before = await payloads(world);
          arm(fault, failAt);
          const answer = await enqueueWhileUnavailable(jobs, [keyedJob({ ...KEY, onConflict }, { payload: '"new"' })]);
          const statements = disarm();
          const rows = await payloads(world);

          if (hasCode(answer, 'STORE_UNAVAILABLE')) {
            expect({ failAt, answer }).toMatchObject({ failAt, answer: { outcome: 'not-done' } });
            expect({ failAt, rows }).toEqual({ failAt, rows: before });
          } else {
            const outcome = before.length === 0 ? 'created' : onConflict === 'replace' ? 'replaced' : 'existing';
            const payload = outcome === 'existing' ? '"old"' : '"new"';
            expect({ failAt, answer }).toMatchObject({ failAt, answer: [{ outcome }] });
            const [{ id }] = answer as unknown as [{ id: number }];
            expect({ failAt, rows }).toEqual({ failAt, rows: [{ id, payload }] });
          }
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 2 : 4);
      },
    );

    it.each(CHOSEN_FAULTS)(
      'leaves one job for a key if its connection fails at any statement (%s) of retrying and pruning',
      async (fault) => {
        const world = await setup();
        const { jobs, admin, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          await world.sql('DELETE FROM sql_queue_keys');
          const dead = [await deadJob(world), await deadJob(world)];
          world.advance(3_700_000);
          arm(fault, failAt);
          await retryWhileUnavailable(() => jobs.pruneKeys(10));
          await retryWhileUnavailable(() => admin.retry(dead));
          await retryWhileUnavailable(() => jobs.pruneKeys(10));
          const statements = disarm();
          const [joined] = (await enqueueWhileUnavailable(world.jobs, [keyedJob(KEY)])) as unknown as [{ id: number }];

          expect({ failAt, alive: (await payloads(world)).map(({ id }) => id) }).toEqual({ failAt, alive: [dead[0]] });
          expect({ failAt, joined: joined.id }).toEqual({ failAt, joined: dead[0] });
          return { statements };
        });

        expect(faults).toBeGreaterThan(8);
      },
    );
  });
});

async function deadJob(world: World): Promise<number> {
  const [[placed]] = (await world.jobs.enqueueKeyed([[keyedJob(KEY)]])) as unknown as [[{ id: number }]];
  await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.dead, { retentionMs: 9e9 }));
  return placed.id;
}

/**
 * Like a producer: retries while a broken connection still locks the key. Returns the error if the database is away.
 */
async function enqueueWhileUnavailable(
  jobs: JobStore,
  call: Parameters<JobStore['enqueueKeyed']>[0][0],
): Promise<KeyedCallResult> {
  return eventually(async () => {
    const [answer] = await jobs.enqueueKeyed([call]).catch((error: unknown) => [error as never]);
    return answer === 'locked' ? undefined : answer;
  });
}

async function payloads({ sql }: World): Promise<{ id: number; payload: string }[]> {
  const rows = await sql<{ id: string; payload: string }>('SELECT id, payload FROM sql_queue_jobs ORDER BY id');
  return rows.map(({ id, payload }) => ({ id: Number(id), payload }));
}

async function empty({ sql }: World): Promise<void> {
  for (const table of ['jobs', 'claims', 'history']) await sql(`DELETE FROM sql_queue_${table}`);
}
