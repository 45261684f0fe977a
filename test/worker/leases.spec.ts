import { untilAborted, describeEngines, gate, plainJobs, connectionThrough, type World } from '../support/engines.js';
import type { EventLog } from '../support/event-log.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { countClaimed } from '../support/jobs.js';
import { WireProxy } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;

describeEngines('a lease', (setup) => {
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

describeEngines('prefetched jobs', (setup) => {
  it('keep their leases even if the running jobs take far longer than earlier ones', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const begun: number[] = [];
    const { producer, events, admin } = await world.start({
      clock,
      queues: { q: { concurrency: 2, lease: LEASE_MS } },
      handlers: {
        q: async ({ id, payload }) => {
          begun.push(id);
          if (payload === 'slow') await clock.sleep((2 * LEASE_MS) / 3);
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
      await clock.untilSleeping(LEASE_MS / 3, 2);
      await clock.advance(LEASE_MS / 3);
    }

    expect(events.of('lost')).toEqual([]);
    expect(begun.sort((a, b) => a - b)).toEqual([...quick, ...slow].map(({ id }) => id));
    expect(events.of('completed').every(({ attempt }) => attempt === 1)).toBe(true);
    expect(clock.elapsedMs).toBeGreaterThan(3 * LEASE_MS);
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
      await clock.advance(LEASE_MS);
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
