import { hasCode } from '../../lib/job/errors.js';
import type { JobStore } from '../../lib/store/job-store.js';
import type { KeyedAnswer } from '../../lib/store/key-store.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines } from '../support/engines.js';
import { everyFault } from '../support/every-fault.js';
import { eventually } from '../support/eventually.js';
import { endOf, outcomes } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { stubborn } from '../support/stubborn.js';
import { FAULTS, openFaulty, SENDING } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { commitsJobs, strikeOnce } from '../support/wire-proxy.js';

const LOOKS = /FROM sql_queue_producers.*FOR UPDATE/s;
const KEY = { key: 'k', onConflict: 'coalesce' } as const;

describeEngines(
  'a producer whose connection breaks while it commits a job with a key',
  (setup) => {
    it('does not put it in again where it has begun and ended meanwhile', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const worker = await world.start({ handlers: { q: () => undefined } });
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs, ({ sql }) => (LOOKS.test(sql) ? 'held' : 'pass'));

      const enqueued = producer.enqueue('q', 'one', { key: 'k', keyUntil: 'started' });
      await struck;
      await worker.events.until('completed');
      await eventually(async () => (await proxy.deliver()) > 0);
      const { id, outcome } = await enqueued;
      await worker.runner.whenIdle();

      expect([id, outcome]).toEqual([worker.events.jobs('completed')[0], 'created']);
      expect(worker.events.of('completed')).toHaveLength(1);
    });

    it('puts it in where the COMMIT was lost on its way', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'cut', commitsJobs);

      const enqueued = producer.enqueue('q', 'one', KEY);
      await struck;
      const { id, outcome } = await enqueued;

      expect(outcome).toBe('created');
      expect(await world.sql('SELECT id FROM sql_queue_jobs')).toMatchObject([{ id: expect.anything() }]);
      expect(await producer.enqueue('q', 'two', KEY)).toMatchObject({ id, outcome: 'existing' });
    });
  },
  ['mysql', 'mariadb'],
);

describe.each(SENDING)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    const scenarios = ['nobody', 'a waiting job', 'a waiting job, to be replaced', 'a finished job'] as const;

    it.each(FAULTS.flatMap((fault) => scenarios.map((holder) => [fault, holder] as const)))(
      'at any statement (%s) of putting in a job whose key %s holds leaves one alive, and says which',
      async (fault, holder) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });
        const onConflict = holder.endsWith('replaced') ? 'replace' : 'coalesce';

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          if (holder === 'nobody') await world.sql('DELETE FROM sql_queue_keys');
          else await world.jobs.enqueueKeyed([[keyed(KEY, { payload: '"old"' })]]);
          if (holder === 'a finished job') await world.jobs.settle(endOf(await world.claim()));
          const before = await payloads(world);
          arm(fault, failAt);
          const answer = await putStubbornly(jobs, [keyed({ ...KEY, onConflict }, { payload: '"new"' })]);
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

    it.each(FAULTS)('at any statement (%s) of retrying and forgetting keys leaves one alive', async (fault) => {
      const world = await setup();
      const { jobs, admin, arm, disarm } = await openFaulty(world, { multipleStatements });

      const faults = await everyFault(async (failAt) => {
        await empty(world);
        await world.sql('DELETE FROM sql_queue_keys');
        const dead = [await deadJob(world), await deadJob(world)];
        world.advance(3_700_000);
        arm(fault, failAt);
        await stubborn(() => jobs.pruneKeys(10));
        await stubborn(() => admin.retry(dead));
        await stubborn(() => jobs.pruneKeys(10));
        const statements = disarm();
        const [joined] = (await putStubbornly(world.jobs, [keyed(KEY)])) as unknown as [{ id: number }];

        expect({ failAt, alive: (await payloads(world)).map(({ id }) => id) }).toEqual({ failAt, alive: [dead[0]] });
        expect({ failAt, joined: joined.id }).toEqual({ failAt, joined: dead[0] });
        return { statements };
      });

      expect(faults).toBeGreaterThan(8);
    });
  });
});

async function deadJob(world: World): Promise<number> {
  const [[placed]] = (await world.jobs.enqueueKeyed([[keyed(KEY)]])) as unknown as [[{ id: number }]];
  await world.jobs.settle(endOf(await world.claim(), outcomes.dead, { keepMs: 9e9 }));
  return placed.id;
}

/** What a producer does with a key that a broken connection still has locked, or a database that is away. */
async function putStubbornly(jobs: JobStore, call: Parameters<JobStore['enqueueKeyed']>[0][0]): Promise<KeyedAnswer> {
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
