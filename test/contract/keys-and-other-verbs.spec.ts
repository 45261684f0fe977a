import type { EntityManager } from 'typeorm';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores, type World } from '../support/stores.js';

describeStores('a key in a transaction whose calls overlap', (setup) => {
  it('is owned by one job if two calls enqueue with it', async () => {
    const world = await setup();
    const { dataSource, jobs } = world;

    const results = await dataSource.transaction(async (manager) =>
      (await Promise.all([1, 2].map(() => putWithin(jobs, manager, { key: 'k' })))).flat(),
    );

    expect(results).toMatchObject([{ outcome: 'created' }, { outcome: 'existing', id: results[0]!.id }]);
    expect(await liveIds(world)).toEqual([results[0]!.id]);
  });

  it('is owned by one job if the calls have a manager and its query runner', async () => {
    const { dataSource, jobs } = await setup();

    const results = await dataSource.transaction((manager) =>
      Promise.all(
        [
          putWithin(jobs, manager, { key: 'k' }),
          putWithin(jobs, manager, { key: 'k', onConflict: 'reject' }),
          jobs
            .enqueueKeyedInTransaction([keyedJob({ key: 'k', onConflict: 'reject' })], manager.queryRunner!)
            .catch((error: unknown) => error),
        ].map((call) => call.catch((error: unknown) => error)),
      ),
    );

    const refused = { code: 'DUPLICATE_KEY' };
    expect(results).toMatchObject([[{ outcome: 'created' }], refused, refused]);
  });

  it('is owned by one job if a dead job with it is retried', async () => {
    const world = await setup();
    const { dataSource, jobs, admin } = world;
    const dead = await putDead(world);

    const [created] = await dataSource.transaction((manager) =>
      Promise.all([
        putWithin(jobs, manager, { key: 'k' }),
        admin.retry([dead], { transaction: manager }),
        putWithin(jobs, manager, { key: 'k' }),
      ]),
    );

    expect(await liveIds(world)).toEqual([created[0]!.id]);
  });
});

async function putWithin(
  jobs: JobStore,
  manager: EntityManager,
  ...options: EnqueueOptions[]
): Promise<readonly KeyedJobResult[]> {
  const placed = await jobs.enqueueKeyedInTransaction(
    options.map((each) => keyedJob(each)),
    manager,
  );
  return placed!;
}

/** A dead job, which the history has for an hour. */
async function putDead({ jobs, claim }: World, options: EnqueueOptions = { key: 'k' }): Promise<number> {
  const [answer] = await jobs.enqueueKeyed([[keyedJob(options)]]);
  await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { retentionMs: 3_600_000 }));
  return (answer as readonly KeyedJobResult[])[0]!.id;
}

async function liveIds({ sql }: World): Promise<number[]> {
  const rows = await sql<{ id: number | string }>('SELECT id FROM sql_queue_jobs ORDER BY id');
  return rows.map(({ id }) => Number(id));
}
