import { claimRequest, idsOf, LEASE_MS, rescueRules } from '../support/jobs.js';
import { interceptingDriver, statementsOf } from '../support/intercepting-driver.js';
import { openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';

const LISTS = /^\s*UPDATE sql_queue_claims/;
const MARKS = /^\s*UPDATE sql_queue_jobs/;
const READS = /^\s*SELECT id, name.*claim_id = /s;

/** A store that fails from the first matching statement on. */
async function openStoreFailingBefore(world: World, statement: RegExp) {
  let isDead = false;
  const stopped: string[] = [];
  const driver = interceptingDriver((sql) => {
    isDead ||= statement.test(sql);
    if (!isDead) return Promise.resolve();
    stopped.push(sql);
    const lost = Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
    return Promise.reject(lost);
  });
  const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
  return { jobs, stopped };
}

describeStoresOf(
  ['mysql', 'mariadb'],
  'a claim by update',
  (setup) => {
    it.each([
      { before: 'the UPDATE', statement: MARKS, marked: 0 },
      { before: 'its jobs are read', statement: READS, marked: 2 },
      { before: 'it lists its jobs', statement: LISTS, marked: 2 },
    ])('leaves every job to other workers if its process dies before $before', async ({ statement, marked }) => {
      const world = await setup();
      const ids = await world.put({}, {}, {});
      const { jobs } = await openStoreFailingBefore(world, statement);

      await expect(jobs.claim(claimRequest({ limit: 2, startLimit: 2 }))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
      const active = await world.sql(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`);
      world.advance(LEASE_MS);
      const rescued = await world.jobs.rescue(rescueRules());

      expect([active.length, rescued.length]).toEqual([marked, marked]);
      // No handler has started, so no attempt is counted.
      expect(rescued.map(({ job }) => job.mayHaveStarted)).not.toContain(true);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      const { jobs: next } = await world.claim({ limit: 9 });
      expect(next.map(({ id, attempt }) => [id, attempt])).toEqual(ids.map((id) => [id, 1]));
    });

    it('marks nothing with an UPDATE that reaches the server after the claim was rescued', async () => {
      const world = await setup();
      await world.put({}, {}, {});
      const { jobs, stopped } = await openStoreFailingBefore(world, MARKS);
      await expect(jobs.claim(claimRequest({ limit: 2 }))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      world.advance(LEASE_MS);
      await world.jobs.rescue(rescueRules());

      await world.sql(stopped[0]!);

      expect(await world.sql(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`)).toEqual([]);
    });

    it('marks nothing with an UPDATE that reaches the server again after the claim has listed its jobs', async () => {
      const world = await setup();
      await world.put({}, {}, {}, {});
      const updates: string[] = [];
      const driver = interceptingDriver((text) => {
        updates.push(...statementsOf(text).filter((sql) => MARKS.test(sql)));
        return Promise.resolve();
      });
      const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
      const claimed = await jobs.claim(claimRequest({ limit: 2 }));

      await world.sql(updates[0]!);

      const active = await world.sql<{ id: string }>(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`);
      expect(active.map(({ id }) => Number(id))).toEqual(idsOf(claimed));
    });

    it.each(SEND_MODES)(
      'marks its jobs once if the answer to its UPDATE is lost, with statements sent $sent',
      async (sending) => {
        const world = await setup();
        const ids = await world.put({}, {}, {}, {});
        const { jobs, arm, disarm } = await openFaultyStore(world, sending);

        arm('unanswered', sending.multipleStatements ? 2 : 3);
        const claimed = await jobs.claim(claimRequest({ limit: 2 }));
        disarm();

        expect(idsOf(claimed)).toEqual(ids.slice(0, 2));
        const active = await world.sql(`SELECT id FROM sql_queue_jobs WHERE state = 'active'`);
        expect(active).toHaveLength(2);
        const [row] = await world.sql<{ job_ids: string }>('SELECT job_ids FROM sql_queue_claims');
        expect(JSON.parse(row!.job_ids)).toEqual(ids.slice(0, 2));
      },
    );

    it.each([
      { where: 'at the head', priority: 0 },
      { where: 'behind the others', priority: 1 },
    ])(
      'ends a job $where as dead if its id exceeds the safe integers, and claims the other jobs',
      async ({ priority }) => {
        const world = await setup();
        const ids = await world.put({}, {});
        await world.sql(`INSERT INTO sql_queue_jobs (id, queue, payload, priority, created_at)
                       VALUES (-9007199254740993, 'q', '1', ${priority}, 1)`);

        const { jobs } = await world.claim({ limit: 9 });

        expect(idsOf(jobs)).toEqual(ids);
        const [dead] = await world.sql<{ error: string }>(`SELECT error FROM sql_queue_history WHERE state = 'dead'`);
        expect(JSON.parse(dead!.error)).toMatchObject({ code: 'MALFORMED_JOB' });
        const [claim] = await world.sql<{ job_ids: string }>('SELECT job_ids FROM sql_queue_claims');
        expect(JSON.parse(claim!.job_ids)).toEqual(ids);
      },
    );

    it('lists a malformed job beside the others', async () => {
      const world = await setup();
      const ids = await world.put({}, {});
      await world.sql(`UPDATE sql_queue_jobs SET options = '{"backoff":null}' WHERE id = ${ids[0]}`);

      const { jobs } = await world.claim({ limit: 9 });

      expect(
        jobs.map(({ id, malformed }) => [id, malformed && 'column' in malformed ? malformed.column : undefined]),
      ).toEqual([
        [ids[0], 'options'],
        [ids[1], undefined],
      ]);
    });

    it('protects its jobs from the cleanup of stuck jobs before it lists them', async () => {
      const world = await setup();
      await world.put({}, {}, {});
      const { jobs } = await openStoreFailingBefore(world, LISTS);
      await expect(jobs.claim(claimRequest({ limit: 2 }))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });

      await world.jobs.cleanUp(100);

      const states = await world.sql<{ state: string }>('SELECT state FROM sql_queue_jobs ORDER BY id');
      expect(states.map(({ state }) => state)).toEqual(['active', 'active', 'waiting']);
    });

    it('leaves no row if it finds no job', async () => {
      const world = await setup();
      await world.put({});
      const stores = await Promise.all([world.open(), world.open(), world.open()]);

      const claimed = await Promise.all(stores.map(({ jobs }) => jobs.claim(claimRequest())));

      expect(claimed.flat()).toHaveLength(1);
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toHaveLength(1);
    });
  },
  'update',
);
