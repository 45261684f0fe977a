import { finalBatchOf, ERROR, outcomes, rescueRules } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

describeStores('readJobs()', (setup) => {
  it('returns each existing job with its state, result and error', async () => {
    const { put, claim, jobs, waits } = await setup();
    const end = async (outcome: Parameters<typeof finalBatchOf>[1]) => {
      const taken = await claim();
      await jobs.complete(finalBatchOf(taken, outcome));
    };
    const [completed, dead, cancelled, active, waiting, scheduled] = await put({}, {}, {}, {}, {}, { delayMs: 9_000 });
    await end({ kind: 'complete', result: '{"a":1}' });
    await end(outcomes.dead);
    await end(outcomes.cancel);
    await claim();

    const seen = await waits.readJobs([completed!, dead!, cancelled!, active!, waiting!, scheduled!, 4_711]);

    expect(Array.from(seen, ([id, { state, result, error }]) => [id, state, result, error])).toEqual(
      expect.arrayContaining([
        [completed, 'completed', '{"a":1}', null],
        [dead, 'dead', null, ERROR],
        [cancelled, 'cancelled', null, null],
        [active, 'active', null, null],
        [waiting, 'waiting', null, null],
        [scheduled, 'scheduled', null, null],
      ]),
    );
    expect(seen.size).toBe(6);
  });

  it('misses no job that ends during the read', async () => {
    const { put, claim, jobs, waits } = await setup();
    const ids = await put(...Array.from({ length: 100 }, () => ({})));
    const found: number[] = [];
    const look = async () => void found.push((await waits.readJobs(ids)).size);

    for (let n = 0; n < 20; n++) {
      const taken = await claim({ limit: 5 });
      await Promise.all([jobs.complete(finalBatchOf(taken)), look(), look(), look()]);
    }

    expect(found.filter((size) => size !== 100)).toEqual([]);
  });

  it('accepts more ids than one statement holds', async () => {
    const { put, waits } = await setup();
    const [id] = await put({});

    const seen = await waits.readJobs(Array.from({ length: 12_000 }, (_, n) => id! + n));

    expect([...seen.keys()]).toEqual([id]);
  });
});

describeStores('a process that waits for jobs', (setup) => {
  it('is found by the ids of these jobs until it stops waiting', async () => {
    const { waits } = await setup();
    await waits.register(7, [1, 2, 3], 60_000);
    await waits.register(8, [3], 60_000);

    expect(await waits.waitersOf([1, 9])).toEqual([7]);
    expect(new Set(await waits.waitersOf([1, 2, 3]))).toEqual(new Set([7, 8]));
    await waits.unregister(7, [3, 1]);
    expect(await waits.waitersOf([1])).toEqual([]);
    expect(await waits.waitersOf([3])).toEqual([8]);
    expect(await waits.waitersOf([2])).toEqual([7]);
  });

  it('can register again, and is visible in the next work summary of every worker', async () => {
    const { jobs, workers, waits, advance } = await setup();
    await workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    const before = await jobs.summarizeWork(['q']);
    await waits.register(7, [1], 60_000);
    const first = await jobs.summarizeWork(['q']);
    advance(1_000);
    await waits.register(7, [1], 60_000);

    const second = await jobs.summarizeWork(['q']);
    await waits.unregister(7, [1]);

    expect(before.awaited).toBeNull();
    expect(second.awaited! - first.awaited!).toBeGreaterThanOrEqual(1_000);
    expect((await jobs.summarizeWork(['q'])).awaited).toBeNull();
  });

  it('is deleted when its wait has expired', async () => {
    const { waits, advance } = await setup();
    await waits.register(7, [1, 2], 1_000);
    await waits.register(8, [2], 60_000);
    advance(1_000);

    expect(await waits.pruneWaits(10)).toBe(2);
    expect(await waits.waitersOf([1, 2])).toEqual([8]);
    expect(await waits.pruneWaits(10)).toBe(0);
  });
});

describeStores('the outcome of a request', (setup) => {
  const request = { overrides: '{"reply":true}' };

  it('is deleted on request, and nothing else', async () => {
    const world = await setup();
    const { put, claim, jobs, waits } = world;
    const [asked, other] = await put(request, {});
    await jobs.complete(finalBatchOf(await claim({ limit: 2 })));
    await waits.register(7, [asked!, other!], 60_000);

    await waits.deleteOutcomes(7, [asked!]);

    expect([...(await waits.readJobs([asked!, other!])).keys()]).toEqual([other]);
    expect(await waits.waitersOf([asked!])).toEqual([]);
    expect(await waits.waitersOf([other!])).toEqual([7]);
  });

  it.each(['cancelled before it ran', 'rescued dead'])(
    'is retained for a minute if the request was %s',
    async (how) => {
      const world = await setup();
      const { put, claim, jobs, admin, waits, advance } = world;
      const [id] = await put(request);
      if (how === 'rescued dead') {
        await claim();
        advance(60_000);
        await jobs.rescue(rescueRules({ decide: () => outcomes.dead, retentionMs: () => false }));
      } else await admin.cancel(id!, () => false);

      expect((await waits.readJobs([id!])).get(id!)).toMatchObject({ overrides: { reply: true } });
      expect(await historyIn(world, 60_001)).toEqual([]);
    },
  );
});

async function historyIn({ jobs, advance, sql }: World, ms: number): Promise<unknown[]> {
  advance(ms);
  await jobs.prune(10);
  return sql('SELECT id FROM sql_queue_history');
}
