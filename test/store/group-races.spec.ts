import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { NewJob } from '../../lib/job/job.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import type { KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { gate } from '../support/engines.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { claimFrom, finalBatchOf, idsOf, newJob, type Claim } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { sqliteDriver } from '../support/traffic.js';

const FIFO: GroupRules = { concurrency: 1, rate: null, quantum: 1, onRetry: 'wait' };

// The jobs that join a group are locked by these statements, after a read without locks.
const LOCKS_ARRIVALS = /FROM sql_queue_jobs .*runnable IN \(1, 4, 5\).*FOR UPDATE/s;
// The jobs of a claim in turn.
const LOCKS_CLAIMED = /FROM sql_queue_jobs .*run_at IS NULL.*FOR UPDATE/s;
// The last read before jobs join.
const READS_ARRIVALS = /FROM sql_queue_groups .*state = 'ready'\s+LIMIT 1/s;

describeStoresOf(['mysql', 'mariadb'], 'a job of a group', (setup) => {
  it('runs in its new place if its priority changes while it joins its group', async () => {
    const world = await setup();
    await runOne(world, 'a');
    const [changed, next] = await put(world, { group: 'a' }, { group: 'a' });

    const store = await storeThatMeets(world, LOCKS_ARRIVALS, () => world.admin.edit(changed!, 'q', { priority: -5 }));

    expect(await runAll(store)).toEqual([changed, next]);
  });

  it.each([undefined, -5])(
    'runs in its new group if `replace` moves it while it joins the old one (priority %s)',
    async (priority) => {
      const world = await setup();
      for (const group of ['a', 'b']) await runOne(world, group);
      const [moved] = await putKeyed(world, 'a');
      const [next] = await put(world, { group: 'a' });

      const store = await storeThatMeets(world, LOCKS_ARRIVALS, () => putKeyed(world, 'b', priority));

      const ran = await runAll(store);
      expect(new Set(ran)).toEqual(new Set([moved, next]));
      expect(await groupsRun(world)).toMatchObject({ [moved!]: 'b', [next!]: 'a' });
    },
  );

  it('does not run beside a running job of the group to which `replace` moves it while a worker claims it', async () => {
    const world = await setup();
    await put(world, { group: 'b' });
    const running = await claim(world);
    const [moved] = await putKeyed(world, 'a');
    await join(world);

    const store = await storeThatMeets(world, LOCKS_CLAIMED, () => putKeyed(world, 'b'));

    expect((await claim(store)).jobs).toEqual([]);
    await world.jobs.complete(finalBatchOf(running));
    expect((await claim(store)).jobs).toMatchObject([{ id: moved, group: 'b' }]);
  });

  it('is not claimed before the others if its priority changes while a worker claims it', async () => {
    const world = await setup();
    const [first, second] = await put(world, { group: 'a' }, { group: 'a' });
    await join(world);

    const store = await storeThatMeets(world, LOCKS_CLAIMED, () => world.admin.edit(first!, 'q', { priority: 5 }));

    expect(await runAll(store)).toEqual([second, first]);
  });

  it('of a group that it has left keeps no place there while it waits for its next attempt', async () => {
    const world = await setup();
    const [moved] = await putKeyed(world, 'a');
    const [next] = await put(world, { group: 'a' });
    const taken = await claim(world);
    await world.jobs.complete(finalBatchOf(taken, { kind: 'snooze', delayMs: 3_600_000 }));
    expect((await claim(world)).jobs).toEqual([]);

    await enqueueKeyed(world, { ...replacement('b'), delayMs: 3_600_000 });
    world.advance(11_000);

    expect(idsOf(taken.jobs)).toEqual([moved]);
    expect((await claim(world)).jobs).toMatchObject([{ id: next }]);
  });
});

describeStoresOf(['sqlite'], 'a job of a group', (setup) => {
  it.each(['reprioritise', 'replace'] as const)(
    'runs in its new place after %s by a transaction for which its worker waits while it joins',
    async (how) => {
      const world = await setup();
      for (const group of ['a', 'b']) await runOne(world, group);
      const [changed] = await putKeyed(world, 'a');
      const { opened: isRead, open } = gate();
      const driver = await sqliteDriver((sql) => READS_ARRIVALS.test(sql) && open());
      const store = await world.open({ dataSource: await world.connect({ driver }) });

      const claiming = await world.dataSource.transaction(async (transaction) => {
        if (how === 'reprioritise') await world.admin.edit(changed!, 'q', { priority: -5 }, { transaction });
        else await world.jobs.enqueueKeyedInTransaction([replacement('b', -5)], transaction);
        const started = { claimed: claim(store) };
        await isRead;
        return started;
      });

      const taken = await claiming.claimed;
      const ran = taken.jobs.length > 0 ? taken : await claim(store);
      expect(ran.jobs).toMatchObject([{ id: changed, group: how === 'replace' ? 'b' : 'a' }]);
    },
  );
});

const LEAVES_QUEUE = 'a job that leaves its queue for a group while a worker claims it';

describeStoresOf(['mysql', 'mariadb'], LEAVES_QUEUE, claimsNone, 'optimistic');
describeStoresOf(['mariadb'], LEAVES_QUEUE, claimsNone);

function claimsNone(setup: () => Promise<World>): void {
  it('is not claimed as one without a group', async () => {
    const world = await setup();
    const [moved] = await enqueueKeyed(world, keyedJob({ key: 'k', onConflict: 'replace' }));
    const isLocked = /UPDATE sql_queue_jobs|FROM sql_queue_jobs .*FOR UPDATE/s;

    const store = await storeThatMeets(world, isLocked, () => putKeyed(world, 'b'));

    expect((await claimFrom(store.jobs, { limit: 2 })).jobs).toEqual([]);
    expect((await claim(world)).jobs).toMatchObject([{ id: moved, group: 'b' }]);
  });
}

/** A store that lets the change happen before it sends the first statement that matches. */
async function storeThatMeets(world: World, statement: RegExp, change: () => Promise<unknown>): Promise<OpenStore> {
  let hasChanged = false;
  const driver = interceptingDriver(async (sql) => {
    if (hasChanged || !statement.test(sql)) return;
    hasChanged = true;
    await change();
  });
  return world.open({ dataSource: await world.connect({ driver }) });
}

function put(world: World, ...jobs: Partial<NewJob>[]): Promise<number[]> {
  return world.jobs.enqueue(jobs.map(newJob));
}

function replacement(group: string, priority = 0): NewJob {
  return keyedJob({ key: 'k', onConflict: 'replace' }, { group, priority });
}

function putKeyed(world: World, group: string, priority?: number): Promise<number[]> {
  return enqueueKeyed(world, replacement(group, priority));
}

async function enqueueKeyed({ jobs }: World, job: NewJob): Promise<number[]> {
  const [results] = await jobs.enqueueKeyed([[job]]);
  return (results as readonly KeyedJobResult[]).map(({ id }) => id);
}

function claim({ jobs }: Pick<OpenStore, 'jobs'>, given: Partial<ClaimRequest> = {}): Promise<Claim> {
  return claimFrom(jobs, { limit: 5, groups: FIFO, ...given });
}

/** Lets the jobs join their groups, and claims none. */
async function join(world: World): Promise<void> {
  await claim(world, { groups: { ...FIFO, concurrency: 0 } });
  world.advance(11_000);
}

/** The head of the group stands behind this job afterwards. */
async function runOne(world: World, group: string): Promise<void> {
  await put(world, { group });
  await world.jobs.complete(finalBatchOf(await claim(world)));
}

/** Runs jobs until claims find none any more, and returns their ids in the order of their claims. */
async function runAll(store: OpenStore): Promise<number[]> {
  const ran: number[] = [];
  for (let empty = 0; empty < 3;) {
    const taken = await claim(store);
    if (taken.jobs.length === 0) empty++;
    else await store.jobs.complete(finalBatchOf(taken));
    ran.push(...idsOf(taken.jobs));
  }
  return ran;
}

async function groupsRun({ admin }: World): Promise<Record<number, string | null>> {
  const { jobs } = await admin.find({ queue: 'q' }, { limit: 10, order: 'oldest' });
  return Object.fromEntries(jobs.map(({ id, group }) => [id, group ?? null]));
}
