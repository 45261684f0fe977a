import { finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

async function statsOf({ stats }: Pick<World, 'stats'>, queue = 'q') {
  const { queues } = await stats.takeSample();
  return queues.find((one) => one.queue === queue);
}

async function enqueuedBefore({ sql }: World, id: number, ms: number): Promise<void> {
  await sql(`UPDATE sql_queue_jobs SET created_at = created_at - ${ms} WHERE id = ${id}`);
}

const exactly = (value: number) => ({ value, atLeast: false });

describeStores('a sample of the statistics', (setup) => {
  it('counts the jobs of each state like the exact counts', async () => {
    const world = await setup();
    const { put, claim, jobs, admin, consumer } = world;
    await put({}, {}, {}, { delayMs: 60_000 }, { priority: -9 });
    const [dying] = (await claim()).jobs.map(({ id }) => id);
    expect(dying).toBeDefined();
    await put({ priority: -9 });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));
    await put(...Array.from({ length: 3 }, () => ({ group: 'a' })));
    await claim({ limit: 2, startLimit: 1 });
    const [person] = await put({});
    await consumer.assign(person!, { workerId: 'w', owner: 'ann', leaseMs: null }, 'anyone', () => ({
      maxAttempts: 5,
    }));
    await put({ queue: 'other' });

    const { waiting, scheduled, blocked, staged, dead, active, prefetched } = (await statsOf(world))!;

    const counts = await admin.counts('q');
    expect({ waiting, scheduled, blocked, staged, dead }).toEqual({
      waiting: exactly(counts.waiting),
      scheduled: exactly(counts.scheduled),
      blocked: exactly(0),
      staged: exactly(0),
      dead: exactly(1),
    });
    expect({ active, prefetched }).toEqual({ active: counts.active, prefetched: counts.prefetched });
    expect({ active, prefetched, waiting: waiting.value }).toEqual({ active: 3, prefetched: 1, waiting: 4 });
  });

  it('counts up to 10,000 jobs, and says that there may be more', async () => {
    const world = await setup();
    await world.jobs.enqueue(Array.from({ length: 10_050 }, () => newJob()));
    await world.claim({ limit: 10 });

    expect((await statsOf(world))!.waiting).toEqual({ value: 9_990, atLeast: true });
  });

  it('has the age of the oldest waiting job of all priorities, without claimed ones', async () => {
    const world = await setup();
    const [claimed, oldest] = await world.put({ priority: -1 }, { priority: 5 }, {});
    await enqueuedBefore(world, claimed!, 200_000);
    await enqueuedBefore(world, oldest!, 10_000);
    await world.claim();

    const { oldestWaitingMs } = (await statsOf(world))!;

    expect(oldestWaitingMs).toBeGreaterThanOrEqual(10_000);
    expect(oldestWaitingMs).toBeLessThan(100_000);
  });

  it('has the age of the oldest waiting job of the groups, without claimed ones', async () => {
    const world = await setup();
    const [claimed] = await world.put({ group: 'a' });
    await world.claim({ groups: { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' } });
    const [oldest] = await world.put({ group: 'b' }, { group: 'a' });
    await enqueuedBefore(world, claimed!, 200_000);
    await enqueuedBefore(world, oldest!, 10_000);

    const { oldestWaitingMs } = (await statsOf(world))!;

    expect(oldestWaitingMs).toBeGreaterThanOrEqual(10_000);
    expect(oldestWaitingMs).toBeLessThan(100_000);
  });

  it('counts the wait of a delayed job from its due time', async () => {
    const world = await setup();
    await world.put({ delayMs: 60_000 });

    const scheduled = (await statsOf(world))!;
    world.advance(70_000);
    await world.jobs.promote(10);
    const due = (await statsOf(world))!;

    expect(scheduled.oldestWaitingMs).toBeNull();
    expect(scheduled.nextDueInMs).toBeGreaterThan(50_000);
    expect(scheduled.nextDueInMs).toBeLessThanOrEqual(60_000);
    expect(due.nextDueInMs).toBeNull();
    expect(due.oldestWaitingMs).toBeGreaterThanOrEqual(10_000);
    expect(due.oldestWaitingMs).toBeLessThan(60_000);
  });

  it('counts the workers that were seen within the last minute', async () => {
    const world = await setup();
    await world.workers.register({ id: 'killed', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    world.advance(60_001);
    await world.workers.register({
      id: 'here',
      host: 'h',
      pid: 1,
      queues: new Map([
        ['q', 1],
        ['other', 1],
      ]),
    });

    expect([(await statsOf(world))!.workers, (await statsOf(world, 'other'))!.workers]).toEqual([1, 1]);
  });

  it('has a paused queue without jobs', async () => {
    const world = await setup();
    await world.admin.setPaused(['q'], true);

    expect(await statsOf(world)).toMatchObject({
      paused: true,
      waiting: exactly(0),
      oldestWaitingMs: null,
      workers: 0,
    });
  });

  it('replaces the last one for all processes', async () => {
    const world = await setup();
    const another = await world.open();
    await world.put({});
    expect(await another.stats.read()).toMatchObject({ queues: null });

    await world.stats.takeLease(0);
    const sample = await world.stats.takeSample();
    world.advance(7_000);

    const read = await another.stats.read();
    expect(read).toMatchObject(sample);
    expect(read.ageMs).toBeGreaterThanOrEqual(7_000);
    expect(read.ageMs).toBeLessThan(60_000);
  });
});

describeStores('the lease of the next sample', (setup) => {
  it('is given to one process until it has taken the sample', async () => {
    const world = await setup();
    const another = await world.open();

    expect([await world.stats.takeLease(0), await another.stats.takeLease(0)]).toEqual([true, false]);
    const { sampledAtMs } = await world.stats.takeSample();

    expect(await another.stats.takeLease(0)).toBe(false);
    expect([await another.stats.takeLease(sampledAtMs), await world.stats.takeLease(sampledAtMs)]).toEqual([
      true,
      false,
    ]);
  });

  it('ends after 30 seconds if the process dies, also if the server clock was set back', async () => {
    const world = await setup();
    await world.stats.takeLease(0);
    world.advance(20_000);
    expect(await world.stats.takeLease(0)).toBe(false);
    world.advance(10_001);

    expect(await world.stats.takeLease(0)).toBe(true);
    world.advance(-3_600_000);
    expect(await world.stats.takeLease(0)).toBe(true);
  });

  it('is given although another program has damaged the last sample', async () => {
    const world = await setup();
    await world.stats.takeLease(0);
    await world.stats.takeSample();
    await world.sql(`UPDATE sql_queue_stats SET sample = '{'`);

    const { queues, sampledAtMs } = await world.stats.read();

    expect(queues).toBeNull();
    expect(await world.stats.takeLease(sampledAtMs)).toBe(true);
  });
});
