import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { Traffic, type Transaction } from '../support/traffic.js';

const NO_POLL = { poll: { min: '1h', max: '1h' } } as const;

describeEngines(
  'the worker',
  (setup) => {
    it('completes a job and claims the next in one commit if it runs one job at a time', async () => {
      const { traffic, start } = await observeTraffic(await setup());
      const { producer, runner, admin } = await start({
        queues: { q: { concurrency: 1, prefetch: 0 } },
        worker: NO_POLL,
        handlers: { q: () => undefined },
        autoStart: false,
      });
      await producer.enqueueMany('q', plainJobs(20));
      await runner.start();
      await runner.whenIdle();

      const work = traffic.drain().filter((one) => claims(one) || writesOutcomes(one));
      expect(work.map((one) => [writesOutcomes(one), claims(one)])).toEqual([
        [false, true],
        ...Array.from({ length: 19 }, () => [true, true]),
        // The last transaction looks for work, finds none and writes no claim.
        [true, false],
      ]);
      expect(work.at(-1)!.statements.some((sql) => /FOR UPDATE SKIP LOCKED/.test(sql))).toBe(true);
      expect(await admin.counts('q')).toMatchObject({ completed: 20 });
    });

    it.each([
      ['short jobs', { q: () => undefined }],
      ['batches', { q: { batch: 20, handle: () => undefined } }],
      [
        'jobs with occasional failures',
        { q: ({ payload, attempt }: { payload: number; attempt: number }) => fails(payload, attempt) },
      ],
    ] as const)(
      'makes far fewer commits than it runs jobs under a load of %s, and most claims share a commit with outcomes',
      async (_, handlers) => {
        const jobs = 2_000;
        const { traffic, start } = await observeTraffic(await setup());
        const { producer, runner, admin } = await start({
          queues: { q: { concurrency: 5, prefetch: 20 } },
          ...{ handlers: handlers as never, autoStart: false },
        });
        await producer.enqueueMany(
          'q',
          Array.from({ length: jobs }, (_, payload) => ({ payload })),
        );
        await runner.start();
        await runner.whenIdle();

        const work = traffic.drain().filter((one) => claims(one) || writesOutcomes(one));
        const claiming = work.filter(claims);
        expect(claiming.filter(writesOutcomes).length).toBeGreaterThan(0.5 * claiming.length);
        expect(work.length).toBeLessThan(jobs / 10);
        expect(await admin.counts('q')).toMatchObject({ completed: jobs, active: 0, waiting: 0 });
      },
    );
  },
  ['mysql', 'mariadb'],
);

function fails(payload: number, attempt: number): void {
  if (payload % 50 === 0 && attempt === 1) throw new Error('now and then');
}

function claims({ statements }: Transaction): boolean {
  return statements.some((sql) => sql.startsWith('INSERT INTO sql_queue_claims'));
}

function writesOutcomes({ statements }: Transaction): boolean {
  return statements.some((sql) => sql.startsWith('REPLACE INTO sql_queue_history'));
}

async function observeTraffic(world: World) {
  const traffic = new Traffic();
  const dataSource = await world.connect({ driver: traffic.driver });
  const start: World['start'] = (settings) => world.start({ dataSource, ...settings });
  return { traffic, start };
}
