import { archivedTo } from '../support/archives.js';
import {
  claimFrom,
  claimRequest,
  finalBatchOf,
  idsOf,
  rescueRules,
  LEASE_MS,
  outcomes,
  completionOf,
  completionBatchOf,
} from '../support/jobs.js';
import { readUnlockedJobs, readUnlockedRows } from '../support/unlocked-rows.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { beforeLockingCommits } from '../support/locking-commits.js';
import { lockErrorsOf, recordServerErrors } from '../support/server-errors.js';
import { describeStoresOf, type World } from '../support/stores.js';

const STRATEGIES = ['skip-locked', 'update', 'optimistic', 'lock'] as const;

describeStoresOf(['mysql', 'mariadb'], 'the row locks of the store', (setup) => {
  /** Opens a store whose COMMITs of locks first record the jobs without a lock. */
  async function watched(world: World) {
    const free: number[][] = [];
    const driver = interceptingDriver(
      beforeLockingCommits(async () => void free.push(await readUnlockedJobs(world.dataSource))),
    );
    const { jobs, consumer } = await world.open({ dataSource: await world.connect({ driver }) });
    // Those of the boot.
    free.length = 0;
    return { jobs, consumer, free };
  }

  it.each(STRATEGIES)('cover the jobs of a claim by %s, and none after them', async (strategy) => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 10 }, () => ({})));
    const { jobs, free } = await watched(world);

    await jobs.claim(claimRequest({ limit: 3, strategy }));

    // A claim by update releases its row locks when its UPDATE is done.
    expect(free).toEqual([strategy === 'update' ? ids : ids.slice(3)]);
  });

  it.each(STRATEGIES)('cover no job after those of a claim by %s if the order is lifo', async (strategy) => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 10 }, () => ({})));
    const { jobs, free } = await watched(world);

    await jobs.claim(claimRequest({ limit: 3, order: 'lifo', strategy }));

    expect(free).toEqual([strategy === 'update' ? ids : ids.slice(0, 7)]);
  });

  it('cover no waiting job that a claim skips, behind active and malformed delayed jobs', async () => {
    const world = await setup();
    await world.put(...Array.from({ length: 5 }, () => ({})));
    await world.claim({ limit: 5 });
    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload, run_at, runnable) VALUES ('q', '1', 4e12, 1)`);
    const waiting = await world.put(...Array.from({ length: 10 }, () => ({})));
    const others = await world.put({ queue: 'other' }, { queue: 'a' }, { delayMs: 60_000 });
    const { jobs, free } = await watched(world);

    const claimed = await jobs.claim(claimRequest({ limit: 3 }));

    expect(idsOf(claimed)).toEqual(waiting.slice(0, 3));
    const ours = [...waiting, ...others];
    expect(free[0]!.filter((id) => ours.includes(id))).toEqual([...waiting.slice(3), ...others]);
  });

  it('cover no active job in front of those of a claim', async () => {
    const world = await setup();
    const active = await world.put(...Array.from({ length: 5 }, () => ({})));
    await world.claim({ limit: 5 });
    const waiting = await world.put(...Array.from({ length: 5 }, () => ({})));
    const { jobs, free } = await watched(world);

    await jobs.claim(claimRequest({ limit: 3 }));

    expect(free).toEqual([[...active, ...waiting.slice(3)]]);
  });

  it('cover no active job that a claim of a limited queue passes, from the head or after its cursors', async () => {
    const world = await setup();
    await world.limits.declareLimits(new Map([['q', { maxRunning: 50, rate: null }]]));
    const ids = await world.put(...Array.from({ length: 20 }, () => ({})));
    const { jobs, free } = await watched(world);
    const claim = () => jobs.claim(claimRequest({ limit: 3, isLimited: true }));

    await world.claim({ limit: 5 });
    await claim();
    await world.claim({ limit: 5 });
    const claimed = await claim();

    expect(idsOf(claimed)).toEqual(ids.slice(13, 16));
    expect(free).toEqual([
      [...ids.slice(0, 5), ...ids.slice(8)],
      [...ids.slice(0, 13), ...ids.slice(16)],
    ]);
  });

  it('cover exactly the jobs of a claim from a stage', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 10 }, () => ({})));
    const { consumer, free } = await watched(world);
    const assignee = { workerId: 'people', owner: 'ann', leaseMs: 60_000 };
    for (const id of ids) await consumer.assign(id, assignee, 'anyone', () => ({ maxAttempts: 5 }));
    for (const id of ids.slice(2)) await consumer.move(id, { owner: 'ann' }, 'review');
    free.length = 0;

    await consumer.claimFromStage({ ...assignee, queue: 'q', stage: 'review', limit: 3, maxAttempts: 5 });

    expect(free).toEqual([[...ids.slice(0, 2), ...ids.slice(5)]]);
  });

  it('cover no job of another queue during an empty claim', async () => {
    const world = await setup();
    const others = await world.put({ queue: 'a' }, { queue: 'r' }, { delayMs: 60_000 });
    const { jobs, free } = await watched(world);

    await jobs.claim(claimRequest({ limit: 3 }));

    // On MariaDB such a claim reads without locks.
    for (const each of free) expect(each).toEqual(others);
    expect(free).toHaveLength(world.store.server.name === 'mariadb' ? 0 : 1);
  });

  it('cover exactly the jobs of a completion batch', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 12 }, () => ({})));
    const taken = await world.claim({ limit: 6 });
    const { jobs, free } = await watched(world);
    const [a, b, c, d, e, f] = taken.jobs.map((job, n) => completionOf(taken, job, Object.values(outcomes)[n]));

    await jobs.complete(completionBatchOf([f!, e!, d!, c!, b!]));

    expect(free).toEqual([[a!.job.id, ...ids.slice(6)]]);
  });

  it('cover no job between the ranges of ids in a completion batch', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 20 }, () => ({})));
    const taken = await world.claim({ limit: 18 });
    const { jobs, free } = await watched(world);
    const ending = [1, 2, 3, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16].reverse();

    await jobs.complete(completionBatchOf(ending.map((n) => completionOf(taken, taken.jobs[n]!))));

    expect(free).toEqual([ids.filter((_, n) => !ending.includes(n))]);
  });

  it.each([0, 1])(
    'let a completion batch proceed beside neighbours that another worker has locked, with %i jobs lost',
    async (lost) => {
      const { put, claim, jobs, dataSource, sql, admin } = await setup();
      await put(...Array.from({ length: 20 }, () => ({})));
      const [before, ours, after] = [await claim({ limit: 5 }), await claim({ limit: 10 }), await claim({ limit: 5 })];
      const neighbours = [before.jobs.at(-1)!, after.jobs[0]!];
      for (const { id } of ours.jobs.slice(0, lost))
        await sql(`UPDATE sql_queue_jobs SET claim_id = 0, state = 'waiting' WHERE id = ${id}`);

      await dataSource.transaction(async (manager) => {
        for (const { id } of neighbours)
          await manager.query(`SELECT id FROM sql_queue_jobs WHERE id = ${id} FOR UPDATE`);
        await jobs.complete(finalBatchOf(ours));
      });

      expect(await admin.counts()).toMatchObject({ active: 10, waiting: lost, completed: 10 - lost });
    },
  );

  it('cover no other waiting job when outcomes and the next claim share a transaction', async () => {
    const world = await setup();
    const waiting = await world.put(...Array.from({ length: 20 }, () => ({})));
    const others = await world.put({ queue: 'other' }, { queue: 'a' }, { delayMs: 60_000 });
    const taken = await world.claim({ limit: 10 });
    const { jobs, free } = await watched(world);

    const { jobs: next } = await jobs.completeAndClaim(finalBatchOf(taken), claimRequest({ limit: 4 }));

    expect(idsOf(next)).toEqual(waiting.slice(10, 14));
    expect(free).toEqual([[...waiting.slice(14), ...others]]);
  });

  it('cover the claims of a completion batch in the order of their ids, finished or not', async () => {
    const world = await setup();
    await world.put({}, {}, {});
    const order: number[] = [];
    const driver = interceptingDriver((sql) => {
      if (/^\s*(UPDATE|DELETE).*sql_queue_claims/s.test(sql))
        order.push(...(sql.match(/\b[123]00[123]\b/g) ?? []).map(Number));
      return Promise.resolve();
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    for (const claimId of [3_003, 1_001, 2_002]) await jobs.claim(claimRequest({ claimId }));

    const claims = [3_003, 1_001, 2_002].map((id) => ({ id, startLimit: 1, isFinished: id !== 2_002 }));
    await jobs.complete(completionBatchOf([], { claims }));

    expect(order).toEqual([1_001, 2_002, 3_003]);
  });

  it('cover no claim during a write of progress', async () => {
    const world = await setup();
    await world.put({});
    const { id: claimId, jobs } = await world.claim();
    const free: number[][] = [];
    const record = async () => void free.push(await readUnlockedRows(world.dataSource, 'claims'));
    const atCommit = beforeLockingCommits(record);
    const driver = interceptingDriver(async (sql, ...given) => {
      await (/INTO sql_queue_(progress|logs)/.test(sql) ? record() : undefined);
      await atCommit(sql, ...given);
    });
    const { jobLogs } = await world.open({ dataSource: await world.connect({ driver }) });
    free.length = 0;

    const lines = [{ text: 'line', agoMs: 0 }];
    for (const value of ['1', '2']) await jobLogs.writeJobLogs([{ jobId: jobs[0]!.id, claimId, value, lines }]);

    expect(free).toEqual(Array.from({ length: 6 }, () => [claimId]));
  });

  it('keep no other claims from being extended if another transaction has locked one claim', async () => {
    const world = await setup();
    await world.put({}, {}, {});
    const ids = [(await world.claim()).id, (await world.claim()).id, (await world.claim()).id].sort((a, b) => a - b);
    const leases = async () => {
      const rows = await world.sql<{ until: number }>('SELECT lease_until AS until FROM sql_queue_claims ORDER BY id');
      return rows.map(({ until }) => Number(until));
    };
    const before = await leases();
    world.advance(10_000);

    const held = await world.dataSource.transaction(async (manager) => {
      await manager.query('SELECT id FROM sql_queue_claims WHERE id = ? FOR UPDATE', [ids[1]]);
      return world.jobs.extend(ids);
    });

    const after = await leases();
    expect(after.map((until, n) => until > before[n]!)).toEqual([true, false, true]);
    const told = (n: number) => held.find(({ claimId }) => claimId === ids[n]);
    expect(ids.map((_, n) => told(n)?.isLocked ?? false)).toEqual([false, true, false]);
    expect(await world.jobs.extend([ids[1]!])).toEqual([{ claimId: ids[1], cancelRequested: [] }]);
  });

  it('cover the jobs that a promotion or a rescue changes', async () => {
    const world = await setup();
    const due = await world.put({ delayMs: 1_000 }, { delayMs: 1_000 });
    const later = await world.put({ delayMs: 600_000 });
    const lapsing = await world.put({});
    await world.claim();
    const waiting = await world.put({}, {});
    world.advance(LEASE_MS);
    const { jobs, free } = await watched(world);

    await jobs.promote(100);
    await jobs.rescue(rescueRules());

    expect(free).toEqual([
      [...later, ...lapsing, ...waiting],
      [...due, ...later, ...waiting],
    ]);
  });

  it('keep no other jobs from being promoted if another transaction has locked one job', async () => {
    const { put, jobs, admin, dataSource, advance } = await setup();
    const [free, locked, freeToo] = await put({ delayMs: 1_000 }, { delayMs: 1_000 }, { delayMs: 1_000 });
    advance(1_000);

    await dataSource.transaction(async (manager) => {
      await manager.query(`SELECT id FROM sql_queue_jobs WHERE id = ${locked} FOR UPDATE`);
      await jobs.promote(100);
    });

    const states = await Promise.all([free, locked, freeToo].map(async (id) => (await admin.get(id!))?.state));
    expect(states).toEqual(['waiting', 'scheduled', 'waiting']);
    expect(await jobs.promote(100)).toHaveLength(1);
  });

  it.each([undefined, archivedTo('kept_jobs')])(
    'block no producers, workers and retries of other jobs during a prune (archives: %o)',
    async (archives) => {
      const world = await setup();
      await world.put(...Array.from({ length: 30 }, () => ({})));
      await world.jobs.complete(finalBatchOf(await world.claim({ limit: 30 }), outcomes.dead, { retentionMs: 0 }));
      world.advance(1);
      const [other] = await world.put({});
      await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.dead));
      const meanwhile: unknown[] = [];
      const driver = interceptingDriver(async (sql, ask) => {
        const isDelete = /DELETE.*sql_queue_history/s.test(sql);
        if (!(archives ? sql === 'COMMIT' : isDelete) || meanwhile.length > 0) return;
        // The DELETE would commit before another statement could meet its locks.
        if (isDelete) for (const text of ['START TRANSACTION', sql]) await ask(text);
        meanwhile.push(await world.put({}, {}));
        const taken = await world.claim({ limit: 2 });
        meanwhile.push((await world.jobs.complete(finalBatchOf(taken))).lost, await world.admin.retry([other!]));
        if (isDelete) await ask('ROLLBACK');
      });
      const { jobs } = await world.open({ dataSource: await world.connect({ driver }), archives });

      const pruned = await jobs.prune(20);

      expect(pruned).toBe(20);
      expect(meanwhile).toEqual([[expect.any(Number), expect.any(Number)], new Set(), [other]]);
      expect(await world.admin.counts()).toMatchObject({ completed: 2, dead: 10, waiting: 1 });
    },
  );

  it('let workers complete and claim in one transaction side by side, without a deadlock', async () => {
    const { put, admin, open, connect } = await setup();
    await put(...Array.from({ length: 600 }, () => ({})));
    const { driver, refused } = recordServerErrors();
    const { jobs } = await open({ dataSource: await connect({ driver }) });

    let completed = 0;
    const work = async (): Promise<void> => {
      let taken = await claimFrom(jobs, { limit: 10 });
      for (let n = 0; completed < 600; n++) {
        const request = claimRequest({ limit: 10 });
        const outcome = n % 3 ? outcomes.complete : outcomes.retry;
        const settlements = taken.jobs.map((job) => completionOf(taken, job, outcome));
        const claims = [{ id: taken.id, startLimit: 10, isFinished: true }];
        // The claim may return no jobs while jobs wait: it skips jobs released by this batch if another claim is
        // reading them.
        const next = await jobs.completeAndClaim(completionBatchOf(settlements, { claims }), request);
        if (outcome.kind === 'complete') completed += taken.jobs.length;
        taken = { id: request.claimId, workerId: request.workerId, jobs: next.jobs };
      }
    };
    await Promise.all([work(), work(), work(), work()]);

    expect(await admin.counts()).toMatchObject({ waiting: 0, active: 0, completed: 600 });
    expect(lockErrorsOf(refused)).toEqual([]);
  });

  it('let workers claim and complete side by side', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put(...Array.from({ length: 300 }, () => ({})));

    const work = async (): Promise<void> => {
      const taken = await claim({ limit: 5 });
      if (taken.jobs.length === 0) return;
      await jobs.complete(finalBatchOf(taken));
      await work();
    };
    await Promise.all([work(), work(), work(), work()]);

    expect(await admin.counts()).toMatchObject({ waiting: 0, active: 0, completed: 300 });
  });
});
