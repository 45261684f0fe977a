import type { DataSource } from 'typeorm';
import { signalHash } from '../../lib/job/signal.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { gate } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimFrom, claimRequest, finalBatchOf, idsOf, newJob, outcomes, rescueRules } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { watched } from '../support/watched-reads.js';

const IS_CHECK = /SELECT priority, id\s.*\(priority < /s;

type Act = () => Promise<unknown>;

const replacing = (delayMs: number | null) => keyedJob({ key: 'k', onConflict: 'replace' }, { delayMs });

// Two claims of one process are under way at a time.
describeStoresOf(['mysql', 'mariadb'], 'a claim beside another claim of its process', (setup) => {
  /** Opens a store that has claimed the first of ten jobs. `on` sets the listener of the following statements. */
  async function begun(world: World) {
    const ids = await world.put(...Array.from({ length: 10 }, () => ({})));
    let listen: (sql: string) => Promise<void> = () => Promise.resolve();
    const driver = interceptingDriver((sql) => listen(sql));
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    await jobs.claim(claimRequest({ limit: 1 }));
    return { ids, jobs, on: (listener: typeof listen) => void (listen = listener) };
  }

  it('starts behind the jobs that the other claim has locked and not yet committed', async () => {
    const { ids, jobs, on } = await begun(await setup());
    const scans: string[] = [];
    const held = gate();
    const committing = gate();
    let commits = 0;
    on(async (sql) => {
      if (sql.includes('FOR UPDATE SKIP LOCKED')) scans.push(sql);
      if (sql !== 'COMMIT' || commits++ > 0) return;
      held.open();
      await committing.opened;
    });

    const one = jobs.claim(claimRequest({ limit: 3 }));
    await held.opened;
    const other = await jobs.claim(claimRequest({ limit: 3 }));
    committing.open();

    expect(idsOf(await one)).toEqual(ids.slice(1, 4));
    expect(idsOf(other)).toEqual(ids.slice(4, 7));
    expect(scans).toHaveLength(2);
    expect(scans[1]).toContain(`id > ${ids[3]}`);
  });

  it('hides none of its locked jobs if its transaction must be repeated', async () => {
    const { ids, jobs, on } = await begun(await setup());
    let writes = 0;
    on(async (sql) => {
      if (!sql.includes('INSERT INTO sql_queue_claims') || writes++ > 0) return;
      throw Object.assign(new Error('Deadlock found'), { errno: 1213, code: 'ER_LOCK_DEADLOCK' });
    });

    const claimed = await jobs.claim(claimRequest({ limit: 3 }));

    expect(writes).toBe(2);
    expect(idsOf(claimed)).toEqual(ids.slice(1, 4));
  });

  it('hides none of its locked jobs if it fails', async () => {
    const { ids, jobs, on } = await begun(await setup());
    on(async (sql) => {
      if (sql.includes('INSERT INTO sql_queue_claims'))
        throw Object.assign(new Error('Table is full'), { errno: 1114, code: 'ER_RECORD_FILE_FULL' });
    });
    await expect(jobs.claim(claimRequest({ limit: 3 }))).rejects.toThrow('Table is full');
    on(() => Promise.resolve());

    const claimed = await jobs.claim(claimRequest({ limit: 3 }));

    expect(idsOf(claimed)).toEqual(ids.slice(1, 4));
  });
});

// Another process has claimed the jobs after those of the cursors.
describeStoresOf(['mysql', 'mariadb'], 'a claim beside claims of another process', (setup) => {
  /** Two processes, `here` and `elsewhere`, and waiting jobs. Both have their cursors. */
  async function twoProcesses(waiting: number) {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: waiting }, () => ({})));
    const [here, elsewhere] = [await world.open(), await world.open()];
    return { world, ids, here: here.jobs, elsewhere: elsewhere.jobs };
  }

  it.each([10, 1_000])('reads as many rows after %i jobs that are active there as after one', async (count) => {
    const world = await setup();
    const { reads, store } = await watched(world, /FOR UPDATE SKIP LOCKED/);
    const { jobs: elsewhere } = await world.open();
    const put = (jobs: number) => world.jobs.enqueue(Array.from({ length: jobs }, () => newJob()));
    const readByClaim = async (active: number) => {
      await put(active + 2);
      await elsewhere.claim(claimRequest({ limit: active }));
      const before = reads();
      expect(await store.jobs.claim(claimRequest({ limit: 2 }))).toHaveLength(2);
      return reads() - before;
    };
    await readByClaim(1);

    expect(await readByClaim(count)).toBe(await readByClaim(1));
  });

  it('finds all jobs that returned here before those that were claimed there', async () => {
    const { ids, here, elsewhere } = await twoProcesses(20);
    const failing = await claimFrom(here, { limit: 6 });
    await here.complete(finalBatchOf(await claimFrom(here, { limit: 1 })));
    await elsewhere.claim(claimRequest({ limit: 9 }));
    await here.complete(finalBatchOf(failing, outcomes.retry));

    const found = [];
    for (let claims = 0; claims < 4; claims++) found.push(...idsOf(await here.claim(claimRequest({ limit: 2 }))));

    expect(found).toEqual([...ids.slice(0, 6), ...ids.slice(16, 18)]);
  });

  it('finds all jobs that waited before those when this process started', async () => {
    const { world, ids, here, elsewhere } = await twoProcesses(20);
    const released = await claimFrom(world.jobs, { limit: 6 });
    await elsewhere.claim(claimRequest({ limit: 9 }));
    await world.jobs.complete(finalBatchOf(released, outcomes.release));

    const found = [];
    for (let claims = 0; claims < 4; claims++) found.push(...idsOf(await here.claim(claimRequest({ limit: 2 }))));

    expect(found).toEqual([...ids.slice(0, 6), ...ids.slice(15, 17)]);
  });

  it('finds them also if another claim had locked all that it read first', async () => {
    const { world, ids, here, elsewhere } = await twoProcesses(20);
    const released = await claimFrom(world.jobs, { limit: 6 });
    await elsewhere.claim(claimRequest({ limit: 3 }));
    await world.jobs.complete(finalBatchOf(released, outcomes.release));
    const held = gate();
    const committing = gate();
    let holds = false;
    const driver = interceptingDriver(async (sql) => {
      if (!holds || !sql.includes('INSERT INTO sql_queue_claims')) return;
      held.open();
      await committing.opened;
    });
    const { jobs: third } = await world.open({ dataSource: await world.connect({ driver }) });
    holds = true;
    const locking = third.claim(claimRequest({ limit: 2 }));
    await held.opened;

    const found = [];
    for (let claims = 0; claims < 3; claims++) found.push(...idsOf(await here.claim(claimRequest({ limit: 2 }))));
    committing.open();

    expect(found).toEqual([...ids.slice(2, 6), ...ids.slice(9, 11)]);
    expect(idsOf(await locking)).toEqual(ids.slice(0, 2));
  });

  it('takes again the jobs of a claim that failed, although later jobs were claimed there', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 12 }, () => ({})));
    let fails = false;
    let claimsThere = 0;
    const driver = interceptingDriver(async (sql) => {
      if (!fails || !sql.includes('INSERT INTO sql_queue_claims')) return;
      if (claimsThere++ === 0) await elsewhere.jobs.claim(claimRequest({ limit: 3 }));
      throw Object.assign(new Error('Table is full'), { errno: 1114, code: 'ER_RECORD_FILE_FULL' });
    });
    const { jobs: here } = await world.open({ dataSource: await world.connect({ driver }) });
    const elsewhere = await world.open();
    await here.claim(claimRequest({ limit: 1 }));
    fails = true;
    await expect(here.claim(claimRequest({ limit: 3 }))).rejects.toThrow('Table is full');
    fails = false;

    const found = [];
    for (let claims = 0; claims < 4; claims++) found.push(...idsOf(await here.claim(claimRequest({ limit: 2 }))));

    expect(found).toEqual([...ids.slice(1, 4), ...ids.slice(7, 12)]);
  });

  it('takes the oldest job also after a claim there took the newest ones', async () => {
    const { world, ids, here, elsewhere } = await twoProcesses(10);
    await here.claim(claimRequest({ limit: 1 }));
    await elsewhere.claim(claimRequest({ limit: 1, order: 'lifo' }));
    await world.put({}, {});

    expect(idsOf(await here.claim(claimRequest({ limit: 2 })))).toEqual(ids.slice(1, 3));
  });

  it('finds all jobs that returned there as soon as a claim finds no others', async () => {
    const { ids, here, elsewhere } = await twoProcesses(12);
    const released = await claimFrom(elsewhere, { limit: 6 });
    await here.claim(claimRequest({ limit: 1 }));
    await elsewhere.claim(claimRequest({ limit: 4 }));
    await elsewhere.complete(finalBatchOf(released, outcomes.release));

    const found = [];
    for (let claims = 0; claims < 4; claims++) found.push(...idsOf(await here.claim(claimRequest({ limit: 2 }))));

    expect(found).toEqual([ids[11], ...ids.slice(0, 6)]);
  });

  it('finds, after a second of full claims, all jobs that returned there', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const ids = await world.put(...Array.from({ length: 40 }, () => ({})));
    const looked = gate();
    const driver = interceptingDriver(
      () => Promise.resolve(),
      (sql) => /SELECT priority, id\s.*FORCE INDEX \(sql_queue_jobs_queue\)/s.test(sql) && looked.open(),
    );
    const [here, elsewhere] = [
      await world.open({ clock, dataSource: await world.connect({ driver }) }),
      await world.open(),
    ];
    const released = await claimFrom(elsewhere.jobs, { limit: 6 });
    await here.jobs.claim(claimRequest({ limit: 2 }));
    await elsewhere.jobs.claim(claimRequest({ limit: 10 }));
    await elsewhere.jobs.complete(finalBatchOf(released, outcomes.release));
    const found: number[] = [];
    const claim = async () => found.push(...idsOf(await here.jobs.claim(claimRequest({ limit: 2 }))));

    await clock.advance(1_000);
    await claim();
    await looked.opened;
    for (let claims = 0; claims < 5; claims++) await claim();

    expect(found.filter((id) => id < ids[6]!)).toEqual(ids.slice(0, 6));
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a claim after jobs have returned to their queue', (setup) => {
  // Deleted entries of finished jobs stand before the cursors.
  it.each([
    { title: 'failed', outcome: outcomes.retry },
    { title: 'become due', outcome: { ...outcomes.retry, delayMs: 1_000 } },
  ])('starts before the first job that has $title, not at the head', async ({ outcome }) => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 10 }, () => ({})));
    const scans: string[] = [];
    const driver = interceptingDriver((sql) => {
      if (sql.includes('AS moreUrgent')) scans.push(sql);
      return Promise.resolve();
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    await jobs.complete(finalBatchOf(await claimFrom(jobs, { limit: 5 })));
    const failing = await claimFrom(jobs, { limit: 2 });
    await jobs.complete(finalBatchOf(await claimFrom(jobs, { limit: 2 })));
    scans.length = 0;

    await jobs.complete(finalBatchOf(failing, outcome));
    world.advance(2_000);
    await jobs.promote(10);
    const claimed = await jobs.claim(claimRequest({ limit: 3 }));

    expect(idsOf(claimed)).toEqual([...ids.slice(5, 7), ids[9]]);
    expect(scans).toHaveLength(1);
    expect(scans[0]).toContain(`id > ${ids[5]! - 1}`);
  });

  // Each takes the first job of the queue away, and returns a function that brings it back.
  const OTHER_RETURNS: Record<string, (here: OpenStore, world: World, application: DataSource) => Promise<Act>> = {
    async 'been replaced'({ jobs }) {
      const put = (delayMs: number | null) => jobs.enqueueKeyed([[replacing(delayMs)]]);
      await put(9_000_000);
      return () => put(null);
    },

    async 'been replaced in a transaction'({ jobs }, world, application) {
      const put = (delayMs: number | null) =>
        application.transaction((manager) => jobs.enqueueKeyedInTransaction([replacing(delayMs)], manager));
      await put(9_000_000);
      return () => put(null);
    },

    async 'been replaced by an administrator'({ jobs, admin }) {
      await jobs.enqueueKeyed([[replacing(9_000_000)]]);
      return () => admin.enqueueKeyed(replacing(null));
    },

    async 'been rescued'({ jobs }, world) {
      await world.put({});
      await world.claim({ leaseMs: 1_000 });
      return () => {
        world.advance(2_000);
        return jobs.rescue(rescueRules());
      };
    },

    async 'been unblocked'({ flows }) {
      const jobs = [newJob({ isBlocked: true }), newJob()];
      const { jobIds } = await flows.create({ jobs, edges: [{ job: 0, needs: 1, onFailure: 'cancel' }] });
      return () => flows.settle([jobIds[1]!], () => 60_000);
    },

    async 'been woken by a signal'({ jobs, steps }, world) {
      const [jobId] = await world.put({});
      const taken = await claimFrom(jobs, { limit: 1 });
      const signal = { name: 'approval', key: 'k', hash: signalHash('approval', 'k') };
      const wait = await steps.waitForSignal({ jobId: jobId!, claimId: taken.id }, 'approval', signal, 9_000_000);
      const { untilMs } = wait as { untilMs: number };
      await jobs.complete(finalBatchOf(taken, { kind: 'snooze', delayMs: 9_000_000, untilMs, signal: signal.hash }));
      return async () => {
        await steps.signal({ ...signal, data: '5' });
        await steps.wakeWaiting(signal.hash);
      };
    },

    async 'been released by their owner'({ consumer }, world) {
      const [id] = await world.put({});
      await consumer.assign(id!, { workerId: 'w', owner: 'ann', leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
      return () => consumer.end(id!, { owner: 'ann' }, () => ({ outcome: outcomes.release, retentionMs: false }));
    },
  };

  it.each(Object.entries(OTHER_RETURNS))('starts before the first job that has %s', async (_, takeAway) => {
    const world = await setup();
    const scans: string[] = [];
    const driver = interceptingDriver((sql) => {
      if (sql.includes('AS moreUrgent')) scans.push(sql);
      return Promise.resolve();
    });
    const application = await world.connect({ driver });
    const here = await world.open({ dataSource: application });
    const bringBack = await takeAway(here, world, application);
    const [{ id: first }] = (await world.sql<{ id: number }>('SELECT MIN(id) AS id FROM sql_queue_jobs')) as [
      { id: number },
    ];
    await world.put({}, {}, {}, {});
    await here.jobs.complete(finalBatchOf(await claimFrom(here.jobs, { limit: 3 })));
    scans.length = 0;

    await bringBack();

    expect(idsOf(await here.jobs.claim(claimRequest({ limit: 1 })))).toEqual([Number(first)]);
    expect(scans).toHaveLength(1);
    expect(scans[0]).toContain(`id > ${Number(first) - 1}`);
  });

  it('finds a returned job that is more urgent than all jobs that were claimed since', async () => {
    const world = await setup();
    const [urgent] = await world.put({ priority: -1 });
    await world.put({}, {}, {});
    const { jobs } = await world.open();
    const failing = await claimFrom(jobs, { limit: 1 });
    await jobs.complete(finalBatchOf(await claimFrom(jobs, { limit: 2 })));

    await jobs.complete(finalBatchOf(failing, outcomes.retry));

    // A claim that comes short would look for missed jobs.
    expect(idsOf(await jobs.claim(claimRequest({ limit: 1 })))).toEqual([urgent]);
  });

  it('finds it if the claim was under way that advanced the cursors past it', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 5 }, () => ({})));
    let listen: (sql: string) => Promise<void> = () => Promise.resolve();
    const driver = interceptingDriver((sql) => listen(sql));
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    const failing = await claimFrom(jobs, { limit: 1 });
    const held = gate();
    const committing = gate();
    let commits = 0;
    listen = async (sql) => {
      if (sql !== 'COMMIT' || commits++ > 0) return;
      held.open();
      await committing.opened;
    };
    const one = jobs.claim(claimRequest({ limit: 2 }));
    await held.opened;
    await jobs.complete(finalBatchOf(failing, outcomes.retry));
    committing.open();
    await one;

    expect(idsOf(await jobs.claim(claimRequest({ limit: 2 })))).toEqual([ids[0], ids[3]]);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'the missed-work check', (setup) => {
  it('runs each second also while jobs return to the queue more often', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const [first] = await world.put({}, {}, {});
    const looked = gate();
    const driver = interceptingDriver(
      () => Promise.resolve(),
      (sql) => /SELECT priority, id\s.*FORCE INDEX \(sql_queue_jobs_queue\)/s.test(sql) && looked.open(),
    );
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    const elsewhere = await claimFrom(world.jobs, { limit: 1 });
    let failing = await claimFrom(jobs, { limit: 1 });
    await world.jobs.complete(finalBatchOf(elsewhere, outcomes.release));
    const failAndClaim = async () => {
      await clock.advance(300);
      await jobs.complete(finalBatchOf(failing, outcomes.retry));
      failing = await claimFrom(jobs, { limit: 1 });
      return failing.jobs[0]!.id;
    };

    // All claims are full, so that only the check can find the first job.
    for (let times = 0; times < 4; times++) await failAndClaim();
    await looked.opened;

    expect([await failAndClaim(), await failAndClaim()]).toContain(first);
  });

  it('runs again after ten seconds at most, even if the last one took longer', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const [first, , third] = await world.put({}, {}, {});
    const isLook = (sql: string) => /SELECT priority, id\s.*FORCE INDEX \(sql_queue_jobs_queue\)/s.test(sql);
    const looked = gate();
    let looks = 0;
    const driver = interceptingDriver(
      async (sql) => {
        if (isLook(sql) && looks++ === 0) await clock.advance(20_000);
      },
      (sql) => isLook(sql) && looked.open(),
    );
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 1 });
    await clock.advance(1_000);
    await jobs.claim(claimRequest({ limit: 1 }));
    await looked.opened;
    const last = await jobs.claim(claimRequest({ limit: 9 }));
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    await clock.advance(10_000);
    const found = await jobs.claim(claimRequest({ limit: 9 }));

    expect(idsOf(last)).toEqual([third]);
    expect(idsOf(found)).toEqual([first]);
  });

  it('runs after the transaction of outcomes and a claim that finds no jobs', async () => {
    const world = await setup();
    await world.put({}, {});
    const statements: string[] = [];
    const looked = gate();
    const isLook = (sql: string) => /SELECT priority, id\s.*FORCE INDEX \(sql_queue_jobs_queue\)/s.test(sql);
    const driver = interceptingDriver(
      (sql) => Promise.resolve(void statements.push(isLook(sql) ? 'look' : sql)),
      (sql) => isLook(sql) && looked.open(),
    );
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 2 });
    statements.length = 0;

    const { jobs: claimed } = await jobs.completeAndClaim(finalBatchOf(taken), claimRequest());
    await looked.opened;

    expect(claimed).toEqual([]);
    expect(statements.indexOf('COMMIT')).toBeGreaterThan(0);
    expect(statements.indexOf('look')).toBeGreaterThan(statements.indexOf('COMMIT'));
  });

  it('pauses after two slow ones, but not for a claim that waits for it', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const [first] = await world.put({}, {});
    let looks = 0;
    const driver = interceptingDriver(async (sql) => {
      if (!IS_CHECK.test(sql)) return;
      looks++;
      await clock.advance(500);
    });
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 1 });
    for (let claims = 0; claims < 3; claims++) await jobs.claim(claimRequest({ limit: 9 }));
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    const ofWorker = await jobs.claim(claimRequest({ limit: 9, onMissedWork: () => undefined }));

    expect({ ofWorker, looks }).toEqual({ ofWorker: [], looks: 2 });
    expect(idsOf(await jobs.claim(claimRequest({ limit: 9 })))).toEqual([first]);
  });

  it('runs for a claim that finds no jobs also beside another check', async () => {
    const world = await setup();
    const [first] = await world.put({});
    const [looking, answering, found] = [gate(), gate(), gate()];
    let looks = 0;
    const driver = interceptingDriver(async (sql) => {
      if (!IS_CHECK.test(sql) || looks++ > 0) return;
      looking.open();
      await answering.opened;
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 1 });
    await jobs.claim(claimRequest({ onMissedWork: () => undefined }));
    await looking.opened;
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    await jobs.claim(claimRequest({ onMissedWork: found.open }));
    await found.opened;
    answering.open();

    expect(idsOf(await jobs.claim(claimRequest()))).toEqual([first]);
  });

  it('that fails is made up for by a claim from the head of the queue', async () => {
    const world = await setup();
    const [first] = await world.put({}, {});
    let failures = 0;
    const driver = interceptingDriver((sql) => {
      if (!IS_CHECK.test(sql)) return Promise.resolve();
      failures++;
      return Promise.reject(Object.assign(new Error('Table is full'), { errno: 1114, code: 'ER_RECORD_FILE_FULL' }));
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 1 });
    await jobs.claim(claimRequest({ limit: 9 }));
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    expect(idsOf(await jobs.claim(claimRequest({ limit: 9 })))).toEqual([first]);
    expect(failures).toBeGreaterThan(0);
  });

  it('is not made for LIFO claims, which use no cursors', async () => {
    const world = await setup();
    const clock = new FakeClock();
    await world.put({}, {}, {});
    let looks = 0;
    const driver = interceptingDriver((sql) => Promise.resolve(void (IS_CHECK.test(sql) && looks++)));
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    for (let claims = 0; claims < 3; claims++) {
      await jobs.claim(claimRequest({ order: 'lifo', limit: 1 }));
      await clock.advance(5_000);
    }
    await jobs.claim(claimRequest({ order: 'lifo' }));

    expect(looks).toBe(0);
  });

  it('runs at once after a claim that finds no jobs, even right after the last one', async () => {
    const world = await setup();
    const [first] = await world.put({}, {}, {});
    const { jobs } = await world.open({ clock: new FakeClock() });
    const taken = await claimFrom(jobs, { limit: 1 });
    await jobs.claim(claimRequest({ limit: 9 }));
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    expect(idsOf(await jobs.claim(claimRequest({ limit: 9 })))).toEqual([first]);
  });
});

// Such checks pass many active jobs, or jobs that a long transaction keeps. A poll would pass them, too.
describeStoresOf(['mysql', 'mariadb'], 'a poll after two slow missed-work checks', (setup) => {
  const CHECK_MS = 500;
  const MAX_PAUSE_MS = 10_000;

  /** A store with cursors behind the taken job and another one. `onCheck` sets what happens at the following checks. */
  async function slow() {
    const world = await setup();
    const clock = new FakeClock();
    await world.jobs.chooseStrategies(new Map([['q', 'auto']]));
    const [first] = await world.put({}, {});
    let onCheck = () => clock.advance(CHECK_MS);
    const driver = interceptingDriver((sql) => (IS_CHECK.test(sql) ? onCheck() : Promise.resolve()));
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    const taken = await claimFrom(jobs, { limit: 1 });
    for (let claims = 0; claims < 3; claims++) await jobs.claim(claimRequest({ limit: 9 }));
    const isWaiting = async () => (await jobs.summarizeWork(['q'])).queues.get('q')!.waiting;
    return { world, clock, jobs, first, taken, isWaiting, on: (act: typeof onCheck) => void (onCheck = act) };
  }

  it('finds new jobs at once, also more urgent ones', async () => {
    const { world, jobs, isWaiting } = await slow();
    expect(await isWaiting()).toBe(false);

    const ids = await world.put({});
    expect(await isWaiting()).toBe(true);
    expect(idsOf(await jobs.claim(claimRequest()))).toEqual(ids);
    expect(await isWaiting()).toBe(false);

    await world.put({ priority: -5 });
    expect(await isWaiting()).toBe(true);
  });

  it('reports no job that another process has claimed behind the cursors', async () => {
    const { world, isWaiting } = await slow();

    await world.put({}, {});
    await claimFrom(world.jobs, { limit: 2 });

    expect(await isWaiting()).toBe(false);
  });

  it('finds a job that another process has returned when the next check is due', async () => {
    const { world, clock, jobs, first, taken, isWaiting } = await slow();
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));
    expect(await isWaiting()).toBe(false);

    await clock.advance(MAX_PAUSE_MS);

    expect(await isWaiting()).toBe(true);
    expect(idsOf(await jobs.claim(claimRequest()))).toEqual([first]);
  });

  it('asks so for ten queues at most', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const queues = Array.from({ length: 11 }, (_, index) => `q${index}`);
    await world.jobs.chooseStrategies(new Map(queues.map((queue) => [queue, 'auto'])));
    let asked = 0;
    const driver = interceptingDriver(async (sql) => {
      if (IS_CHECK.test(sql)) await clock.advance(CHECK_MS);
      if (sql.includes('AS isAfter')) asked++;
    });
    const { jobs } = await world.open({ clock, dataSource: await world.connect({ driver }) });
    for (const queue of queues) {
      await world.put({ queue }, { queue });
      for (let claims = 0; claims < 4; claims++) await jobs.claim(claimRequest({ queue, limit: claims || 1 }));
    }

    const summary = await jobs.summarizeWork(queues);

    expect(asked).toBe(10);

    asked = 0;
    await jobs.summarizeWork(queues, [], queues.slice(0, 1));
    expect(asked).toBe(10);
    expect(queues.filter((queue) => summary.queues.get(queue)!.waiting)).toEqual([]);
  });

  it('reads the whole queue again after a check that fails', async () => {
    const { world, clock, taken, isWaiting, on } = await slow();
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));
    on(() => Promise.reject(Object.assign(new Error('Invalid SQL'), { errno: 1064, code: 'ER_PARSE_ERROR' })));
    await clock.advance(MAX_PAUSE_MS);

    await expect(isWaiting()).rejects.toThrow('Invalid SQL');

    expect(await isWaiting()).toBe(true);
  });

  it('reads the whole queue again after two quick checks', async () => {
    const { world, clock, taken, isWaiting, on } = await slow();
    on(() => Promise.resolve());
    for (let checks = 0; checks < 2; checks++) {
      await clock.advance(MAX_PAUSE_MS);
      expect(await isWaiting()).toBe(false);
    }

    await world.jobs.complete(finalBatchOf(taken, outcomes.release));

    expect(await isWaiting()).toBe(true);
  });
});
