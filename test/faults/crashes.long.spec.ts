import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { countClaimed, rescueRules } from '../support/jobs.js';
import { processesOf } from '../support/processes.js';

const LEASE_MS = 30_000;

const queue = { lease: LEASE_MS, retry: { attempts: 3, backoff: 0 } } as const;

describeEngines('a crashed worker process', (setup) => {
  it('loses its jobs to another worker when its lease expires, and not before', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const dying = await processes.worker({ queue });
    const beganAt: number[] = [];
    const heir = await world.start({
      queues: { q: queue },
      handlers: { q: async () => void beganAt.push(await world.now()) },
      autoStart: false,
    });
    const jobs = await heir.producer.enqueueMany('q', [hold, hold, hold]);
    for (const { id } of jobs) await dying.untilMessage('holding', id);

    await dying.kill();
    processes.recordDeath(dying);
    const leaseUntil = await lastLease(world);
    await heir.runner.start();
    world.advance(leaseUntil - (await world.now()) - 10_000);
    await heir.runner.whenIdle();
    const tooEarly = heir.events.of('started').length;
    world.advance(10_000);
    await heir.events.untilCount(3, 'completed');

    expect(tooEarly).toBe(0);
    expect(Math.min(...beganAt)).toBeGreaterThanOrEqual(leaseUntil);
    expect(heir.events.of('rescued').map(({ attempt, error }) => [attempt, error?.code])).toEqual(
      jobs.map(() => [1, 'WORKER_LOST']),
    );
    expect(heir.events.of('completed').map(({ attempt }) => attempt)).toEqual([2, 2, 2]);
  });

  it('costs the job that ended it one attempt, and the job is dead after its last attempt', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const { producer, admin } = await world.start({ queues: { q: queue }, autoStart: false });
    const { id } = await producer.enqueue('q', { exit: true });

    let lives = 0;
    for (; (await admin.get(id))?.state !== 'dead'; lives++) {
      const worker = await processes.worker({ queue, skewMs: lives * 2 * LEASE_MS });
      await eventually(async () => worker.hasEnded || (await admin.get(id))?.state === 'dead');
      if (worker.hasEnded) processes.recordDeath(worker);
      else await worker.stop();
    }

    expect(lives).toBe(3 + 1);
    expect(await admin.get(id)).toMatchObject({ attempt: 3, error: { name: 'WorkerLostError', code: 'WORKER_LOST' } });
  });

  it('loses none of the 199 jobs that it had prefetched beside the job that ends it', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const { producer, admin } = await world.start({ autoStart: false });
    const poisoned = { lease: LEASE_MS, concurrency: 10, prefetch: 200, retry: { attempts: 5, backoff: 0 } };
    const jobs = await producer.enqueueMany(
      'q',
      Array.from({ length: 200 }, (_, index) => ({ payload: index === 7 ? { exit: true } : {} })),
    );

    for (let lives = 0; (await admin.counts('q')).dead === 0; lives++) {
      const worker = await processes.worker({ queue: poisoned, skewMs: lives * 2 * LEASE_MS });
      await eventually(async () => worker.hasEnded || (await admin.counts('q')).dead > 0);
      if (worker.hasEnded) processes.recordDeath(worker);
      else await eventually(async () => (await admin.counts('q')).completed === 199 && (await worker.stop(), true));
    }

    expect(await admin.counts('q')).toMatchObject({ completed: 199, dead: 1, waiting: 0, active: 0, scheduled: 0 });
    expect((await admin.find({ state: 'dead' })).jobs).toMatchObject([{ id: jobs[7]!.id, attempt: 5 }]);
    expect(await processes.violations()).toEqual([]);
  });

  it.each([1, 2])(
    'costs an attempt to no more unstarted jobs than its concurrency if jobs have %i attempts',
    async (attempts) => {
      const world = await setup();
      const processes = await processesOf(world);
      const concurrency = 5;
      const settings = { lease: LEASE_MS, concurrency, prefetch: 100, retry: { attempts, backoff: 0 } };
      const { producer, admin, store } = await world.start({ autoStart: false });
      // Short jobs first, so that the worker prefetches many.
      await producer.enqueueMany(
        'q',
        Array.from({ length: 200 }, () => ({ payload: {} })),
      );
      await producer.enqueueMany(
        'q',
        Array.from({ length: 200 }, () => hold),
      );
      const dying = await processes.worker({ queue: settings });
      const holding = () => dying.messages.filter(({ text }) => text === 'holding').map(({ job }) => job!);
      await eventually(async () => holding().length === concurrency && countClaimed(await admin.counts('q')) > 50);

      await dying.kill();
      processes.recordDeath(dying);
      world.advance(LEASE_MS);
      const rescued = await store.rescue(rescueRules());

      const charged = rescued.filter(({ job }) => job.mayHaveStarted).map(({ job }) => job.id);
      expect(charged).toEqual(expect.arrayContaining(holding()));
      expect(rescued.length - charged.length).toBeGreaterThan(0);
      expect(charged.length - concurrency).toBeLessThanOrEqual(concurrency);
    },
  );
});

const hold = { payload: { hold: true } };

async function lastLease({ sql }: World): Promise<number> {
  const claims = await sql<{ lease_until: number }>('SELECT lease_until FROM sql_queue_claims');
  return Math.max(...claims.map(({ lease_until }) => Number(lease_until)));
}
