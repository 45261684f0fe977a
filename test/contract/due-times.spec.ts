import type { KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import { finalBatchOf, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores, type World } from '../support/stores.js';

/** Returns the milliseconds from the enqueue to the due time, or null without a due time. */
async function dueAfter({ admin }: World, id: number): Promise<number | null> {
  const { dueAt, createdAt } = (await admin.get(id))!;
  return dueAt && dueAt.getTime() - createdAt.getTime();
}

describeStores('the due time of a job', (setup) => {
  it('is null for a job that was due when it was enqueued, and for a scheduled job', async () => {
    const world = await setup();
    const [now, later] = await world.put({}, { delayMs: 60_000 });
    await world.claim();

    expect([await dueAfter(world, now!), await dueAfter(world, later!)]).toEqual([null, null]);
  });

  it.each([outcomes.complete, { kind: 'complete', result: '1' } as const, outcomes.dead])(
    'is kept from the promotion of a delayed job to its history (%o)',
    async (outcome) => {
      const world = await setup();
      const [id] = await world.put({ delayMs: 60_000 });
      world.advance(90_000);
      await world.jobs.promote(10);
      const promoted = await dueAfter(world, id!);

      await world.jobs.complete(finalBatchOf(await world.claim(), outcome));

      expect([promoted, await dueAfter(world, id!)]).toEqual([60_000, 60_000]);
    },
  );

  it('is the time of the retry for a retried job, and unchanged for a released job', async () => {
    const world = await setup();
    const [id] = await world.put({});
    const seen: (number | null)[] = [];
    const back = async (outcome: Parameters<typeof finalBatchOf>[1]) => {
      await world.jobs.complete(finalBatchOf(await world.claim(), outcome));
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

  it('is now for a job that is retried, replaced or assigned before it is due', async () => {
    const world = await setup();
    const [scheduled, dead, assigned] = await world.put({ delayMs: 9e6 }, {}, { delayMs: 9e6 });
    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.dead));
    const [replaced] = await world.jobs.enqueueKeyed([
      [keyedJob({ key: 'k', onConflict: 'replace' }, { delayMs: 9e6 })],
    ]);
    world.advance(100_000);

    await world.admin.retry([scheduled!, dead!]);
    const to = { workerId: 'w', owner: 'ann', leaseMs: null };
    await world.consumer.assign(assigned!, to, 'anyone', () => ({ maxAttempts: 5 }));
    await world.jobs.enqueueKeyed([[keyedJob({ key: 'k', onConflict: 'replace' })]]);

    for (const id of [scheduled!, dead!, assigned!, (replaced as readonly KeyedJobResult[])[0]!.id]) {
      expect(await dueAfter(world, id)).toBeGreaterThanOrEqual(100_000);
      expect(await dueAfter(world, id)).toBeLessThan(200_000);
    }
  });
});
