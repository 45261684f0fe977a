import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, gate, plain, through, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import { commitsBoth, commitsClaim, commitsOutcomes, strikeOnce, type Fate } from '../support/wire-proxy.js';

const LEASE_MS = 30_000;
const queues = { q: { lease: LEASE_MS, retry: { attempts: 3, backoff: 0 } } } as const;
const FATES: Fate[] = ['cut', 'unheard'];

describeEngines(
  'a worker',
  (setup) => {
    it.each(FATES)('whose claim is committed or not, but not answered (%s), loses no job', async (fate) => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = strikeOnce(proxy, fate, commitsClaim);
      const { producer, events, admin } = await world.start({ queues, dataSource, handlers: { q: () => 'done' } });

      const jobs = await producer.enqueueMany('q', plain(5));
      await claiming.struck;
      if (fate === 'unheard') {
        // A claim that was made without the worker's knowledge lapses; nobody renews it.
        await oneClaim(world);
        world.advance(LEASE_MS);
      }
      await events.untilCount(5, 'completed');

      expect(events.jobs('completed').sort(ascending)).toEqual(jobs.map(({ id }) => id));
      expect(events.of('started')).toHaveLength(5);
      expect(events.of('lost')).toEqual([]);
      expect(await admin.counts('q')).toMatchObject({ completed: 5, active: 0, waiting: 0 });
    });

    it('whose claim is committed, but not answered, leaves its jobs their only attempt', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = strikeOnce(proxy, 'unheard', commitsClaim);
      const once = { q: { lease: LEASE_MS, retry: { attempts: 1 } } } as const;
      const { producer, events, admin } = await world.start({
        queues: once,
        dataSource,
        handlers: { q: () => 'done' },
      });

      await producer.enqueueMany('q', plain(5));
      await claiming.struck;
      await eventually(async () => {
        const claims = await world.sql<{ started: number }>('SELECT started FROM sql_queue_claims');
        return claims.length === 1 && claims[0]!.started === 0;
      });
      world.advance(LEASE_MS);
      await events.untilCount(5, 'completed');

      expect(events.of('completed').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
      expect(await admin.counts('q')).toMatchObject({ completed: 5, dead: 0 });
    });

    it.each(FATES)(
      'whose outcomes are committed or not, but not answered (%s), settles each job once',
      async (fate) => {
        const { world, proxy, dataSource } = await behindProxy(await setup());
        const flushing = strikeOnce(proxy, fate, commitsOutcomes);
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
        // While it claims nothing, outcomes go by themselves.
        await events.untilCount(5, 'started');
        runner.pause('q');
        paused.open();
        await flushing.struck;
        runner.resume('q');
        await events.untilCount(4, 'completed');
        await runner.whenIdle();

        expect(log.filter((line) => /Outcomes wait/.test(line)).length).toBeLessThanOrEqual(1);
        expect(events.of('lost')).toEqual([]);
        expect(new Set(events.jobs('completed')).size).toBe(4);
        expect(runs).toHaveLength(7);
        expect(await admin.counts('q')).toMatchObject({ completed: 4, dead: 1, active: 0, waiting: 0, scheduled: 0 });
        expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
      },
    );

    it.each(FATES)(
      'whose outcomes and next claim are committed in one or not, but not answered (%s), settles each job once and loses none',
      async (fate) => {
        const { world, proxy, dataSource } = await behindProxy(await setup());
        const exchanging = strikeOnce(proxy, fate, commitsBoth);
        const runs: number[] = [];
        const { producer, events, admin, runner } = await world.start({
          ...{ queues: { q: { ...queues.q, concurrency: 12, prefetch: 0 } }, dataSource, autoStart: false },
          handlers: { q: (job) => void runs.push(job.id) },
        });
        const jobs = await producer.enqueueMany('q', plain(60));

        await runner.start();
        await exchanging.struck;
        if (fate === 'unheard') {
          // The claim that was made without the worker's knowledge lapses; nobody runs its jobs before.
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

    it('under whose statement the connection broke leaves nothing behind that keeps its process alive', async () => {
      const { world, proxy } = await behindProxy(await setup());
      const processes = await processesOf({
        ...world,
        connection: { ...world.connection, ...through(world.connection, proxy.port) },
      });
      const worker = await processes.worker();

      const { struck } = strikeOnce(proxy, 'cut', ({ sql }) => /FROM sql_queue_queues/.test(sql));
      await struck;
      await worker.stop();

      expect(worker.hasEnded).toBe(true);
    });

    it('that falls silent in mid-transaction keeps no row locks: another has its jobs within the shortest lease', async () => {
      const shortLease = { q: { lease: '1s', retry: { attempts: 3, backoff: 0 } } } as const;
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const claiming = strikeOnce(proxy, 'silent', commitsClaim);
      const silent = await world.start({ queues: shortLease, dataSource, handlers: { q: () => 'silent' } });
      await silent.producer.enqueueMany('q', plain(3));
      await claiming.struck;
      proxy.silence();

      const heir = await world.start({ queues: shortLease, handlers: { q: () => 'heir' } });
      await heir.events.untilCount(3, 'completed');

      expect(heir.events.of('completed').map(({ attempt, result }) => [attempt, result])).toEqual(
        Array.from({ length: 3 }, () => [1, 'heir']),
      );
      expect(silent.events.all).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

/** Its commit was on its way when the connection broke. */
async function oneClaim({ sql }: World): Promise<void> {
  await eventually(async () => (await sql('SELECT queue FROM sql_queue_claims')).length === 1);
}

function ascending(a: number, b: number): number {
  return a - b;
}
