import type { EntityManager } from 'typeorm';
import { JobNotFoundError } from '../../lib/job/errors.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

const ANN = { owner: 'ann' } as const;

type Isolation = 'READ COMMITTED' | 'REPEATABLE READ';

/** Calls `act` in a transaction whose snapshot is older. */
function afterSnapshot<T>(world: World, isolation: Isolation, act: (manager: EntityManager) => Promise<T>): Promise<T> {
  return world.dataSource.transaction(isolation, async (manager) => {
    await manager.query('SELECT COUNT(*) FROM sql_queue_jobs');
    return act(manager);
  });
}

/** The state of a job as its transaction sees it. */
async function stateOf(id: number, manager: EntityManager): Promise<string | undefined> {
  const [row] = await manager.query<{ state: string }[]>('SELECT state FROM sql_queue_jobs WHERE id = ?', [id]);
  return row?.state;
}

// SQLite has one writer, so a transaction that writes has the latest snapshot.
describeEngines(
  "a verb in the caller's transaction, whose snapshot is older than the rows beside a job,",
  (setup) => {
    describe.each<Isolation>(['READ COMMITTED', 'REPEATABLE READ'])('%s', (isolation) => {
      /** Jobs of queue `q` and `other` charge in a step. */
      async function setUpSteps() {
        const world = await setup();
        const keys: string[] = [];
        const handler = async (job: JobContext) => {
          await job.step('charge', () => void keys.push(job.stepKey('charge')));
          job.log('charged');
        };
        const engine = await world.start({ handlers: { q: handler, other: handler } });
        const run = async () => {
          const { id } = await engine.producer.enqueue('q', 0);
          await engine.events.until('completed', { jobId: id });
          return id;
        };
        return { ...engine, world, keys, run };
      }

      it.each([{ completed: true }, { completed: true, to: 'other' }] as const)(
        'retry runs the steps of a job again (%j)',
        async (options) => {
          const { world, admin, events, keys, run } = await setUpSteps();

          const id = await afterSnapshot(world, isolation, async (manager) => {
            const job = await run();
            expect(await admin.retry([job], { ...options, manager })).toBe(1);
            return job;
          });
          await events.untilCount(2, 'completed', { jobId: id });

          expect(new Set(keys).size).toBe(2);
          expect((await admin.logs(id)).lines).toHaveLength(1);
        },
      );

      it('remove leaves no step and no log line', async () => {
        const { world, admin, run } = await setUpSteps();

        await afterSnapshot(world, isolation, async (manager) => admin.remove(await run(), { manager }));

        expect(await world.sql('SELECT job_id FROM sql_queue_steps')).toEqual([]);
        expect(await world.sql('SELECT job_id FROM sql_queue_logs')).toEqual([]);
      });

      it('remove rejects a wait for the job', async () => {
        const { world, producer, admin } = await setUpSteps();

        const error = await afterSnapshot(world, isolation, async (manager) => {
          const { id } = await producer.enqueue('unserved', 0);
          const waiting = producer.waitFor(id).catch((each: unknown) => each);
          await eventually(async () => (await world.sql('SELECT job_id FROM sql_queue_waits')).length === 1);
          await admin.remove(id, { manager });
          return { waiting };
        });

        expect(await error.waiting).toBeInstanceOf(JobNotFoundError);
      });

      it('subscribe stores a subscription that was added or deleted', async () => {
        const world = await setup();
        const { admin } = await world.start({ autoStart: false });
        await admin.subscribe('q', { topic: 'deleted' });

        await afterSnapshot(world, isolation, async (manager) => {
          await admin.subscribe('q', { topic: 'added' });
          await admin.unsubscribe('q', 'deleted');
          await admin.subscribe('q', { topic: 'added', where: { tenant: '1' } }, { manager });
          await admin.subscribe('q', { topic: 'deleted' }, { manager });
        });

        expect(await admin.subscriptions()).toMatchObject([
          { topic: 'added', where: { tenant: '1' } },
          { topic: 'deleted', where: {} },
        ]);
      });

      it('retry leaves its result to a job that has gone on', async () => {
        const world = await setup();
        const [retried, again] = [gate(), gate()];
        world.afterTest(() => again.open());
        let runs = 0;
        const { producer, admin, events } = await world.start({
          handlers: {
            part: async () => {
              if (++runs > 1) await again.opened;
              return runs;
            },
            whole: async (job) => {
              await retried.opened;
              const results: unknown[] = [];
              for await (const { result } of job.children()) results.push(result);
              return results;
            },
          },
        });
        const flow = await producer.flow(
          (jobs) => void jobs.add('whole', 0).after(jobs.add('part', 0, { delay: '1h' })),
        );
        const part = flow.jobs.find(({ queue }) => queue === 'part')!;

        await afterSnapshot(world, isolation, async (manager) => {
          await admin.promote(part.id);
          await events.until('started', { queue: 'whole' });
          expect(await admin.retry([part.id], { completed: true, manager })).toBe(1);
        });
        retried.open();

        expect(await events.until('completed', { queue: 'whole' })).toMatchObject({ result: [1] });
      });

      /** A flow whose job `whole` runs after `part`. `retried` lets further runs of `part` end. */
      async function setUpFlow({ whole, isDelayed = false }: { whole?: () => unknown; isDelayed?: boolean } = {}) {
        const world = await setup();
        const retried = gate();
        world.afterTest(() => retried.open());
        let runs = 0;
        const part = async () => {
          if (++runs > 1) await retried.opened;
          return runs;
        };
        const handlers = {
          part,
          whole: async (job: JobContext) => {
            await whole?.();
            const results: unknown[] = [];
            for await (const { result } of job.children()) results.push(result);
            return results;
          },
        };
        const engine = await world.start({ handlers });
        const flow = await engine.producer.flow(
          (jobs) => void jobs.add('whole', 0).after(jobs.add('part', 0, isDelayed ? { delay: '1h' } : {})),
        );
        const idIn = (name: string) => flow.jobs.find(({ queue }) => queue === name)!.id;
        return { ...engine, world, retried, part: idIn('part'), whole: idIn('whole') };
      }

      it('retry lets a job that has ended since then wait for the next end', async () => {
        const ended = gate();
        const { world, admin, events, retried, ...ids } = await setUpFlow({ whole: () => ended.opened });
        world.afterTest(() => ended.open());
        await events.until('started', { queue: 'whole' });

        await afterSnapshot(world, isolation, async (manager) => {
          ended.open();
          await events.until('completed', { queue: 'whole' });
          expect(await admin.retry([ids.part], { completed: true, manager })).toBe(1);
        });
        await admin.retry([ids.whole], { completed: true });

        expect(await admin.get(ids.whole)).toMatchObject({ state: 'blocked' });
        retried.open();
        await events.untilCount(2, 'completed', { queue: 'whole' });
        expect(await admin.get(ids.whole)).toMatchObject({ result: [2] });
      });

      it('retry lets a job that the transaction has cancelled wait for the next end', async () => {
        const { world, admin, events, retried, ...ids } = await setUpFlow({ isDelayed: true });
        await admin.pause('whole');
        await admin.promote(ids.part);
        await eventually(async () => (await admin.get(ids.whole))?.state === 'waiting');

        await afterSnapshot(world, isolation, async (manager) => {
          await admin.cancel(ids.whole, { manager });
          expect(await admin.retry([ids.part], { completed: true, manager })).toBe(1);
        });
        await admin.retry([ids.whole]);

        expect(await admin.get(ids.whole)).toMatchObject({ state: 'blocked' });
        retried.open();
        await admin.resume('whole');
        expect(await events.until('completed', { queue: 'whole' })).toMatchObject({ result: [2] });
      });

      it('retry does not block a job for jobs that have ended since then', async () => {
        const { world, admin, events, ...ids } = await setUpFlow({ isDelayed: true });
        await admin.cancel(ids.whole);

        const state = await afterSnapshot(world, isolation, async (manager) => {
          await admin.promote(ids.part);
          await events.until('completed', { queue: 'part' });
          expect(await admin.retry([ids.whole], { manager })).toBe(1);
          return stateOf(ids.whole, manager);
        });

        expect(state).toBe('waiting');
      });

      it.each([{ to: 'other' }, { completed: true }] as const)(
        'retry does not block a job that starts anew for its former children (%j)',
        async (options) => {
          const world = await setup();
          const retried = gate();
          world.afterTest(() => retried.open());
          let runs = 0;
          const { producer, admin, events } = await world.start({
            handlers: {
              child: async () => {
                if (++runs > 1 || 'to' in options) await retried.opened;
              },
              q: (job) => job.fanOut('child', [0]),
              other: () => undefined,
            },
          });
          const { id } = await producer.enqueue('q', 0);
          if ('to' in options) {
            await events.until('blocked', { jobId: id });
            await admin.cancel(id);
          } else {
            await events.until('completed', { jobId: id });
            await admin.retry({ queue: 'child', state: 'completed' });
          }

          const state = await afterSnapshot(world, isolation, async (manager) => {
            expect(await admin.retry([id], { ...options, manager })).toBe(1);
            return stateOf(id, manager);
          });

          expect(state).toBe('waiting');
        },
      );

      /** Moves a new job of ann into a stage, beside the transaction. */
      async function putInStage({ producer, consumer }: Awaited<ReturnType<World['start']>>): Promise<number> {
        const { id } = await producer.enqueue('q', 0, { retry: { attempts: 3, backoff: '1m' } });
        await consumer.claim('q', ANN);
        await consumer.move(id, { ...ANN, stage: 'review' });
        return id;
      }

      it.each([null, 'next', 'review'])('move takes a job out of its stage (into %j)', async (stage) => {
        const world = await setup();
        const engine = await world.start({ autoStart: false });
        const { consumer } = engine;

        await afterSnapshot(world, isolation, async (manager) => {
          const id = await putInStage(engine);
          await consumer.claim('q', { ...ANN, stage: 'review' });
          await consumer.move(id, { ...ANN, stage, manager });
        });

        expect(await world.sql('SELECT stage FROM sql_queue_stages')).toEqual(stage === null ? [] : [{ stage }]);
        expect(await consumer.claim('q', stage === null ? ANN : { ...ANN, stage })).toHaveLength(1);
      });

      it('reprioritise lets people claim a job first in its stage', async () => {
        const world = await setup();
        const engine = await world.start({ autoStart: false });
        const { admin, consumer } = engine;

        const id = await afterSnapshot(world, isolation, async (manager) => {
          await putInStage(engine);
          const job = await putInStage(engine);
          expect(await admin.reprioritise(job, -1, { manager })).toBe(true);
          return job;
        });

        expect(await consumer.claim('q', { ...ANN, stage: 'review' })).toMatchObject([{ id }]);
      });
    });

    it('needs no connection of the calls that may wait for locks of the application', async () => {
      const world = await setup();
      const released = gate();
      world.afterTest(() => released.open());
      const waiting = new Set<object>();
      const driver = interceptingDriver(async (sql, _run, connection) => {
        if (!sql.includes("queue = 'held'")) return;
        waiting.add(connection);
        await released.opened;
      });
      const dataSource = await world.connect({ driver });
      const { producer, admin } = await world.start({ dataSource, autoStart: false });
      const { id } = await producer.enqueue('q', 0);
      const { id: cancelled } = await producer.enqueue('q', 0);
      await admin.cancel(cancelled);
      await producer.enqueue('held', 0);
      const calls = Array.from({ length: 6 }, () => admin.pause('held'));
      await eventually(() => waiting.size === 5);

      const changed = await dataSource.transaction(async (manager) => [
        await admin.reprioritise(id, -1, { manager }),
        await admin.retry([cancelled], { manager }),
      ]);

      expect(changed).toEqual([true, 1]);
      released.open();
      await Promise.all(calls);
    });
  },
  ['mysql', 'mariadb'],
);
