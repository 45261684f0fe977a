import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import { mainly } from '../support/servers.js';
import { WireProxy } from '../support/wire-proxy.js';

const queue = { lease: '4s', retry: { attempts: 3, backoff: 0 } } as const;
// More than two leases.
const LONG_MS = 8_800;

interface Lease {
  id: number;
  until: number;
}

/** On a busy machine a thread can take longer to start than this lease lasts. */
async function untilFirstHeartbeat({ sql }: World): Promise<void> {
  const beats = 'SELECT id FROM sql_queue_workers WHERE seen_at > started_at';
  await eventually(async () => (await sql(beats)).length > 0);
}

describeEngines(
  'a worker with a blocked event loop',
  (setup) => {
    it('loses its job to another worker after `maxBlocked`, like a deadlocked process', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const worker = { heartbeat: 'thread', maxBlocked: '1s' } as const;
      const deadlocked = await processes.worker({ queue, worker, forward: ['lost'] });
      const queues = { q: { ...queue, lease: '30s' } } as const;
      const heir = await world.start({ queues, handlers: { q: () => 'heir' }, autoStart: false });
      const { id } = await heir.producer.enqueue('q', { block: 1.5 * LONG_MS });
      await deadlocked.untilMessage('blocking', id);

      await heir.runner.start();
      await heir.events.until('completed');
      await deadlocked.events.until('lost');

      expect(await heir.admin.get(id)).toMatchObject({ attempt: 2, result: 'heir' });
      expect(await processes.violations()).toEqual([]);
    });

    it('keeps its active and prefetched jobs if a heartbeat thread renews its leases', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const heir = await world.start({ queues: { q: queue }, handlers: { q: () => 'heir' }, autoStart: false });
      const settings = { ...queue, concurrency: 1, prefetch: 9 };
      const busy = await processes.worker({ queue: settings, worker: { heartbeat: 'thread' }, forward: ['completed'] });
      await untilFirstHeartbeat(world);
      const jobs = await heir.producer.enqueueMany('q', [
        { payload: { block: LONG_MS } },
        ...Array.from({ length: 9 }, () => ({ payload: {} })),
      ]);
      await busy.untilMessage('blocking', jobs[0]!.id);

      await heir.runner.start();
      await busy.events.untilCount(10, 'completed');

      expect(heir.events.of('started')).toEqual([]);
      expect(await processes.violations()).toEqual([]);
    });

    it('keeps its job if the handler reports progress between blocking calls', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const heir = await world.start({ queues: { q: queue }, handlers: { q: () => 'heir' }, autoStart: false });
      const busy = await processes.worker({ queue, worker: { heartbeat: 'thread' }, forward: ['completed'] });
      await untilFirstHeartbeat(world);
      const { id } = await heir.producer.enqueue('q', { block: LONG_MS / 4, times: 8 });
      await busy.untilMessage('blocking', id);

      await heir.runner.start();
      await busy.events.until('completed');

      expect(heir.events.of('started')).toEqual([]);
      expect(await heir.admin.get(id)).toMatchObject({ attempt: 1, progress: 8 });
    });
  },
  [...mainly('mariadb'), 'sqlite'],
);

describeEngines(
  'a claim locked by another transaction',
  (setup) => {
    it('does not stop the heartbeat thread from renewing other claims', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const worker = await processes.worker({
        queue: { lease: '15s', concurrency: 2, prefetch: 0 },
        worker: { heartbeat: 'thread' },
        forward: ['completed', 'lost'],
      });
      const { producer } = await world.start({ autoStart: false });
      for (let n = 0; n < 2; n++) {
        const { id } = await producer.enqueue('q', { hold: true });
        await worker.untilMessage('holding', id);
      }
      const leases = async () => {
        const rows = await world.sql<Lease>('SELECT id, lease_until AS until FROM sql_queue_claims ORDER BY id');
        return rows.map(({ id, until }) => ({ id: Number(id), until: Number(until) }));
      };
      expect(await leases()).toHaveLength(2);

      await world.dataSource.transaction(async (manager) => {
        const [locked] = await leases();
        await manager.query('SELECT id FROM sql_queue_claims WHERE id = ? FOR UPDATE', [locked!.id]);
        const other = async () => (await leases()).find(({ id }) => id !== locked!.id)!.until;
        let until = await other();
        for (let renewals = 0; renewals < 2; renewals++) {
          const last = until;
          until = await eventually(async () => (await other()) > last && (await other()));
        }
      });
      worker.send({ finish: true });
      await worker.events.untilCount(2, 'completed');

      expect(worker.events.of('lost')).toEqual([]);
    });
  },
  mainly('mysql'),
);

describeEngines('a worker with a heartbeat thread', (setup) => {
  it('loses its jobs to another worker at the end of their lease if it is killed', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const doomed = await processes.worker({ queue, worker: { heartbeat: 'thread' } });
    const heir = await world.start({ queues: { q: queue }, handlers: { q: () => 'heir' }, autoStart: false });
    const { id } = await heir.producer.enqueue('q', { hold: true });
    await doomed.untilMessage('holding', id);

    await doomed.kill();
    processes.recordDeath(doomed);
    await heir.runner.start();
    await heir.events.until('completed');

    expect(await heir.admin.get(id)).toMatchObject({ attempt: 2, result: 'heir' });
  });

  it('registers again if its row is deleted while it runs', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    await processes.worker({ queue, worker: { heartbeat: 'thread' } });
    const { admin } = await world.start({ autoStart: false });
    const [before] = await admin.workers();

    await world.sql('DELETE FROM sql_queue_workers');

    const [after] = await eventually(async () => {
      const workers = await admin.workers();
      return workers.length > 0 && workers;
    });
    expect(after).toMatchObject({ id: before!.id, pid: before!.pid, queues: before!.queues });
  });

  it('stops its thread and ends its process when it stops', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const worker = await processes.worker({ queue, worker: { heartbeat: 'thread' } });

    await worker.stop();

    expect(worker.hasEnded).toBe(true);
  });

  it('receives cancellation requests through the thread', async () => {
    const world = await setup();
    const processes = await processesOf(world);
    const worker = await processes.worker({ queue: { lease: '6s' }, worker: { heartbeat: 'thread' } });
    const { producer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', { hold: true });
    await worker.untilMessage('holding', id);

    await admin.cancel(id);
    await worker.untilMessage('aborted JOB_CANCELLED', id);
    worker.send({ finish: true });

    await eventually(
      async () => (await admin.get(id))!.state === 'cancelled' || (await admin.get(id))!.state === 'completed',
    );
  });
});

describeEngines(
  'the heartbeat thread of a worker with `hosts`',
  (setup) => {
    // Nodes of Galera apply the claims of each other late, so the thread would take them for lost.
    it('moves to another node together with its process', async () => {
      const world = await setup();
      const { url } = world.connection as { url: string };
      const [first, second] = [await WireProxy.open(url), await WireProxy.open(url)];
      world.afterTest(() => Promise.all([first.close(), second.close()]));
      const hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`);
      const processes = await processesOf(world);
      const worker = await processes.worker({ queue, hosts, worker: { heartbeat: 'thread' } });
      await untilFirstHeartbeat(world);
      const moved = new Promise<void>((resolve) => {
        second.onStatement(({ sql }) => {
          if (sql.includes('SET seen_at')) resolve();
          return 'pass';
        });
      });

      // No statement of the thread: it reads no jobs, and its connection is open.
      first.onStatement(({ sql }) => (/sql_queue_jobs|read_only/.test(sql) ? 'cut' : 'pass'));

      await expect(moved).resolves.toBeUndefined();
      await worker.stop();
    });
  },
  mainly('mysql'),
);
