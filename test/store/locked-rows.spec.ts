import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { NewJob } from '../../lib/job/job.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import { limitPages } from '../../lib/common/lists.js';
import { archivedTo } from '../support/archives.js';
import { finalBatchOf, idsOf, LEASE_MS, newJob, outcomes, rescueRules } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf, type World } from '../support/stores.js';

const LIMIT = 20;
const HOUR_MS = 3_600_000;
const FREE: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };
const ONE_AT_A_TIME: GroupRules = { ...FREE, concurrency: 1, onRetry: 'wait' };

// Each operation reads LIMIT rows at a time. More rows than that are locked, and precede the free ones.
describeStoresOf(['mysql', 'mariadb'], 'rows that another transaction has locked', (setup) => {
  /** Runs `act` while an open transaction holds locks on exactly these rows. */
  function whileLocked<T>(
    { dataSource }: World,
    [table, key]: [table: string, key: string],
    values: readonly unknown[],
    act: () => Promise<T>,
  ): Promise<T> {
    return dataSource.transaction('READ COMMITTED', async (manager) => {
      const sql = `SELECT * FROM sql_queue_${table} FORCE INDEX (PRIMARY) WHERE ${key} = ? FOR UPDATE`;
      for (const value of values) await manager.query(sql, [value]);
      return act();
    });
  }

  const many = <T>(value: T): T[] => Array.from({ length: LIMIT + 5 }, () => value);

  it('do not keep due jobs behind them from being promoted', async () => {
    const world = await setup();
    const locked = await world.put(...many({ delayMs: 1_000 }));
    const free = await world.put({ delayMs: 2_000 }, { delayMs: 2_000, queue: 'other' });
    world.advance(3_000);

    const { length: promoted } = await whileLocked(world, ['jobs', 'id'], locked, () => world.jobs.promote(LIMIT));

    expect(promoted).toBe(2);
    const waiting = await world.sql<{ id: string }>(`SELECT id FROM sql_queue_jobs WHERE state = 'waiting'`);
    expect(waiting.map(({ id }) => Number(id))).toEqual(free);
    expect(await world.jobs.promote(LIMIT)).toHaveLength(LIMIT);
  });

  it('do not keep jobs with the same due time from being promoted', async () => {
    const world = await setup();
    const runAtMs = Date.now() - 1_000;
    const priorities = many({ runAtMs }).map((job, n) => ({ ...job, priority: (n % 3) - 1 }));
    const locked = await world.put(...priorities);
    await world.put(...many({ runAtMs, priority: 0 }).slice(0, LIMIT - 1), { runAtMs, priority: 1 });

    const { length: promoted } = await whileLocked(world, ['jobs', 'id'], locked, () => world.jobs.promote(LIMIT));

    expect(promoted).toBe(LIMIT);
    expect(await world.jobs.promote(2 * LIMIT)).toHaveLength(locked.length);
  });

  it('do not hide the next due time and the next lease expiry', async () => {
    const world = await setup();
    await world.workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await world.put({}, {});
    const { jobs: lapsed } = await world.claim({ leaseMs: 1_000 });
    await world.claim({ leaseMs: LEASE_MS + 4_000 });
    const [due] = await world.put({ delayMs: 1_000 }, { delayMs: HOUR_MS });
    world.advance(4_000);

    const upcoming = await whileLocked(world, ['jobs', 'id'], [due, ...idsOf(lapsed)], async () => {
      await world.jobs.rescue(rescueRules());
      await world.jobs.promote(LIMIT);
      expect(await world.jobs.summarizeWork(['q'])).toMatchObject({ dueInMs: 0, leaseExpiryInMs: 0 });
      return world.jobs.readUpcomingTimes();
    });

    expect(upcoming.dueInMs).toBeGreaterThan(LEASE_MS);
    expect(upcoming.leaseExpiryInMs).toBeGreaterThan(0);
    expect(upcoming.leaseExpiryInMs).toBeLessThanOrEqual(LEASE_MS);
  });

  it.each([undefined, archivedTo('kept_jobs')])(
    'do not keep other jobs from being pruned (archives: %o)',
    async (archives) => {
      const world = await setup();
      const { jobs } = await world.open({ archives });
      await world.put(...many({}));
      const first = await world.claim({ limit: LIMIT + 5 });
      await jobs.complete(finalBatchOf(first, outcomes.complete, { retentionMs: 0 }));
      world.advance(1);
      await world.put({});
      await jobs.complete(finalBatchOf(await world.claim(), outcomes.complete, { retentionMs: 0 }));
      world.advance(1);

      const pruned = await whileLocked(world, ['history', 'id'], idsOf(first.jobs), () => jobs.prune(LIMIT));

      expect(pruned).toBe(1);
      expect(await world.sql('SELECT id FROM sql_queue_history')).toHaveLength(first.jobs.length);
      expect([await jobs.prune(LIMIT), await jobs.prune(LIMIT)]).toEqual([LIMIT, 5]);
    },
  );

  it('do not keep unused keys from being deleted', async () => {
    const world = await setup();
    await world.jobs.enqueueKeyed(many(0).map((_, n) => [keyedJob({ key: `locked ${n}` })]));
    const locked = await world.sql<{ hash: string }>('SELECT key_hash AS hash FROM sql_queue_keys');
    world.advance(1);
    await world.jobs.enqueueKeyed([[keyedJob({ key: 'free' })]]);
    await world.sql('DELETE FROM sql_queue_jobs');
    world.advance(3 * HOUR_MS);
    const hashes = locked.map(({ hash }) => hash);

    const pruned = await whileLocked(world, ['keys', "queue = 'q' AND key_hash"], hashes, () =>
      world.jobs.pruneKeys(LIMIT),
    );

    expect(pruned).toBe(1);
    expect([await world.jobs.pruneKeys(LIMIT), await world.jobs.pruneKeys(LIMIT)]).toEqual([LIMIT, 5]);
  });

  it('do not keep expired waits from being deleted', async () => {
    const world = await setup();
    const ids = many(0).map((_, n) => n + 1);
    await world.waits.register(1, ids, 1_000);
    await world.waits.register(2, [1], 2_000);
    world.advance(3_000);

    const pruned = await whileLocked(world, ['waits', 'waiter = 1 AND job_id'], ids, () =>
      world.waits.pruneWaits(LIMIT),
    );

    expect(pruned).toBe(1);
    expect([await world.waits.pruneWaits(LIMIT), await world.waits.pruneWaits(LIMIT)]).toEqual([LIMIT, 5]);
  });

  it('do not keep the progress of other jobs from being deleted', async () => {
    const world = await setup();
    await world.put(...many({}), {});
    const taken = await world.claim({ limit: LIMIT + 6 });
    const ids = idsOf(taken.jobs);
    for (const part of [ids.slice(0, -1), ids.slice(-1)]) {
      await world.jobLogs.writeJobLogs(part.map((jobId) => ({ jobId, claimId: taken.id, value: '1', lines: [] })));
      world.advance(1);
    }
    await world.sql('DELETE FROM sql_queue_jobs');
    world.advance(HOUR_MS);

    const pruned = await whileLocked(world, ['progress', 'job_id'], ids.slice(0, -1), () =>
      world.jobLogs.pruneJobLogs(LIMIT),
    );

    expect(pruned).toBe(1);
    expect(await world.sql('SELECT job_id FROM sql_queue_progress')).toHaveLength(ids.length - 1);
    expect([await world.jobLogs.pruneJobLogs(LIMIT), await world.jobLogs.pruneJobLogs(LIMIT)]).toEqual([LIMIT, 5]);
  });

  it('do not keep old events from being deleted', async () => {
    const world = await setup();
    const eventOutbox = { emitsEvents: () => true, onEventsCommitted: () => {} };
    const { jobs } = await world.open({ eventOutbox });
    await jobs.enqueue(many({ ...keyedJob({}), key: undefined }));
    const locked = await world.sql<{ id: number }>('SELECT id FROM sql_queue_events');
    await jobs.enqueue([{ ...keyedJob({}), key: undefined }]);
    world.advance(HOUR_MS);

    const pruned = await whileLocked(world, ['events', 'id'], idsOf(locked), () => world.events.pruneEvents(LIMIT));

    expect(pruned).toBe(1);
    expect([await world.events.pruneEvents(LIMIT), await world.events.pruneEvents(LIMIT)]).toEqual([LIMIT, 5]);
  });

  it('do not keep the stages of other deleted jobs from being cleaned up', async () => {
    const world = await setup();
    const ids = await world.put(...many({}), {});
    for (const id of ids) {
      await world.sql(`INSERT INTO sql_queue_stages (job_id, queue, stage, priority) VALUES (?, 'q', 's', 0)`, [id]);
    }
    await world.sql('DELETE FROM sql_queue_jobs');

    const swept = await whileLocked(world, ['stages', 'job_id'], ids.slice(0, -1), async () => [
      await world.jobs.cleanUp(LIMIT),
      await world.jobs.cleanUp(LIMIT),
    ]);

    expect(swept).toEqual([0, 1]);
    expect([await world.jobs.cleanUp(LIMIT), await world.jobs.cleanUp(LIMIT)]).toEqual([LIMIT, 5]);
  });

  it('do not keep other temporary queues from expiring', async () => {
    const world = await setup();
    for (const queue of ['a', 'b']) {
      await world.queues.declare([{ queue, expiresAfterMs: 1_000, subscriptions: [] }]);
    }
    world.advance(2_000);

    const removed = await whileLocked(world, ['queues', 'queue'], ['a'], () => world.queues.expire());

    expect(removed).toEqual(['b']);
    expect(await world.queues.expire()).toEqual(['a']);
  });

  describe('groups', () => {
    afterEach(() => limitPages(Infinity));

    const names = many(0).map((_, n) => `g${n + 10}`);
    const put = (world: World, groups: readonly string[], given: Partial<NewJob> = {}) =>
      world.jobs.enqueue(groups.map((group) => newJob({ group, ...given })));
    const claim = (world: World, given: Partial<ClaimRequest> = {}) =>
      world.claim({ limit: 2, groups: ONE_AT_A_TIME, ...given });
    const whileGroupsLocked = <T>(world: World, groups: readonly string[], act: () => Promise<T>) =>
      whileLocked(world, ['groups', 'group_key'], groups, act);
    /** Lets the jobs join their groups. These are ready afterwards, in the order of their names. */
    const join = async (world: World) => {
      for (let joined = 0; joined < 3; joined++) await claim(world, { groups: { ...FREE, concurrency: 0 } });
      world.advance(11_000);
      await world.sql(`UPDATE sql_queue_groups SET state = 'ready', turn = 1 WHERE state = 'blocked'`);
    };
    const claimed = async (world: World, given: Partial<ClaimRequest> = {}) => {
      for (let claims = 0; claims < 5; claims++) {
        const { jobs } = await claim(world, given);
        if (jobs.length > 0) return jobs.map(({ group }) => group);
      }
      return [];
    };

    it.each([2, Infinity])('do not keep the groups behind them from being claimed, in pages of %s', async (size) => {
      const world = await setup();
      await put(world, [...names, 'z1', 'z2']);
      await join(world);
      limitPages(size);

      const groups = await whileGroupsLocked(world, names, () => claimed(world));

      expect(groups).toEqual(['z1', 'z2']);
    });

    it.each([2, Infinity])('do not keep jobs from joining other groups, in pages of %s', async (size) => {
      const world = await setup();
      await put(world, names);
      await join(world);
      limitPages(size);
      await put(world, names);
      await put(world, ['z1', 'z2']);

      const groups = await whileGroupsLocked(world, names, async () => {
        const found = [...(await claimed(world)), ...(await claimed(world))];
        // Pages of two arrivals are read one after the other.
        for (let refreshes = 0; found.length < 2 && refreshes < 2 * names.length; refreshes++)
          found.push(...(await claimed(world)));
        return found;
      });

      expect(new Set(groups)).toEqual(new Set(['z1', 'z2']));
    });

    it.each([2, Infinity])('do not keep other groups from being examined again, in pages of %s', async (size) => {
      const world = await setup();
      await put(world, [...names, 'z1', 'z2']);
      await join(world);
      await world.sql(`UPDATE sql_queue_groups SET state = 'blocked', turn = 2`);
      limitPages(size);

      const groups = await whileGroupsLocked(world, names, async () => {
        const found: (string | null)[] = [];
        for (let refreshes = 0; found.length < 2 && refreshes < 2 * names.length; refreshes++)
          found.push(...(await claimed(world)));
        return found;
      });

      expect(new Set(groups)).toEqual(new Set(['z1', 'z2']));
    });

    it('do not keep the outcomes of jobs of other groups from being stored', async () => {
      const world = await setup();
      await put(world, ['a', 'b']);
      const taken = await claim(world);
      const batch = finalBatchOf(taken);

      const error = await whileGroupsLocked(world, ['a'], () => world.jobs.complete(batch).catch((e: unknown) => e));

      const ofGroup = (group: string) => batch.completions.filter(({ job }) => job.group === group);
      expect(error).toMatchObject({ name: 'Error', completions: new Set(ofGroup('a')) });
      const others = await whileGroupsLocked(world, ['a'], () =>
        world.jobs.complete({ ...batch, completions: ofGroup('b'), claims: [] }),
      );
      expect(others.lost.size).toBe(0);
    });

    it('do not keep other unused groups from being deleted', async () => {
      const world = await setup();
      await put(world, [...names, 'z1', 'z2']);
      const taken = await world.claim({ limit: 100, groups: FREE });
      await world.jobs.complete(finalBatchOf(taken));
      world.advance(2 * HOUR_MS);
      limitPages(2);

      const deleted = await whileGroupsLocked(world, names, () => world.groups.prune(LIMIT));

      expect(deleted).toBe(2);
      expect(await world.groups.prune(1_000)).toBe(names.length);
    });
  });

  it.each([2, Infinity])('do not keep jobs of a stage behind them from being claimed, in pages of %s', async (size) => {
    const world = await setup();
    const ids = await world.put(...many(many({})).flat().slice(0, 150), {}, {});
    for (const [n, id] of ids.entries())
      await world.sql(`INSERT INTO sql_queue_stages (job_id, queue, stage, priority) VALUES (?, 'q', 's', ?)`, [
        id,
        n % 2,
      ]);
    await world.sql('UPDATE sql_queue_jobs SET runnable = 2');
    const [last, free] = [ids.pop(), ids.pop()];
    limitPages(size);

    const request = { workerId: 'w', queue: 'q', stage: 's', limit: 2, maxAttempts: 3, owner: 'ann', leaseMs: null };
    const assigned = await whileLocked(world, ['jobs', 'id'], ids, () =>
      world.consumer.claimFromStage({ ...request, deadLetter: false }),
    );
    limitPages(Infinity);

    expect(new Set(assigned.map(({ job }) => job.id))).toEqual(new Set([free, last]));
  });

  it.each(['the head of the queue', 'a scan cursor'])(
    'do not keep jobs of a limited queue from being claimed behind %s',
    async (from) => {
      const world = await setup();
      await world.limits.declareLimits(new Map([['q', { maxRunning: 100, rate: null }]]));
      if (from === 'a scan cursor') {
        await world.put({}, {});
        await world.claim({ limit: 2, isLimited: true });
      }
      const locked = await world.put(...many({}));
      const free = await world.put({}, {});

      const { jobs } = await whileLocked(world, ['jobs', 'id'], locked, () =>
        world.claim({ limit: 2, isLimited: true }),
      );

      expect(idsOf(jobs)).toEqual(free);
    },
  );
});
