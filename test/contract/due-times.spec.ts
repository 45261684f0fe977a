import type { PlacedJob } from '../../lib/store/key-store.js';
import { endOf, outcomes } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { describeStores, type World } from '../support/stores.js';

/** When the job became due after it was enqueued, in milliseconds; null if it says nothing. */
async function dueAfter({ admin }: World, id: number): Promise<number | null> {
  const { dueAt, createdAt } = (await admin.get(id))!;
  return dueAt && dueAt.getTime() - createdAt.getTime();
}

describeStores('the time at which a job became due', (setup) => {
  it('is none for a job that was due when it was enqueued, and for one that is scheduled', async () => {
    const world = await setup();
    const [now, later] = await world.put({}, { delayMs: 60_000 });
    await world.claim();

    expect([await dueAfter(world, now!), await dueAfter(world, later!)]).toEqual([null, null]);
  });

  it.each([outcomes.complete, { kind: 'complete', result: '1' } as const, outcomes.dead])(
    'is kept from the promotion of a delayed job to its history (%p)',
    async (outcome) => {
      const world = await setup();
      const [id] = await world.put({ delayMs: 60_000 });
      world.advance(90_000);
      await world.jobs.promote(10);
      const promoted = await dueAfter(world, id!);

      await world.jobs.settle(endOf(await world.claim(), outcome));

      expect([promoted, await dueAfter(world, id!)]).toEqual([60_000, 60_000]);
    },
  );

  it('is that of the retry, at once or later, and that of before for a released job', async () => {
    const world = await setup();
    const [id] = await world.put({});
    const seen: (number | null)[] = [];
    const back = async (outcome: Parameters<typeof endOf>[1]) => {
      await world.jobs.settle(endOf(await world.claim(), outcome));
      seen.push(await dueAfter(world, id!));
    };

    world.advance(100_000);
    await back(outcomes.retry);
    world.advance(100_000);
    await back(outcomes.release);
    await back({ ...outcomes.retry, delayMs: 50_000 });
    world.advance(100_000);
    await world.jobs.promote(10);
    seen.push(await dueAfter(world, id!));

    const [retried, released, scheduled, promoted] = seen;
    expect(retried).toBeGreaterThanOrEqual(100_000);
    expect(released).toBe(retried);
    expect(scheduled).toBeNull();
    expect(promoted).toBeGreaterThanOrEqual(250_000);
    expect(promoted).toBeLessThan(300_000);
  });

  it('is now for a job that is steered into its queue, or taken before it was due', async () => {
    const world = await setup();
    const [scheduled, dead, assigned] = await world.put({ delayMs: 9e6 }, {}, { delayMs: 9e6 });
    await world.jobs.settle(endOf(await world.claim(), outcomes.dead));
    const [replaced] = await world.jobs.enqueueKeyed([[keyed({ key: 'k', onConflict: 'replace' }, { delayMs: 9e6 })]]);
    world.advance(100_000);

    await world.admin.retry([scheduled!, dead!]);
    const to = { workerId: 'w', owner: 'ann', leaseMs: null };
    await world.consumer.assign(assigned!, to, 'whoever', () => ({ maxAttempts: 5 }));
    await world.jobs.enqueueKeyed([[keyed({ key: 'k', onConflict: 'replace' })]]);

    for (const id of [scheduled!, dead!, assigned!, (replaced as readonly PlacedJob[])[0]!.id]) {
      expect(await dueAfter(world, id)).toBeGreaterThanOrEqual(100_000);
      expect(await dueAfter(world, id)).toBeLessThan(200_000);
    }
  });
});
