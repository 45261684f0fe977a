import type { Limits, Rate } from '../../lib/job/limits/limit-options.js';
import {
  claimRequest,
  completionBatchOf,
  finalBatchOf,
  newJob,
  outcomes,
  rescueRules,
  type Claim,
} from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';

// Ten seconds for each job, so that a slow machine claims no job too many.
const RATE: Rate = { limit: 10, perMs: 100_000, burst: 3, window: 'sliding' };
// No window of this length ends while a test runs.
const WINDOW_MS = 300 * 86_400_000;

interface LimitedClaim extends Claim {
  /** What the claim reported; undefined: the limits allowed all jobs. */
  readonly moreInMs: number | null | undefined;
}

describeStrategies('limits', (setup, { inMemory }) => {
  it('hold for the jobs that run at once in all processes', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 5 });
    await put(world, 20);

    const first = await claim(world, 3);
    const second = await claim(inMemory ? world : await world.open(), 4);
    const third = await claim(world, 4);

    expect([first, second, third].map(({ jobs }) => jobs.length)).toEqual([3, 2, 0]);
    expect([first, second, third].map(({ moreInMs }) => moreInMs)).toEqual([undefined, null, null]);
  });

  it.each(['complete', 'retry', 'release', 'snooze', 'dead', 'cancel'] as const)(
    'allow another job after the outcome %s of one',
    async (kind) => {
      const world = await setup();
      await declare(world, { maxRunning: 2 });
      await put(world, 5);
      const running = await claim(world, 2);

      await world.jobs.complete(
        completionBatchOf(finalBatchOf(running, outcomes[kind]).completions.slice(0, 1), { claims: [] }),
      );

      expect((await claim(world, 5)).jobs).toHaveLength(1);
    },
  );

  it('allow another job in the transaction that completes one', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 2 });
    await put(world, 5);
    const running = await claim(world, 2);

    const { jobs } = await world.jobs.completeAndClaim(
      finalBatchOf(running, outcomes.complete),
      claimRequest({ limit: 5, isLimited: true }),
    );

    expect(jobs).toHaveLength(2);
  });

  it('count no jobs of other queues, and hold for their queue only', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 1 });
    await world.jobs.enqueue([newJob(), newJob({ queue: 'other' }), newJob({ queue: 'other' })]);

    expect((await claim(world, 2, { queue: 'other' })).jobs).toHaveLength(2);
    expect((await claim(world, 2)).jobs).toHaveLength(1);
  });

  it('do not count the jobs of a dead worker once they are rescued', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 2 });
    await put(world, 5);
    await claim(world, 2, { lockId: 0 });
    expect((await claim(world, 1)).jobs).toHaveLength(0);

    world.advance(31_000);
    await world.jobs.rescue(rescueRules());

    expect((await claim(world, 5)).jobs).toHaveLength(2);
  });

  it('count the jobs of a claim whose list another program has damaged', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 2 });
    await put(world, 5);
    await claim(world, 2);
    await world.sql(`UPDATE sql_queue_claims SET job_ids = 'x'`);

    expect((await claim(world, 5)).jobs).toHaveLength(0);
  });

  it('hold for a sliding rate, and report when it allows more', async () => {
    const world = await setup();
    await declare(world, { rate: RATE });
    await put(world, 20);

    const burst = await claim(world, 10);
    const none = await claim(world, 10);
    world.advance(10_000);
    const next = await claim(world, 1);

    expect([burst.jobs.length, none.jobs.length]).toEqual([3, 0]);
    expect(next.jobs.length).toBeGreaterThanOrEqual(1);
    expect(none.moreInMs).toBeGreaterThan(0);
    expect(none.moreInMs).toBeLessThanOrEqual(20_000);
  });

  it('hold for a fixed window, and allow the whole quota in the next one', async () => {
    const world = await setup();
    await declare(world, { rate: { limit: 4, perMs: WINDOW_MS, burst: 1, window: 'fixed' } });
    await put(world, 20);

    const first = await claim(world, 3);
    const second = await claim(world, 3);
    const none = await claim(world, 3);
    world.advance(none.moreInMs!);

    expect([first, second, none].map(({ jobs }) => jobs.length)).toEqual([3, 1, 0]);
    expect(none.moreInMs).toBeLessThanOrEqual(WINDOW_MS);
    expect((await claim(world, 10)).jobs).toHaveLength(4);
  });

  it('hold for a sliding rate if the clock of the server goes an hour ahead and back', async () => {
    const world = await setup();
    await declare(world, { rate: RATE });
    await put(world, 20);

    world.advance(3_600_000);
    const ahead = await claim(world, 10);
    world.advance(-3_600_000);
    const back = [await claim(world, 10), await claim(world, 10)];

    expect([ahead, ...back].map(({ jobs }) => jobs.length)).toEqual([3, 3, 0]);
    expect(back[1]!.moreInMs).toBeLessThanOrEqual(20_000);
  });

  it('end a rest of a minute if the clock of the server goes an hour ahead and back', async () => {
    const world = await setup();
    await world.workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await put(world, 1);

    world.advance(3_600_000);
    await world.limits.rest('q', { delayMs: 60_000 });
    const ahead = await claim(world, 1);
    world.advance(-3_600_000);
    const { queues } = await world.jobs.summarizeWork(['q']);
    const back = await claim(world, 1);
    await world.limits.rest('q', { delayMs: 30_000 });

    expect([ahead, back].map(({ jobs }) => jobs.length)).toEqual([0, 1]);
    expect(queues.get('q')).toMatchObject({ isResting: false });
    expect((await limitsOf(world))!.restsUntil!.getTime()).toBeLessThan(Date.now() + 60_000);
  });

  it('use none of the rate for jobs that do not exist', async () => {
    const world = await setup();
    await declare(world, { rate: RATE });
    await put(world, 1);

    expect((await claim(world, 3)).jobs).toHaveLength(1);
    await put(world, 5);

    expect((await claim(world, 5)).jobs).toHaveLength(2);
  });

  it('hold for a rate and for the jobs that run at once, whichever allows fewer', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 2, rate: RATE });
    await put(world, 20);

    const byRunning = await claim(world, 5);
    await world.jobs.complete(finalBatchOf(byRunning, outcomes.complete));
    const byRate = await claim(world, 5);

    expect([byRunning.jobs.length, byRate.jobs.length]).toEqual([2, 1]);
    expect([byRunning.moreInMs, typeof byRate.moreInMs]).toEqual([null, 'number']);
  });

  it('let a queue rest, and an earlier end of a rest changes nothing', async () => {
    const world = await setup();
    await put(world, 5);
    await world.limits.rest('q', { delayMs: 60_000 });
    await world.limits.rest('q', { delayMs: 1_000 });

    const resting = await claim(world, 5);
    const { queues } = await world.jobs.summarizeWork(['q']);
    world.advance(60_000);

    expect(resting.jobs).toHaveLength(0);
    expect(resting.moreInMs).toBeGreaterThan(50_000);
    expect([...queues.values()]).toEqual([]);
    expect((await claim(world, 5)).jobs).toHaveLength(5);
  });

  it('are reported with the queue while they are set', async () => {
    const world = await setup();
    await world.jobs.chooseStrategies(new Map([['q', 'auto']]));
    const state = async () => (await world.jobs.summarizeWork(['q'])).queues.get('q');
    expect(await state()).toMatchObject({ isLimited: false, isResting: false });

    await declare(world, { maxRunning: 1 });
    expect(await state()).toMatchObject({ isLimited: true, isResting: false });
    await declare(world, {});
    expect(await state()).toMatchObject({ isLimited: false, isResting: false });
    await world.limits.rest('q', { delayMs: 60_000 });
    expect(await state()).toMatchObject({ isLimited: true, isResting: true });
    world.advance(60_000);
    expect(await state()).toMatchObject({ isLimited: false, isResting: false });
  });

  it('of the latest declaration hold, and the store names the queues with other limits before', async () => {
    const world = await setup();

    expect(await declare(world, { maxRunning: 1 })).toEqual([]);
    expect(await declare(world, { maxRunning: 1 })).toEqual([]);
    expect(await declare(world, { maxRunning: 2 })).toEqual(['q']);

    expect(await limitsOf(world)).toEqual({ maxRunning: 2, rate: null, restsUntil: null });
  });

  it('of the administrator hold instead of those from options, one by one', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 1, rate: RATE });

    await world.limits.setLimits('q', { maxRunning: 50 });
    expect(await limitsOf(world)).toMatchObject({ maxRunning: 50, rate: RATE });
    await world.limits.setLimits('q', { rate: false });
    expect(await limitsOf(world)).toMatchObject({ maxRunning: 50, rate: null });
    await declare(world, { maxRunning: 3, rate: RATE });
    expect(await limitsOf(world)).toMatchObject({ maxRunning: 50, rate: null });
    await world.limits.setLimits('q', { maxRunning: null });
    expect(await limitsOf(world)).toMatchObject({ maxRunning: 3, rate: null });
    await world.limits.setLimits('q', { rest: '1h' });
    expect((await limitsOf(world))!.restsUntil).toBeInstanceOf(Date);
    await world.limits.setLimits('q', null);
    expect(await limitsOf(world)).toEqual({ maxRunning: 3, rate: RATE, restsUntil: null });
  });

  it('are reported with the jobs that the rate lets start now', async () => {
    const world = await setup();
    const left = async () => (await world.admin.queues())[0]!.rateLeft;
    await declare(world, { rate: { limit: 4, perMs: 3_600_000, burst: 4, window: 'sliding' } });
    await put(world, 7);

    expect(await left()).toBe(4);
    await claim(world, 3);
    expect(await left()).toBe(1);
    world.advance(3_600_000);
    expect(await left()).toBe(4);
    await world.limits.setLimits('q', { rate: { limit: 5, per: WINDOW_MS, window: 'fixed' } });
    await claim(world, 2);
    expect(await left()).toBe(3);
    world.advance(WINDOW_MS);
    expect(await left()).toBe(5);
    await world.limits.setLimits('q', { rate: false });
    expect(await left()).toBeNull();
  });

  it('of another rate start unused', async () => {
    const world = await setup();
    await declare(world, { rate: { limit: 1, perMs: 86_400_000, burst: 1, window: 'sliding' } });
    await put(world, 5);
    await claim(world, 1);
    expect((await claim(world, 1)).jobs).toHaveLength(0);

    await world.limits.setLimits('q', { rate: { limit: 10, per: '1s', burst: 2 } });

    expect((await claim(world, 5)).jobs).toHaveLength(2);
  });

  it('that another program has written badly do not apply', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 1 });
    await put(world, 5);

    await world.sql(
      `UPDATE sql_queue_limits SET declared = '{"maxRunning":"many","rate":{"limit":0}}', overrides = '{'`,
    );

    expect((await claim(world, 3)).jobs).toHaveLength(3);
    expect(await limitsOf(world)).toEqual({ maxRunning: null, rate: null, restsUntil: null });
  });

  it('hold while many processes claim at the same time', async () => {
    const world = await setup();
    await declare(world, { maxRunning: 7 });
    await put(world, 60);
    const stores = inMemory ? [world] : await Promise.all(Array.from({ length: 4 }, () => world.open()));

    const claims = await Promise.all(stores.flatMap((store) => [claim(store, 3), claim(store, 3)]));

    expect(claims.reduce((sum, { jobs }) => sum + jobs.length, 0)).toBeLessThanOrEqual(7);
    const more = await claim(world, 10);
    expect(claims.reduce((sum, { jobs }) => sum + jobs.length, more.jobs.length)).toBe(7);
  });
});

function declare({ limits }: Pick<World, 'limits'>, given: Partial<Limits>): Promise<string[]> {
  return limits.declareLimits(new Map([['q', { maxRunning: null, rate: null, ...given }]]));
}

function put({ jobs }: Pick<World, 'jobs'>, count: number): Promise<number[]> {
  return jobs.enqueue(Array.from({ length: count }, () => newJob()));
}

async function claim(
  { jobs }: Pick<World, 'jobs'>,
  limit: number,
  given: Partial<ClaimRequest> = {},
): Promise<LimitedClaim> {
  let moreInMs: number | null | undefined;
  const request = claimRequest({
    limit,
    isLimited: true,
    onChoosing: () => (moreInMs = undefined),
    onLimited: (ms) => (moreInMs = ms),
    ...given,
  });
  const claimed = await jobs.claim(request);
  return { id: request.claimId, workerId: request.workerId, jobs: claimed, moreInMs };
}

async function limitsOf({ admin }: World) {
  const record = (await admin.queues()).find(({ queue }) => queue === 'q');
  return record && { maxRunning: record.maxRunning, rate: record.rate, restsUntil: record.restsUntil };
}
