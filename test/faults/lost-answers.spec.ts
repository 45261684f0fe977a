import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, gate, plainJobs, connectionThrough, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import {
  commitsOutcomesAndClaim,
  commitsClaim,
  commitsOutcomes,
  interfereOnce,
  type ProxyAction,
} from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
const queues = { q: { lease: LEASE_MS, retry: { attempts: 3, backoff: 0 } } } as const;
const FATES: ProxyAction[] = ['cut', 'unanswered'];

describeEngines(
  'a worker',
  (setup) => {
    it.each(FATES)('loses no job if the answer to its claim is lost (%s)', async (fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = interfereOnce(proxy, fate, commitsClaim);
      const { producer, events, admin } = await world.start({ queues, dataSource, handlers: { q: () => 'done' } });

      const jobs = await producer.enqueueMany('q', plainJobs(5));
      await claiming.interfered;
      if (fate === 'unanswered') {
        // The worker does not know about the committed claim, so the claim expires without renewal.
        await oneClaim(world);
        world.advance(LEASE_MS);
      }
      await events.untilCount(5, 'completed');

      expect(events.jobs('completed').sort(ascending)).toEqual(jobs.map(({ id }) => id));
      expect(events.of('started')).toHaveLength(5);
      expect(events.of('lost')).toEqual([]);
      expect(await admin.counts('q')).toMatchObject({ completed: 5, active: 0, waiting: 0 });
    });

    it('leaves jobs their only attempt if the answer to its committed claim is lost', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = interfereOnce(proxy, 'unanswered', commitsClaim);
      const once = { q: { lease: LEASE_MS, retry: { attempts: 1 } } } as const;
      const { producer, events, admin } = await world.start({
        queues: once,
        dataSource,
        handlers: { q: () => 'done' },
      });

      await producer.enqueueMany('q', plainJobs(5));
      await claiming.interfered;
      await eventually(async () => {
        const claims = await world.sql<{ start_limit: number }>('SELECT start_limit FROM sql_queue_claims');
        return claims.length === 1 && claims[0]!.start_limit === 0;
      });
      world.advance(LEASE_MS);
      await events.untilCount(5, 'completed');

      expect(events.of('completed').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
      expect(await admin.counts('q')).toMatchObject({ completed: 5, dead: 0 });
    });

    it.each(FATES)('stores each outcome once if the answer to its outcomes is lost (%s)', async (fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const flushing = interfereOnce(proxy, fate, commitsOutcomes);
      const runs: number[] = [];
      const paused = gate();
      const { producer, events, admin, runner, log } = await world.start({
        ...{ queues, dataSource },
        handlers: {
          q: async (job) => {
            runs.push(job.id);
            await paused.opened;
            if (job.payload === 'fails first' && job.attempt === 1) throw new Error('first');
            if (job.payload === 'is snoozed' && runs.filter((id) => id === job.id).length === 1) job.snooze(1);
            if (job.payload === 'is discarded') job.discard('no');
          },
        },
      });

      await producer.enqueueMany(
        'q',
        ['', '', 'fails first', 'is snoozed', 'is discarded'].map((payload) => ({ payload })),
      );
      // While the worker is paused, it sends outcomes without a claim.
      await events.untilCount(5, 'started');
      runner.pause('q');
      paused.open();
      await flushing.interfered;
      runner.resume('q');
      await events.untilCount(4, 'completed');
      await runner.whenIdle();

      expect(log.filter((line) => /Outcomes wait/.test(line)).length).toBeLessThanOrEqual(1);
      expect(events.of('lost')).toEqual([]);
      expect(new Set(events.jobs('completed')).size).toBe(4);
      expect(runs).toHaveLength(7);
      expect(await admin.counts('q')).toMatchObject({ completed: 4, dead: 1, active: 0, waiting: 0, scheduled: 0 });
      expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
    });

    it.each(FATES)(
      'stores each outcome once and loses no job if the answer to its outcomes and next claim is lost (%s)',
      async (fate) => {
        const { world, proxy, dataSource } = await behindProxy(await setup());
        const exchanging = interfereOnce(proxy, fate, commitsOutcomesAndClaim);
        const runs: number[] = [];
        const { producer, events, admin, runner } = await world.start({
          ...{ queues: { q: { ...queues.q, concurrency: 12, prefetch: 0 } }, dataSource, autoStart: false },
          handlers: { q: (job) => void runs.push(job.id) },
        });
        const jobs = await producer.enqueueMany('q', plainJobs(60));

        await runner.start();
        await exchanging.interfered;
        if (fate === 'unanswered') {
          // The worker does not know about the committed claim, so its jobs run after the claim expires.
          await events.untilCount(60 - 12, 'completed');
          world.advance(LEASE_MS);
        }
        await events.untilCount(60, 'completed');
        await runner.whenIdle();

        expect(events.jobs('completed').sort(ascending)).toEqual(jobs.map(({ id }) => id));
        expect(runs.sort(ascending)).toEqual(jobs.map(({ id }) => id));
        expect(events.of('lost')).toEqual([]);
        expect(await admin.counts('q')).toMatchObject({ completed: 60, active: 0, waiting: 0, dead: 0 });
        expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      },
    );

    it('leaves nothing that keeps its process alive after a connection broke during a statement', async () => {
      const { world, proxy } = await behindProxy(await setup());
      const processes = await processesOf({
        ...world,
        connection: { ...world.connection, ...connectionThrough(world.connection, proxy.port) },
      });
      const worker = await processes.worker();

      const { interfered } = interfereOnce(proxy, 'cut', ({ sql }) => /FROM sql_queue_queues/.test(sql));
      await interfered;
      await worker.stop();

      expect(worker.hasEnded).toBe(true);
    });

    it('leaves its jobs to another worker within one lease if it falls silent in a transaction', async () => {
      const shortLease = { q: { lease: '1s', retry: { attempts: 3, backoff: 0 } } } as const;
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = interfereOnce(proxy, 'silent', commitsClaim);
      const silent = await world.start({ queues: shortLease, dataSource, handlers: { q: () => 'silent' } });
      await silent.producer.enqueueMany('q', plainJobs(3));
      await claiming.interfered;
      proxy.silence();

      const heir = await world.start({ queues, handlers: { q: () => 'heir' } });
      await heir.events.untilCount(3, 'completed');

      expect(heir.events.of('completed').map(({ attempt, result }) => [attempt, result])).toEqual(
        Array.from({ length: 3 }, () => [1, 'heir']),
      );
      expect(silent.events.all).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

/** Waits for the commit that was under way when the connection broke. */
async function oneClaim({ sql }: World): Promise<void> {
  await eventually(async () => (await sql('SELECT queue FROM sql_queue_claims')).length === 1);
}

function ascending(a: number, b: number): number {
  return a - b;
}
