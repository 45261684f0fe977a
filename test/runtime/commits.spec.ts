import { describeEngines, plain, type World } from '../support/engines.js';
import { Traffic, type Transaction } from '../support/traffic.js';

const NO_POLL = { poll: { min: '1h', max: '1h' } } as const;

describeEngines(
  'the commits of a worker',
  (setup) => {
    it('are one for each job and the claim of the next, where it runs one at a time', async () => {
      const { traffic, start } = await recorded(await setup());
      const { producer, runner, admin } = await start({
        queues: { q: { concurrency: 1, prefetch: 0 } },
        worker: NO_POLL,
        handlers: { q: () => undefined },
        autoStart: false,
      });
      await producer.enqueueMany('q', plain(20));
      await runner.start();
      await runner.whenIdle();

      const work = traffic.take().filter((one) => claims(one) || settles(one));
      expect(work.map((one) => [settles(one), claims(one)])).toEqual([
        [false, true],
        ...Array.from({ length: 19 }, () => [true, true]),
        // Nothing is left to claim: it was looked for, and no claim was written.
        [true, false],
      ]);
      expect(work.at(-1)!.statements.some((sql) => /FOR UPDATE SKIP LOCKED/.test(sql))).toBe(true);
      expect(await admin.counts('q')).toMatchObject({ completed: 20 });
    });

    it.each([
      ['of short jobs', { q: () => undefined }],
      ['of batches', { q: { batch: 20, handle: () => undefined } }],
      [
        'of jobs that fail now and then',
        { q: ({ payload, attempt }: { payload: number; attempt: number }) => fails(payload, attempt) },
      ],
    ] as const)(
      'are far fewer than its jobs under a steady load %s, and most claims are made with outcomes',
      async (_, handlers) => {
        const jobs = 2_000;
        const { traffic, start } = await recorded(await setup());
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

        const work = traffic.take().filter((one) => claims(one) || settles(one));
        const claiming = work.filter(claims);
        expect(claiming.filter(settles).length).toBeGreaterThan(0.5 * claiming.length);
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

function settles({ statements }: Transaction): boolean {
  return statements.some((sql) => sql.startsWith('REPLACE INTO sql_queue_history'));
}

async function recorded(world: World) {
  const traffic = new Traffic();
  const dataSource = await world.connect({ driver: traffic.driver });
  const start: World['start'] = (settings) => world.start({ dataSource, ...settings });
  return { traffic, start };
}
