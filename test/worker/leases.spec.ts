import { untilAborted, describeEngines, gate, plainJobs, connectionThrough, type World } from '../support/engines.js';
import type { EventLog } from '../support/event-log.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { countClaimed } from '../support/jobs.js';
import { WireProxy } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;

describeEngines('a lease', (setup) => {
  it('that ends while the event loop stands still is logged once a minute, with its job and the heartbeat thread', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { open, opened } = gate();
    const { producer, events, log } = await world.start({ clock, handlers: { q: () => opened }, skewMs: () => 0 });
    const { id } = await producer.enqueue('q', 0);
    await events.until('started');
    const lines = () => log.filter((line) => line.includes('stood still'));

    await clock.advance(LEASE_MS + 12_000);
    const [line] = await eventually(() => lines().length > 0 && lines());
    await clock.advance(LEASE_MS + 12_000);
    open();
    await events.until('completed');

    expect(line).toMatch(
      new RegExp(
        `^warn: The event loop stood still for at least 32\\.0 s, past the lease of job ${id} of queue "q": .*SIGSTOP.*` +
          `heartbeat: 'thread'`,
      ),
    );
    expect(lines()).toHaveLength(1);
  });

  it('is renewed after each third of its duration while the handler runs, which keeps the job from other workers', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { open, opened } = gate();
    const worker = await world.start({ clock, handlers: { q: () => opened } });
    const rescuer = await world.start({ clock, handlers: { q: () => 'rescuer' } });
    rescuer.runner.pause('q');
    await worker.producer.enqueue('q', 0);
    await worker.events.until('started');
    const first = await leaseUntil(world);

    for (let beat = 1; beat <= 6; beat++) {
      // Two workers, each with two loops: the heartbeat, and the check that it succeeds.
      await clock.untilSleeping(LEASE_MS / 3, 4);
      await clock.advance(LEASE_MS / 3);
      await eventually(async () => (await leaseUntil(world)) >= first + (beat * LEASE_MS) / 3);
    }
    open();
    await worker.events.until('completed');

    expect(worker.events.of('lost')).toEqual([]);
    expect(rescuer.events.all).toEqual([]);
    expect(worker.events.of('completed')).toMatchObject([{ attempt: 1 }]);
  });

  it('releases its jobs without a counted attempt if it expires before the claim is answered', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, runner, events, admin, store } = await world.start({
      ...{ clock, queues: { q: { retry: 1 } }, handlers: { q: () => 'done' }, autoStart: false },
      // No time passes for the database.
      skewMs: () => 0,
    });
    const { id } = await producer.enqueue('q', 0);
    let isLate = true;
    const claim = store.claim.bind(store);
    store.claim = async (request) => {
      const claimed = await claim(request);
      if (isLate) await clock.advance(LEASE_MS);
      isLate = false;
      return claimed;
    };

    await runner.start();
    await events.until('completed');

    expect(events.of('released')).toMatchObject([{ jobId: id }]);
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
  });
});

/** Blocks the event loop, but leaves the core to other processes. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describeEngines('the only process, whose event loop is blocked for longer than a lease', (setup) => {
  const queue = { lease: '1s', retry: { attempts: 3, backoff: 0 } } as const;
  const BLOCKED_MS = 2_200;

  it('keeps the jobs that it runs and those that it has prefetched', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, runner, events } = await world.start({
      autoStart: false,
      queues: { q: { ...queue, concurrency: 2, prefetch: 4 } },
      handlers: {
        q: async ({ payload }) => {
          if (payload === 'waits') return opened;
          if (payload === 'blocks') block(BLOCKED_MS);
        },
      },
    });
    const ids = await producer.enqueueMany(
      'q',
      ['waits', 'blocks', 'short', 'blocks', 'short'].map((payload) => ({ payload })),
    );

    await runner.start();
    await events.untilCount(4, 'completed');
    open();
    await events.untilCount(5, 'completed');

    expect(events.jobs('started').sort((a, b) => a - b)).toEqual(ids.map(({ id }) => id));
    expect(events.of('completed').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
    expect([...events.of('lost'), ...events.of('rescued'), ...events.of('released')]).toEqual([]);
  });

  it('keeps the jobs of a batch', async () => {
    const world = await setup();
    const { producer, runner, events } = await world.start({ autoStart: false, queues: { q: queue } });
    await runner.handle('q', { ...queue, batch: 3 }, () => block(BLOCKED_MS));
    await producer.enqueueMany('q', plainJobs(6));

    await runner.start();
    await events.untilCount(6, 'completed');

    expect(events.of('started')).toHaveLength(6);
    expect([...events.of('lost'), ...events.of('rescued')]).toEqual([]);
  });

  it('has no job taken by a consumer of its own', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, consumer, events } = await world.start({ queues: { q: queue }, handlers: { q: () => opened } });
    await producer.enqueue('q', 0);
    await events.until('started');

    block(BLOCKED_MS);
    const claimed = await consumer.claim('q', { owner: 'ann' });
    open();
    await events.until('completed');

    expect(claimed).toEqual([]);
    expect([...events.of('lost'), ...events.of('rescued')]).toEqual([]);
  });

  it('renews the lease of a run that goes on, so that its signal is not aborted', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const signals: AbortSignal[] = [];
    const { producer, events } = await world.start({
      queues: { q: queue },
      handlers: {
        q: ({ signal }) => {
          signals.push(signal);
          return opened;
        },
      },
    });
    await producer.enqueue('q', 0);
    await events.until('started');
    const blockedAt = await world.now();

    block(BLOCKED_MS);
    await eventually(async () => (await leaseUntil(world)) > blockedAt + BLOCKED_MS);
    open();
    await events.until('completed');

    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describeEngines('a job whose claim was lost while its handler goes on', (setup) => {
  it('waits in the same process until that handler has ended', async () => {
    const world = await setup();
    const { open, opened } = gate();
    let running = 0;
    const most: number[] = [];
    const { producer, admin, events } = await world.start({
      queues: { q: { concurrency: 2 } },
      handlers: {
        q: async () => {
          most.push(++running);
          await opened;
          running--;
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('started');

    // Another program takes the job from its claim, and returns it to the queue.
    await world.sql(`UPDATE sql_queue_jobs SET state = 'waiting', claim_id = 0, attempt = 0 WHERE id = ${id}`);
    await events.until('snoozed');
    open();
    await events.until('completed');

    expect(most).toEqual([1, 1]);
    expect(events.of('lost')).toHaveLength(1);
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
  });
});

describeEngines('prefetched jobs', (setup) => {
  it('keep their leases even if the running jobs take far longer than earlier ones', async () => {
    const world = await setup();
    const clock = new FakeClock();
    // The metrics are saved every ten seconds, the third of the default lease: the test must not take this for a heartbeat.
    const leaseMs = 27_000;
    const begun: number[] = [];
    const { producer, events, admin } = await world.start({
      clock,
      queues: { q: { concurrency: 2, lease: leaseMs } },
      handlers: {
        q: async ({ id, payload }) => {
          begun.push(id);
          if (payload === 'slow') await clock.sleep((2 * leaseMs) / 3);
        },
      },
    });
    // The clock stands still, so jobs seem to take no time and the worker prefetches many.
    const quick = await producer.enqueueMany('q', plainJobs(100));
    await events.untilCount(100, 'completed');
    const slow: { id: number }[] = [];
    for (const claimed of [6, 12]) {
      slow.push(
        ...(await producer.enqueueMany(
          'q',
          Array.from({ length: 6 }, () => ({ payload: 'slow' })),
        )),
      );
      await eventually(async () => countClaimed(await admin.counts('q')) === claimed);
    }

    while (events.of('completed').length < 112) {
      await eventually(() => bothRun(events) || events.of('completed').length === 112);
      // The heartbeat, and the check that it succeeds.
      await clock.untilSleeping(leaseMs / 3, 2);
      await clock.advance(leaseMs / 3);
    }

    expect(events.of('lost')).toEqual([]);
    expect(begun.sort((a, b) => a - b)).toEqual([...quick, ...slow].map(({ id }) => id));
    expect(events.of('completed').every(({ attempt }) => attempt === 1)).toBe(true);
    expect(clock.elapsedMs).toBeGreaterThan(3 * leaseMs);
  });
});

describeEngines(
  'a worker without a connection to its database',
  (setup) => {
    it('aborts its handlers when their lease has expired by its own clock', async () => {
      const world = await setup();
      const proxy = await WireProxy.open((world.connection as { url: string }).url);
      const dataSource = await world.connect(connectionThrough(world.connection, proxy.port));
      const clock = new FakeClock();
      const aborted = gate<AbortSignal>();
      const { producer, events } = await world.start({
        ...{ clock, dataSource },
        handlers: {
          q: async ({ signal }) => aborted.open(await untilAborted(signal)),
        },
      });
      world.afterTest(() => proxy.close());
      await producer.enqueue('q', 0);
      await events.until('started');
      await clock.untilSleeping(LEASE_MS / 3, 2);

      proxy.silence();
      for (let third = 1; third <= 3; third++) {
        await clock.untilSleeping(LEASE_MS / 3);
        await clock.advance(LEASE_MS / 3);
      }
      const { reason } = await aborted.opened;

      expect(reason).toMatchObject({ code: 'LEASE_LOST', queue: 'q' });
    });
  },
  ['mysql', 'mariadb'],
);

function bothRun(events: EventLog): boolean {
  return events.of('started').length === events.of('completed').length + 2;
}

async function leaseUntil({ sql }: World): Promise<number> {
  const [claim] = await sql<{ lease_until: number }>('SELECT lease_until FROM sql_queue_claims');
  return Number(claim!.lease_until);
}
