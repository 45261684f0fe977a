import { archivedTo } from '../support/archives.js';
import { eventually } from '../support/eventually.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { countRemainingRows } from '../support/remaining-rows.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEEP = () => DAY_MS;
const OF_SUBJECT = { subject: 's', overrides: '{"subject":"s"}' };
const KINDS = ['steps', 'logs', 'subjects', 'flows'] as const;
const TABLES = ['steps', 'progress', 'logs', 'subjects', 'flows', 'edges'] as const;

describeStores('the rows of a finished job', (setup) => {
  it.each(KINDS)('among the %s are checked when the retention of the job has ended, and not before', async (kind) => {
    const world = await setup();
    await finishLastJob(world, DAY_MS);
    const prune = async () => (await pruneAll(world))[kind];
    world.advance(HOUR_MS + 1);
    const first = await prune();
    const checks: number[] = [];

    for (let hours = 0; hours < 20; hours++) {
      world.advance(HOUR_MS);
      checks.push(await prune());
    }
    world.advance(5 * HOUR_MS);
    await world.jobs.prune(10);
    const last = await prune();

    expect([first, Math.max(...checks), last]).toEqual([1, 0, 1]);
  });

  it('are deleted within an hour after the retention of the job', async () => {
    const world = await setup();
    await finishLastJob(world, DAY_MS);
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    world.advance(DAY_MS);
    await world.jobs.prune(10);
    await pruneAll(world);

    expect(await countRemainingRows(world, ...TABLES)).toEqual({});
  });

  it.each(KINDS)('among the %s do not come up at once if the job stays after its retention', async (kind) => {
    const world = await setup();
    await finishLastJob(world, HOUR_MS);
    world.advance(2 * HOUR_MS);

    const checked = [(await pruneAll(world))[kind], (await pruneAll(world))[kind]];

    expect(checked).toEqual([1, 0]);
  });

  it('are deleted soon after a removed job', async () => {
    const world = await setup();
    const id = await finishLastJob(world, 30 * DAY_MS);
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    await world.admin.remove([id]);
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    expect(await countRemainingRows(world, ...TABLES)).toEqual({});
  });

  it('are deleted soon after a retried job that is kept for a shorter time', async () => {
    const world = await setup();
    const id = await finishLastJob(world, 30 * DAY_MS);
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    await world.admin.retry([id]);
    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.complete, { retentionMs: false }));
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    expect(await countRemainingRows(world, ...TABLES)).toEqual({});
  });

  it('among the logs are checked with the retention of each job, also if jobs that run are checked beside them', async () => {
    const world = await setup();
    await finishLastJob(world, DAY_MS);
    const [jobId] = await world.put({});
    const claimId = (await world.claim()).id;
    await world.jobLogs.writeJobLogs([{ jobId: jobId!, claimId, value: '1', lines: [] }]);
    world.advance(HOUR_MS);

    const first = await world.jobLogs.pruneJobLogs(10);
    world.advance(HOUR_MS);

    expect([first, await world.jobLogs.pruneJobLogs(10)]).toEqual([2, 1]);
  });

  it('in an archive are rarely checked, as long as the archive has the job', async () => {
    const world = await setup();
    await world.sql('DROP TABLE IF EXISTS kept_jobs');
    const { jobs, subjects } = await world.open({ archives: archivedTo('kept_jobs') });
    await finishLastJob(world, HOUR_MS);
    world.advance(2 * HOUR_MS + 1);
    await jobs.prune(10);

    const checks = [await subjects.prune(10)];
    world.advance(7 * DAY_MS);
    checks.push(await subjects.prune(10));
    world.advance(30 * DAY_MS);
    checks.push(await subjects.prune(10));

    expect(checks).toEqual([1, 0, 1]);
    expect(await countRemainingRows(world, 'subjects')).toEqual({ subjects: 1 });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'the rows of a finished job on a server', (setup) => {
  it.each([
    ['steps', 'steps'],
    ['logs', 'progress'],
    ['subjects', 'subjects'],
    ['flows', 'flows'],
  ])('among the %s are deleted soon if the job starts anew while they are checked', async (_kind, table) => {
    const world = await setup();
    const id = await finishLastJob(world, 30 * DAY_MS);
    world.advance(HOUR_MS + 1);
    let retrying: Promise<unknown> | undefined;
    const retryBetween = async (sql: string) => {
      if (retrying || !sql.includes(`UPDATE sql_queue_${table}`)) return;
      retrying = world.admin.retry([id]);
      // The pruner has locked some of the rows.
      await Promise.race([retrying, untilUpdateWaits(world, table)]);
    };
    const dataSource = await world.connect({ driver: interceptingDriver(retryBetween) });

    await pruneAll(await world.open({ dataSource }));
    await retrying;
    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.complete, { retentionMs: false }));
    world.advance(HOUR_MS + 1);
    await pruneAll(world);

    expect(retrying).toBeDefined();
    expect(await countRemainingRows(world, ...TABLES)).toEqual({});
  });
});

async function untilUpdateWaits({ sql }: World, table: string): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return rows.some(({ info }) => info?.includes(`UPDATE sql_queue_${table}`));
  });
}

/** A dead job with rows in all tables, the last one of a flow whose first job is gone. Returns its id. */
async function finishLastJob(world: World, retentionMs: number): Promise<number> {
  const jobs = [{}, { ...OF_SUBJECT, isBlocked: true }].map(newJob);
  const { jobIds } = await world.flows.create({ jobs, edges: [{ job: 1, needs: 0, onFailure: 'run' }] });
  await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.complete, { retentionMs: false }));
  await world.flows.settle([jobIds[0]!], KEEP);
  const taken = await world.claim();
  const owner = { jobId: jobIds[1]!, claimId: taken.id };
  await world.steps.writeStep(owner, 'a', '1');
  await world.jobLogs.writeJobLogs([{ ...owner, value: '1', lines: [{ text: 'line', agoMs: 0 }] }]);
  await world.jobs.complete(finalBatchOf(taken, outcomes.dead, { retentionMs }));
  return owner.jobId;
}

async function pruneAll({
  steps,
  jobLogs,
  subjects,
  flows,
}: Pick<World, 'steps' | 'jobLogs' | 'subjects' | 'flows'>): Promise<Record<(typeof KINDS)[number], number>> {
  return {
    steps: await steps.pruneSteps(10),
    logs: await jobLogs.pruneJobLogs(10),
    subjects: await subjects.prune(10),
    flows: await flows.prune(10),
  };
}
