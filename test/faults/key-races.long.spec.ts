import type { EnqueuedJob } from '../../lib/producer/enqueued-job.js';
import { expectDeadlocksAtMost } from '../support/deadlocks.js';
import { describeEngines, describeOwnServers, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { claimFrom, finalBatchOf } from '../support/jobs.js';
import type { JournalEntry } from '../support/journal.js';
import { processesOf } from '../support/processes.js';
import { isLongSet } from '../support/servers.js';
import { lockErrorsOf, recordServerErrors } from '../support/server-errors.js';

const CALLS = isLongSet ? 40 : 100;
const KEY = { key: 'k', onConflict: 'coalesce' } as const;

describeEngines('50 producers in a race for one key', (setup, server) => {
  it('create exactly one job in each of up to 1,000 rounds, and all 50 can read its one result', async () => {
    const world = await setup();
    const rounds = server.name === 'sqlite' ? 100 : isLongSet ? 300 : 1_000;
    const { driver, refused } = recordServerErrors();
    const dataSource = server.name === 'sqlite' ? world.dataSource : await world.connect({ driver });
    const engines = await Promise.all(Array.from({ length: 5 }, () => world.start({ dataSource, autoStart: false })));
    const [{ store, admin }] = engines as [(typeof engines)[0]];
    // Chosen once, as by a worker at its start.
    const { name: strategy } = (await store.chooseStrategies(new Map([['q', 'auto']]))).byQueue.get('q')!;

    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(
        engines.flatMap(({ producer }) => Array.from({ length: 10 }, () => producer.enqueue('q', round, KEY))),
      );
      const claim = await claimFrom(store, { limit: 10, strategy });
      await store.complete(finalBatchOf(claim, { kind: 'complete', result: `${round}` }, { retentionMs: false }));

      const ids = new Set(answers.map(({ id }) => id));
      const put = answers.filter(({ outcome }) => outcome === 'created');
      expect({ round, put: put.length, jobs: claim.jobs.length, ids: ids.size }).toEqual({
        round,
        put: 1,
        jobs: 1,
        ids: 1,
      });
      expect(await admin.get(answers[0]!.id)).toMatchObject({ state: 'completed', result: round });
    }

    expect(lockErrorsOf(refused)).toEqual([]);
  });

  it('all receive the one result of the job even if the queue retains no completed jobs', async () => {
    const world = await setup();
    const queues = { q: { retention: { completed: false } } } as const;
    const { runner, events } = await world.start({
      queues,
      handlers: { q: ({ payload }) => `done ${String(payload)}` },
      autoStart: false,
    });
    const engines = await Promise.all(Array.from({ length: 5 }, () => world.start({ queues, autoStart: false })));
    const request = async ({ producer }: (typeof engines)[0]) => {
      const { id } = await producer.enqueue('q', 7, KEY);
      const answer = producer.waitFor(id);
      return { answer };
    };

    const requests = await Promise.all(engines.flatMap((engine) => Array.from({ length: 10 }, () => request(engine))));
    await runner.start();
    const answers = await Promise.all(requests.map(({ answer }) => answer));

    expect(answers).toEqual(Array.from({ length: 50 }, () => 'done 7'));
    expect(events.of('completed')).toHaveLength(1);
  });

  it('find at most one unfinished job at any time while workers run their jobs', async () => {
    const world = await setup();
    const workers = [];
    let running = 0;
    let most = 0;
    const handlers = {
      q: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      },
    };
    for (let n = 0; n < 2; n++) workers.push(await world.start({ handlers }));
    const engines = await Promise.all(Array.from({ length: 5 }, () => world.start({ autoStart: false })));
    const put: EnqueuedJob[] = [];
    const counts: number[] = [];
    const produce = async ({ producer }: (typeof engines)[0]) => {
      for (let call = 0; call < 20; call++) put.push(await producer.enqueue('q', call, KEY));
    };
    let isOver = false;
    const watching = eventually(async () => {
      counts.push(await alive(world));
      return isOver;
    });
    await Promise.all(engines.flatMap((engine) => Array.from({ length: 10 }, () => produce(engine))));
    isOver = true;
    await watching;
    await eventually(async () => (await alive(world)) === 0);

    const done = await world.sql<{ id: string }>('SELECT id FROM sql_queue_history ORDER BY id');
    const fresh = put.filter(({ outcome }) => outcome === 'created').map(({ id }) => id);
    expect(most).toBe(1);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
    expect(done.map(({ id }) => Number(id))).toEqual(fresh.sort((a, b) => a - b));
    expect(new Set(put.map(({ id }) => id))).toEqual(new Set(fresh));
  });
});

describeOwnServers(
  '50 producers in five processes in a race for one key',
  (setup) => {
    it('have each of their jobs run once, and never two at a time', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      await world.start({ autoStart: false });
      const workers = [await processes.worker(), await processes.worker()];

      const racers = await Promise.all(
        Array.from({ length: 5 }, () => processes.racer({ producers: 10, calls: CALLS })),
      );
      await Promise.all(racers.map(({ ended }) => ended));
      await eventually(async () => (await alive(world)) === 0);
      await Promise.all(workers.map((worker) => worker.stop()));

      const journal = processes.journal();
      const put = journal.filter(({ kind, token }) => kind === 'enqueued' && !token).map(({ job }) => job);
      const joined = journal.filter(({ token }) => token === 'joined').map(({ job }) => job);
      const done = await world.sql<{ id: string }>('SELECT id FROM sql_queue_history ORDER BY id');
      expect(racers.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
      expect(put.length + joined.length).toBe(50 * CALLS);
      expect(done.map(({ id }) => Number(id))).toEqual(put.sort((a, b) => a - b));
      expect(joined.filter((id) => !put.includes(id))).toEqual([]);
      expect(sideBySide(journal)).toEqual([]);
      expect(await processes.violations()).toEqual([]);
      await expectDeadlocksAtMost(world, 0);
    });
  },
  ['mysql', 'mariadb'],
);

async function alive({ sql }: Pick<World, 'sql'>): Promise<number> {
  return Number((await sql<{ n: number }>('SELECT COUNT(*) AS n FROM sql_queue_jobs'))[0]!.n);
}

/** Overlapping handler runs of any two jobs. */
function sideBySide(journal: readonly JournalEntry[]): string[] {
  const found: string[] = [];
  let running: JournalEntry | undefined;
  for (const entry of journal) {
    if (entry.kind === 'begin') {
      if (running) found.push(`job ${entry.job} began while job ${running.job} ran`);
      running = entry;
    } else if (entry.kind === 'end') running = undefined;
  }
  return found;
}
