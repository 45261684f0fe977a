import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { NewJob } from '../../lib/job/job.js';
import { finalBatchOf, idsOf, newJob, outcomes, rescueRules } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf } from '../support/stores.js';

const COUNT = 10_000;
// More than SQLite accepts as values of one statement.
const MANY = 40_000;
const FREE: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };
const LIMITED: GroupRules = { ...FREE, concurrency: 2, onRetry: 'wait' };

// Each database limits the parts of a UNION, the depth of a condition, and the values or the length of a statement.
describeStoresOf(['mysql', 'mariadb', 'sqlite'], `${COUNT}`, (setup, { server }) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

  it('groups take their turns, end and return', async () => {
    const world = await setup();
    await world.put(...numbers(COUNT).map((n) => ({ group: `g${n}` })));
    await world.sql('UPDATE sql_queue_jobs SET runnable = 3');
    await world.sql(`
      INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id)
      SELECT 'q', group_key, 'ready', 1, -32769, 0 FROM sql_queue_jobs`);

    const taken = await world.claim({ limit: COUNT, groups: LIMITED });
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));
    await world.claim({ limit: COUNT, groups: { ...LIMITED, concurrency: 0 } });
    world.advance(11_000);
    const again: (string | null)[] = [];
    // Each claim lets one page of jobs join.
    for (let claims = 0; claims < COUNT / 100 && again.length < COUNT; claims++)
      again.push(...(await world.claim({ limit: COUNT, groups: LIMITED })).jobs.map(({ group }) => group));

    expect(taken.jobs).toHaveLength(COUNT);
    expect(new Set(again).size).toBe(COUNT);
  });

  it('queues are served, limited and promoted', async () => {
    const world = await setup();
    const queues = numbers(COUNT).map((n) => `queue-${n}`);
    await world.put(...queues.map((queue) => ({ queue, delayMs: 1_000 })));
    await world.sql(
      `INSERT INTO sql_queue_queues (queue, created_at, used_at) SELECT DISTINCT queue, 0, 0 FROM sql_queue_jobs`,
    );
    await world.sql(`INSERT INTO sql_queue_limits (queue) SELECT queue FROM sql_queue_queues`);
    world.advance(1_001);

    await world.jobs.chooseStrategies(new Map(queues.map((queue) => [queue, 'auto'])));
    await world.limits.declareLimits(new Map(queues.map((queue) => [queue, { maxRunning: null, rate: null }])));
    await world.queues.declare(queues.map((queue) => ({ queue, expiresAfterMs: null, subscriptions: [] })));

    expect((await world.jobs.summarizeWork(queues, queues, queues)).queues.size).toBe(COUNT);
    expect(await world.jobs.promote(COUNT)).toHaveLength(COUNT);
  });

  it('keys are acquired in one call, and their jobs replaced with all that they have left', async () => {
    const world = await setup();
    const count = server.name === 'sqlite' ? MANY : COUNT;
    const call = numbers(count).map((n) => keyedJob({ key: `k${n}`, onConflict: 'replace' }));

    const [created] = await world.jobs.enqueueKeyed([call]);
    await world.sql(
      `INSERT INTO sql_queue_progress (job_id, lines_logged, updated_at, expires_at) SELECT id, 0, 1, 1 FROM sql_queue_jobs`,
    );
    await world.sql(
      `INSERT INTO sql_queue_stages (job_id, queue, stage, priority) SELECT id, queue, 's', priority FROM sql_queue_jobs`,
    );
    const [replaced] = await world.jobs.enqueueKeyed([call]);

    expect([created, replaced]).toEqual([
      expect.objectContaining({ length: count }),
      expect.objectContaining({ length: count }),
    ]);
    expect((replaced as readonly { outcome: string }[]).every(({ outcome }) => outcome === 'replaced')).toBe(true);
    for (const table of ['progress', 'stages'])
      expect(await world.sql(`SELECT job_id FROM sql_queue_${table} LIMIT 1`)).toEqual([]);
  });

  // With a gap after every four ids, a condition on them has as many ranges as possible.
  it.each(['neighbouring', 'gappy'])('%s ids are claimed, renewed, completed, retried and removed', async (how) => {
    const world = await setup();
    const all = await world.put(...numbers(how === 'gappy' ? COUNT * 1.25 : COUNT).map((): Partial<NewJob> => ({})));
    if (how === 'gappy') await world.sql(`DELETE FROM sql_queue_jobs WHERE id % 5 = 0`);
    const taken = await world.claim({ limit: COUNT });
    await world.jobs.extend(numbers(COUNT));
    await world.jobs.cancelRequests(numbers(COUNT));
    await world.jobs.deleteEmptyClaims(numbers(COUNT));
    await world.jobs.complete(finalBatchOf(taken, outcomes.dead));
    const ids = idsOf(taken.jobs);
    expect(ids).toHaveLength(all.filter((id) => how !== 'gappy' || id % 5 !== 0).length);

    await world.admin.retry(ids);
    const expiring = await world.claim({ limit: COUNT });
    world.advance(60_000);
    expect(await world.jobs.rescue(rescueRules())).toHaveLength(expiring.jobs.length);
    expect(await world.admin.remove(ids)).toHaveLength(ids.length);
  });

  it('edges of one job are closed, and the job is unblocked', async () => {
    const world = await setup();
    const jobs = [...numbers(COUNT * 1.25).map((): NewJob => newJob()), newJob({ queue: 'after', isBlocked: true })];
    const edges = numbers(COUNT * 1.25)
      .filter((n) => n % 5 !== 0)
      .map((needs) => ({ job: COUNT * 1.25, needs, onFailure: 'cancel' }) as const);
    await world.flows.create({ jobs, edges });

    const taken = await world.claim({ limit: COUNT * 1.25 });
    await world.jobs.complete(finalBatchOf(taken));
    const { unblocked } = await world.flows.settle(idsOf(taken.jobs), () => false);

    expect(unblocked).toHaveLength(1);
  });

  it(`branches of a flow of ${2 * MANY} jobs are stored`, async () => {
    const world = await setup();
    const jobs = numbers(2 * MANY).map((n): NewJob => newJob(n % 2 === 0 ? {} : { isBlocked: true }));
    // The flow itself waits for each second job.
    const edges = numbers(MANY).map((n) => ({ job: 2 * n + 1, needs: 2 * n, onFailure: 'cancel' }) as const);

    const { id } = await world.flows.create({ jobs, edges });

    const [last] = await world.sql<{ count: string }>(
      `SELECT COUNT(*) AS count FROM sql_queue_edges WHERE job_id = ${-id}`,
    );
    expect(Number(last!.count)).toBe(MANY);
  });

  it(`jobs are counted up to a limit of ${MANY}`, async () => {
    const world = await setup();
    await world.limits.declareLimits(new Map([['q', { maxRunning: MANY + 1, rate: null }]]));
    await world.put(...numbers(MANY * 1.25 + 2).map((): Partial<NewJob> => ({})));
    await world.sql(`DELETE FROM sql_queue_jobs WHERE id % 5 = 0`);
    for (let claimed = 0; claimed < MANY; claimed += 1_000) await world.claim({ limit: 1_000 });

    expect((await world.claim({ limit: 2, isLimited: true })).jobs).toHaveLength(1);
  });
});
