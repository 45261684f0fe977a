import type { GroupRules } from '../../lib/job/groups/group-options.js';
import { claimFrom, claimRequest, finalBatchOf, newJob, outcomes, rescueRules, type Claim } from '../support/jobs.js';
import { eventually } from '../support/eventually.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStrategies, type World } from '../support/stores.js';
import type { NewJob } from '../../lib/job/job.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';

const RULES: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };
const FIFO: GroupRules = { ...RULES, concurrency: 1, onRetry: 'wait' };

describeStrategies('groups', (setup, { server, strategy }) => {
  const hasOneWriter = server.name === 'sqlite' || strategy === 'optimistic' || strategy === 'update';

  it('take turns', async () => {
    const world = await setup();
    await put(world, 'a', 6);
    await put(world, 'b', 2);
    await put(world, 'c', 1);

    const claims = [await claim(world, 3), await claim(world, 3), await claim(world, 3)];

    expect(claims.map(groupsOf)).toEqual(['abc', 'aab', 'aaa']);
  });

  it('run all their jobs if one of them takes the shares that others leave', async () => {
    const world = await setup();
    await put(world, 'a', 7);
    for (const group of ['b', 'c']) await put(world, group, 2);
    await claim(world, 3);
    await world.sql(`DELETE FROM sql_queue_jobs WHERE state = 'waiting' AND group_key IN ('b', 'c')`);

    const claims = [await claim(world, 3), await claim(world, 3), await claim(world, 3), await claim(world, 3)];

    expect(claims.map(groupsOf).join('')).toBe('aaaaaa');
  });

  it('get back a job that another program wrote as one of an idle or unknown group', async () => {
    const world = await setup();
    await put(world, 'a', 1);
    await claim(world, 3);
    for (const group of ['a', 'unknown'])
      await world.sql(
        `INSERT INTO sql_queue_jobs (queue, payload, group_key, runnable) VALUES ('q', '1', '${group}', 3)`,
      );
    await world.sql(`UPDATE sql_queue_jobs SET runnable = 3 WHERE state = 'waiting'`);

    const before = await claim(world, 3);
    await world.jobs.cleanUp(10);

    expect(groupsOf(before)).toBe('');
    expect((await claim(world, 3)).jobs).toMatchObject([{ group: 'a' }, { group: 'unknown' }]);
  });

  it('keep the order of priority and id', async () => {
    const world = await setup();
    const [last, second] = await put(world, 'a', 2, { priority: 5 });
    const [first] = await put(world, 'a', 1, { priority: -5 });
    const middle = await put(world, 'a', 2);

    const { jobs } = await claim(world, 10);

    expect(jobs.map(({ id }) => id)).toEqual([first, ...middle, last, second]);
  });

  it('with one job at a time run their jobs one after the other, in order', async () => {
    const world = await setup();
    const a = await put(world, 'a', 4);
    const b = await put(world, 'b', 4);
    const order: number[] = [];

    for (let times = 0; times < 4; times++) {
      const taken = await claim(world, 10, { groups: FIFO });
      expect(groupsOf(taken)).toBe('ab');
      expect((await claim(world, 10, { groups: FIFO })).jobs).toEqual([]);
      order.push(...taken.jobs.map(({ id }) => id));
      await world.jobs.complete(finalBatchOf(taken, outcomes.complete));
    }

    expect(order.filter((id) => a.includes(id))).toEqual(a);
    expect(order.filter((id) => b.includes(id))).toEqual(b);
    expect((await claim(world, 10, { groups: FIFO })).jobs).toEqual([]);
  });

  it.each(['complete', 'release', 'dead', 'cancel', 'retry'] as const)(
    'with one job at a time have room again after the outcome %s',
    async (kind) => {
      const world = await setup();
      const [first, second] = await put(world, 'a', 2);
      const taken = await claim(world, 5, { groups: FIFO });

      await world.jobs.complete(finalBatchOf(taken, outcomes[kind]));

      const next = kind === 'release' || kind === 'retry' ? first : second;
      expect((await claim(world, 5, { groups: FIFO })).jobs).toMatchObject([{ id: next }]);
    },
  );

  it('claim the next job in the transaction that completes one', async () => {
    const world = await setup();
    const [, second] = await put(world, 'a', 3);
    const taken = await claim(world, 5, { groups: FIFO });

    const request = claimRequest({ limit: 5, groups: FIFO });
    const { jobs } = await world.jobs.completeAndClaim(finalBatchOf(taken, outcomes.complete), request);

    expect(jobs).toMatchObject([{ id: second }]);
  });

  it('keep the place of a job that waits for its next attempt', async () => {
    const world = await setup();
    const [first, second] = await put(world, 'a', 2);
    const taken = await claim(world, 2, { groups: FIFO });

    await world.jobs.complete(finalBatchOf(taken, { ...outcomes.retry, delayMs: 60_000 }));

    expect(taken.jobs).toMatchObject([{ id: first }]);
    expect((await claim(world, 5, { groups: FIFO })).jobs).toEqual([]);
    world.advance(11_000);
    expect((await claim(world, 5, { groups: FIFO })).jobs).toEqual([]);
    await world.admin.remove([first!]);
    world.advance(11_000);
    expect((await claimWhenDue(world, 5, FIFO)).jobs).toMatchObject([{ id: second }]);
  });

  it('keep the place of a job that sleeps, also at another time', async () => {
    const world = await setup();
    const [first, second] = await put(world, 'a', 2);
    await world.jobs.complete(finalBatchOf(await claim(world, 2, { groups: FIFO }), outcomes.snooze));

    await world.admin.edit(first!, 'q', { delay: { delayMs: 3_600_000 } });
    world.advance(60_000);
    await world.jobs.promote(10);
    const kept = await claim(world, 5, { groups: FIFO });
    const asleep = await world.admin.get(first!);
    await world.admin.remove([first!]);
    world.advance(11_000);

    expect(kept.jobs).toEqual([]);
    expect(asleep).toMatchObject({ state: 'scheduled', attempt: 0, dueAt: null });
    expect((await claimWhenDue(world, 5, FIFO)).jobs).toMatchObject([{ id: second }]);
  });

  it.each([
    ['waits for its next attempt', { ...outcomes.retry, delayMs: 60_000 }],
    ['sleeps', outcomes.snooze],
    ['was released', outcomes.release],
  ] as const)('do not keep the place of a job that %s, once another one replaces it', async (_, outcome) => {
    const world = await setup();
    const given = { group: 'a', overrides: '{"key":"k"}' };
    const replace = (delayMs: number | null) =>
      world.jobs.enqueueKeyed([[keyedJob({ key: 'k', onConflict: 'replace' }, { ...given, delayMs })]]);
    await replace(null);
    const [second] = await put(world, 'a', 1);
    await world.jobs.complete(finalBatchOf(await claim(world, 2, { groups: FIFO }), outcome));

    const replaced = await replace(3_600_000);

    expect(replaced).toMatchObject([[{ outcome: 'replaced' }]]);
    expect((await claimWhenDue(world, 5, FIFO)).jobs).toMatchObject([{ id: second }]);
  });

  it('do not keep the place of a dead job that is retried later', async () => {
    const world = await setup();
    const [first] = await put(world, 'a', 1);
    await world.jobs.complete(finalBatchOf(await claim(world, 2, { groups: FIFO }), outcomes.dead));

    await world.admin.replay([first!], { to: undefined, firstMs: 3_600_000, intervalMs: 0, completed: false });
    const [second] = await put(world, 'a', 1);

    expect((await claimWhenDue(world, 5, FIFO)).jobs).toMatchObject([{ id: second }]);
  });

  it('let other jobs pass a job that waits for its next attempt', async () => {
    const world = await setup();
    const [, second] = await put(world, 'a', 2);
    const groups: GroupRules = { ...FIFO, onRetry: 'pass' };
    const taken = await claim(world, 2, { groups });

    await world.jobs.complete(finalBatchOf(taken, { ...outcomes.retry, delayMs: 60_000 }));

    expect((await claim(world, 5, { groups })).jobs).toMatchObject([{ id: second }]);
  });

  it('lose no job if one returns behind more jobs than a claim reads', async () => {
    const world = await setup();
    await put(world, 'a', 1, { priority: 5 });
    const taken = await claim(world, 1);
    const urgent = await put(world, 'a', 13);
    for (const group of ['b', 'c']) await put(world, group, 1);
    const elsewhere = await world.open();
    // Another process lets them join their groups.
    const first = await claimFrom(elsewhere.jobs, { limit: 1, groups: RULES });
    await world.jobs.complete(finalBatchOf(taken, outcomes.release));
    await world.sql(`DELETE FROM sql_queue_jobs WHERE state = 'waiting' AND group_key IN ('b', 'c')`);

    const many = await claim(world, 10);
    const rest = [await claim(world, 10), await claim(world, 10)];

    const claimed = [first, many, ...rest].flatMap(({ jobs }) => jobs).map(({ id }) => id);
    expect(claimed).toEqual(expect.arrayContaining(urgent));
    expect(claimed.at(-1)).toBe(taken.jobs[0]!.id);
  });

  it('give a retried job its place before the others', async () => {
    const world = await setup();
    const [first, second] = await put(world, 'a', 2);
    const taken = await claim(world, 5, { groups: FIFO });
    await world.jobs.complete(finalBatchOf(taken, { ...outcomes.retry, delayMs: 60_000 }));
    world.advance(60_001);
    await world.jobs.promote(10);

    const again = await claim(world, 5, { groups: FIFO });
    await world.jobs.complete(finalBatchOf(again, outcomes.complete));

    expect(again.jobs).toMatchObject([{ id: first, attempt: 2 }]);
    expect((await claim(world, 5, { groups: FIFO })).jobs).toMatchObject([{ id: second }]);
  });

  it('give a rescued job its place before the others', async () => {
    const world = await setup();
    const [first] = await put(world, 'a', 2);
    await claim(world, 5, { groups: FIFO });
    world.advance(31_000);

    await world.jobs.rescue(rescueRules());

    expect((await claim(world, 5, { groups: FIFO })).jobs).toMatchObject([{ id: first }]);
  });

  it('share the slots of all processes', async () => {
    const world = await setup();
    await put(world, 'a', 10);
    const groups = { ...RULES, concurrency: 3 };

    const first = await claim(world, 2, { groups });
    const second = await claim(world, 5, { groups });

    expect([first.jobs.length, second.jobs.length]).toEqual([2, 1]);
  });

  it('count the jobs that ran before the group had a limit', async () => {
    const world = await setup();
    await put(world, 'a', 5);
    await put(world, 'b', 1);
    const running = await claim(world, 3);

    await world.groups.setLimits('q', 'a', { concurrency: 2 });

    expect(groupsOf(running)).toBe('aab');
    expect(groupsOf(await claim(world, 5))).toBe('');
    const [first] = running.jobs.filter(({ group }) => group === 'a');
    await world.jobs.complete(finalBatchOf({ ...running, jobs: [first!] }));
    // The outcome of such a job does not wake its group.
    world.advance(11_000);
    expect(groupsOf(await claimWhenDue(world, 5))).toBe('a');
  });

  it('count the jobs that a process without a limit for them runs', async () => {
    const world = await setup();
    await put(world, 'a', 5);
    const running = await claim(world, 2);

    expect(groupsOf(await claim(world, 5, { groups: { ...RULES, concurrency: 3 } }))).toBe('a');
    world.advance(11_000);
    expect(groupsOf(await claimWhenDue(world, 1))).toBe('a');
    expect(groupsOf(await claim(world, 5, { groups: { ...RULES, concurrency: 4 } }))).toBe('');
    expect(groupsOf(running)).toBe('aa');
  });

  it('count a job that has run for hours without a limit', async () => {
    const world = await setup();
    await put(world, 'a', 1);
    await claim(world, 5, { leaseMs: 86_400_000 });
    // The last claim finds the group idle.
    await claim(world, 5);
    world.advance(2 * 3_600_000);

    await world.groups.prune(10);
    await put(world, 'a', 1);

    expect(groupsOf(await claim(world, 5, { groups: FIFO }))).toBe('');
  });

  it('go on if the clock of the server goes an hour ahead and back', async () => {
    const world = await setup();
    await world.workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await put(world, 'a', 3);
    const rate = { limit: 10, perMs: 100_000, burst: 1, window: 'sliding' } as const;
    const groups: GroupRules = { ...RULES, rate };

    world.advance(3_600_000);
    const ahead = [await claim(world, 3, { groups }), await claim(world, 3, { groups })];
    world.advance(-3_600_000);
    const summary = await world.jobs.summarizeWork(['q']);
    const back = [await claim(world, 3, { groups }), await claim(world, 3, { groups })];

    expect([...ahead, ...back].map(groupsOf)).toEqual(['a', '', 'a', '']);
    expect(summary.queues.get('q')).toMatchObject({ waiting: true });
  });

  it('end a rest of a minute if the clock of the server goes an hour ahead and back', async () => {
    const world = await setup();
    await put(world, 'a', 1);

    world.advance(3_600_000);
    await world.groups.rest('q', 'a', { delayMs: 60_000 });
    const ahead = await claim(world, 1);
    world.advance(-3_600_000);

    expect([ahead, await claimWhenDue(world, 1)].map(groupsOf)).toEqual(['', 'a']);
  });

  it('keep their turns if the clock of the server goes an hour ahead and back', async () => {
    const world = await setup();
    await put(world, 'a', 5);
    world.advance(3_600_000);
    await claim(world, 1);
    world.advance(-3_600_000);
    await put(world, 'b', 100);

    const taken: string[] = [];
    await eventually(async () => {
      taken.push(groupsOf(await claim(world, 1)));
      return taken.filter((group) => group === 'a').length === 4;
    });

    expect(taken.length).toBeLessThan(100);
  });

  it('start no more jobs than their rate', async () => {
    const world = await setup();
    await put(world, 'a', 10);
    await put(world, 'b', 1);
    // No window of this length ends while the test runs.
    const windowMs = 300 * 86_400_000;
    const groups: GroupRules = { ...RULES, rate: { limit: 2, perMs: windowMs, burst: 2, window: 'fixed' } };

    expect(groupsOf(await claim(world, 10, { groups }))).toBe('aab');
    expect(groupsOf(await claim(world, 10, { groups }))).toBe('');
    world.advance(windowMs);
    expect(groupsOf(await claimWhenDue(world, 10, groups))).toBe('aa');
  });

  it('run the jobs without a group as one more group', async () => {
    const world = await setup();
    await world.jobs.enqueue([newJob(), newJob(), newJob()]);
    await put(world, 'a', 3);

    expect(groupsOf(await claim(world, 2))).toBe('a,default');
  });

  it('run the jobs that another program inserts', async () => {
    const world = await setup();
    await world.sql(
      `INSERT INTO sql_queue_jobs (queue, payload, group_key) VALUES ('q', '{"a":1}', 'a'), ('q', '1', 'b')`,
    );

    expect((await claim(world, 5)).jobs).toMatchObject([{ group: 'a', payload: '{"a":1}' }, { group: 'b' }]);
  });

  it('run the jobs that another program inserts with spaces after the name of their group, in order', async () => {
    const world = await setup();
    await put(world, 'a', 1);
    await claim(world, 1);
    await world.sql(
      `INSERT INTO sql_queue_jobs (queue, payload, group_key) VALUES ('q', '1', 'a '), ('q', '2', 'a  '), ('q', '3', ' ')`,
    );
    await put(world, 'a', 1, { payload: '4' });
    for (const group of ['b', 'c']) await put(world, group, 1);

    const claims = [await claim(world, 4), await claim(world, 4)];

    const jobs = claims.flatMap((each) => each.jobs);
    const payloadsOf = (name: string) => jobs.filter(({ group }) => group === name).map(({ payload }) => payload);
    expect(payloadsOf('a')).toEqual(['1', '2', '4']);
    expect(payloadsOf('default')).toEqual(['3']);
    expect(jobs).toHaveLength(6);
  });

  it('run scheduled jobs when they are due', async () => {
    const world = await setup();
    await put(world, 'a', 1, { delayMs: 1_000 });

    expect((await claim(world, 5)).jobs).toEqual([]);
    world.advance(1_001);
    await world.jobs.promote(10);
    expect((await claimWhenDue(world, 5)).jobs).toMatchObject([{ group: 'a' }]);
  });

  it('survive in the history, and when a dead job is retried', async () => {
    const world = await setup();
    await put(world, 'a', 2);
    const taken = await claim(world, 1);
    await world.jobs.complete(finalBatchOf(taken, outcomes.dead));
    await world.jobs.complete(finalBatchOf(await claim(world, 1), outcomes.complete));
    const ids = (await world.admin.find({ queue: 'q' }, { limit: 10, order: 'oldest' })).jobs;

    await world.admin.retry([taken.jobs[0]!.id]);

    expect(ids.map(({ group }) => group)).toEqual(['a', 'a']);
    expect((await claim(world, 1)).jobs).toMatchObject([{ id: taken.jobs[0]!.id, group: 'a' }]);
  });

  it('do not wait for a job of another group that a transaction has locked, and pass no locked job', async () => {
    if (hasOneWriter) return; // A transaction of SQLite holds up every other writer.
    const world = await setup();
    const [first] = await put(world, 'a', 2);
    await put(world, 'b', 2);
    await claim(world, 1, { groups: { ...RULES, concurrency: 0 } });
    const blocked: number[] = [];
    const other = await world.connect();
    await other.transaction(async (manager) => {
      await manager.query(`SELECT id FROM sql_queue_jobs WHERE id = ${first} FOR UPDATE`);
      const { jobs } = await claim(world, 10);
      blocked.push(...jobs.filter(({ group }) => group === 'a').map(({ id }) => id));
    });
    world.advance(11_000);

    expect(blocked).toEqual([]);
    expect(groupsOf(await claimWhenDue(world, 10))).toContain('aa');
  });

  it('count as waiting', async () => {
    const world = await setup();
    await put(world, 'a', 2);
    await world.jobs.enqueue([newJob()]);
    const before = await world.jobs.countWaiting('q', 10);
    await claim(world, 1);

    expect(before).toBe(3);
    expect(await world.jobs.countWaiting('q', 10)).toBe(2);
    expect((await world.jobs.summarizeWork(['q'])).queues.get('q') ?? { waiting: true, hasGroups: true }).toMatchObject(
      {
        waiting: true,
        hasGroups: true,
      },
    );
  });

  it('leave other queues alone', async () => {
    const world = await setup();
    await world.jobs.enqueue([newJob({ queue: 'other' }), newJob({ queue: 'other' })]);
    await put(world, 'a', 1);

    expect((await world.claim({ queue: 'other', limit: 5 })).jobs).toHaveLength(2);
    expect((await world.claim({ limit: 5 })).jobs).toEqual([]);
  });
});

function groupsOf({ jobs }: Claim): string {
  const names = jobs.map(({ group }) => group!).sort();
  return names.join(names.includes('default') ? ',' : '');
}

function put(world: World, group: string, count: number, more: Partial<NewJob> = {}): Promise<number[]> {
  return world.jobs.enqueue(Array.from({ length: count }, () => newJob({ group, ...more })));
}

async function claim(world: World, limit: number, request: Partial<ClaimRequest> = {}): Promise<Claim> {
  return world.claim({ limit, groups: RULES, ...request });
}

/** A claim may still receive what a refresh has read that began before the clock went on. */
function claimWhenDue(world: World, limit: number, groups = RULES): Promise<Claim> {
  return eventually(async () => {
    const claimed = await claim(world, limit, { groups });
    return claimed.jobs.length > 0 && claimed;
  });
}
