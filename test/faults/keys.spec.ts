import { hasCode } from '../../lib/job/errors.js';
import type { EnqueuedJob } from '../../lib/producer/queue-producer.js';
import type { JobStore } from '../../lib/store/job-store.js';
import type { KeyedAnswer } from '../../lib/store/key-store.js';
import { behindProxy } from '../support/behind-proxy.js';
import { deadlocks } from '../support/deadlocks.js';
import { describeEngines, type World as EngineWorld } from '../support/engines.js';
import { everyFault } from '../support/every-fault.js';
import { eventually } from '../support/eventually.js';
import type { Entry } from '../support/journal.js';
import { claimOf, endOf, outcomes } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { recordingDriver } from '../support/recording-driver.js';
import { processesOf } from '../support/processes.js';
import { stubborn } from '../support/stubborn.js';
import { FAULTS, faultyDriver } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { commitsJobs, strikeOnce } from '../support/wire-proxy.js';

const LOOKS = /FROM sql_queue_producers.*FOR UPDATE/s;
const KEY = { key: 'k', onConflict: 'coalesce' } as const;

describeEngines('50 producers that race for one key', (setup, server) => {
  it('put exactly one job in, a thousand times, and all 50 can read its one result', async () => {
    const world = await setup();
    const rounds = server.name === 'sqlite' ? 100 : 1_000;
    const refusals: (number | undefined)[] = [];
    const driver = recordingDriver(() => Promise.resolve(), undefined, {
      ...{ multipleStatements: true, refused: (error) => void refusals.push((error as { errno?: number }).errno) },
    });
    const dataSource = server.name === 'sqlite' ? world.dataSource : await world.connect({ driver });
    const engines = await Promise.all(Array.from({ length: 5 }, () => world.start({ dataSource, autoStart: false })));
    const [{ store, admin }] = engines as [(typeof engines)[0]];
    // Found out once, as a worker does when it starts.
    const { name: strategy } = (await store.chooseStrategies(new Map([['q', 'auto']]))).of.get('q')!;

    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(
        engines.flatMap(({ producer }) => Array.from({ length: 10 }, () => producer.enqueue('q', round, KEY))),
      );
      const request = claimOf({ limit: 10, strategy });
      const claim = { id: request.claimId, workerId: request.workerId, jobs: await store.claim(request) };
      await store.settle(endOf(claim, { kind: 'complete', result: `${round}` }, { keepMs: false }));

      const ids = new Set(answers.map(({ id }) => id));
      const put = answers.filter(({ existing }) => !existing);
      expect({ round, put: put.length, jobs: claim.jobs.length, ids: ids.size }).toEqual({
        round,
        put: 1,
        jobs: 1,
        ids: 1,
      });
      expect(await admin.get(answers[0]!.id)).toMatchObject({ state: 'completed', result: round });
    }

    // No deadlock, and no wait for a lock that was given up.
    expect(refusals.filter((errno) => errno === 1213 || errno === 1205)).toEqual([]);
  }, 300_000);

  it('are all told the one result when it is there, also where the queue keeps none', async () => {
    const world = await setup();
    const queues = { q: { retention: { completed: false } } } as const;
    const { runner, events } = await world.start({
      queues,
      handlers: { q: ({ payload }) => `done ${String(payload)}` },
      autoStart: false,
    });
    const engines = await Promise.all(Array.from({ length: 5 }, () => world.start({ queues, autoStart: false })));
    const ask = async ({ producer }: (typeof engines)[0]) => {
      const { id } = await producer.enqueue('q', 7, KEY);
      const answer = producer.waitFor(id);
      return { answer };
    };

    const asked = await Promise.all(engines.flatMap((engine) => Array.from({ length: 10 }, () => ask(engine))));
    await runner.start();
    const answers = await Promise.all(asked.map(({ answer }) => answer));

    expect(answers).toEqual(Array.from({ length: 50 }, () => 'done 7'));
    expect(events.of('completed')).toHaveLength(1);
  });

  it('find one alive at any time, while workers run what they put in', async () => {
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
    const seen: number[] = [];
    const produce = async ({ producer }: (typeof engines)[0]) => {
      for (let call = 0; call < 20; call++) put.push(await producer.enqueue('q', call, KEY));
    };
    let isOver = false;
    const watching = eventually(async () => {
      seen.push(await alive(world));
      return isOver;
    });
    await Promise.all(engines.flatMap((engine) => Array.from({ length: 10 }, () => produce(engine))));
    isOver = true;
    await watching;
    await eventually(async () => (await alive(world)) === 0);

    const done = await world.sql<{ id: string }>('SELECT id FROM sql_queue_history ORDER BY id');
    const fresh = put.filter(({ existing }) => !existing).map(({ id }) => id);
    expect(most).toBe(1);
    expect(Math.max(...seen)).toBeLessThanOrEqual(1);
    expect(done.map(({ id }) => Number(id))).toEqual(fresh.sort((a, b) => a - b));
    expect(new Set(put.map(({ id }) => id))).toEqual(new Set(fresh));
  }, 120_000);
});

describeEngines(
  '50 producers in five processes that race for one key',
  (setup) => {
    it('have each of their jobs run once, and never two at a time', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const before = await deadlocks(world);
      await world.start({ autoStart: false });
      const workers = [await processes.worker(), await processes.worker()];

      const racers = await Promise.all(Array.from({ length: 5 }, () => processes.racer({ producers: 10, calls: 100 })));
      await Promise.all(racers.map(({ ended }) => ended));
      await eventually(async () => (await alive(world)) === 0);
      await Promise.all(workers.map((worker) => worker.stop()));

      const journal = processes.journal();
      const put = journal.filter(({ kind, token }) => kind === 'enqueued' && !token).map(({ job }) => job);
      const joined = journal.filter(({ token }) => token === 'joined').map(({ job }) => job);
      const done = await world.sql<{ id: string }>('SELECT id FROM sql_queue_history ORDER BY id');
      expect(racers.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
      expect(put.length + joined.length).toBe(5_000);
      expect(done.map(({ id }) => Number(id))).toEqual(put.sort((a, b) => a - b));
      expect(joined.filter((id) => !put.includes(id))).toEqual([]);
      expect(sideBySide(journal)).toEqual([]);
      expect(await processes.violations()).toEqual([]);
      expect((await deadlocks(world)) - before).toBe(0);
    }, 180_000);
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a producer whose connection breaks while it commits a job with a key',
  (setup) => {
    it('does not put it in again where it has begun and ended meanwhile', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const worker = await world.start({ handlers: { q: () => undefined } });
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'unheard', commitsJobs, ({ sql }) => (LOOKS.test(sql) ? 'held' : 'pass'));

      const enqueued = producer.enqueue('q', 'one', { key: 'k', keyUntil: 'started' });
      await struck;
      await worker.events.until('completed');
      await eventually(async () => (await proxy.deliver()) > 0);
      const { id, existing } = await enqueued;
      await worker.runner.whenIdle();

      expect([id, existing]).toEqual([worker.events.jobs('completed')[0], undefined]);
      expect(worker.events.of('completed')).toHaveLength(1);
    });

    it('puts it in where the COMMIT was lost on its way', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const { producer } = await world.start({ dataSource, autoStart: false });
      const { struck } = strikeOnce(proxy, 'cut', commitsJobs);

      const enqueued = producer.enqueue('q', 'one', KEY);
      await struck;
      const { id, existing } = await enqueued;

      expect(existing).toBeUndefined();
      expect(await world.sql('SELECT id FROM sql_queue_jobs')).toMatchObject([{ id: expect.anything() }]);
      expect(await producer.enqueue('q', 'two', KEY)).toMatchObject({ id, existing: true });
    });
  },
  ['mysql', 'mariadb'],
);

describe.each([
  { sent: 'one by one', multipleStatements: false },
  { sent: 'as one text where they can', multipleStatements: true },
])('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    const scenarios = ['nobody', 'a waiting job', 'a waiting job, to be replaced', 'a finished job'] as const;

    it.each(FAULTS.flatMap((fault) => scenarios.map((holder) => [fault, holder] as const)))(
      'at any statement (%s) of putting in a job whose key %s holds leaves one alive, and says which',
      async (fault, holder) => {
        const world = await setup();
        const { driver, arm, disarm } = faultyDriver({ multipleStatements });
        const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
        const onConflict = holder.endsWith('replaced') ? 'replace' : 'coalesce';

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          if (holder === 'nobody') await world.sql('DELETE FROM sql_queue_keys');
          else await world.jobs.enqueueKeyed([[keyed(KEY, { payload: '"old"' })]]);
          if (holder === 'a finished job') await world.jobs.settle(endOf(await world.claim()));
          const before = await payloads(world);
          arm(fault, failAt);
          const answer = await putStubbornly(jobs, [keyed({ ...KEY, onConflict }, { payload: '"new"' })]);
          const statements = disarm();
          const rows = await payloads(world);

          if (hasCode(answer, 'STORE_UNAVAILABLE')) {
            expect({ failAt, answer }).toMatchObject({ failAt, answer: { outcome: 'not-done' } });
            expect({ failAt, rows }).toEqual({ failAt, rows: before });
          } else {
            const fate = before.length === 0 ? 'new' : onConflict === 'replace' ? 'replaced' : 'existing';
            const payload = fate === 'existing' ? '"old"' : '"new"';
            expect({ failAt, answer }).toMatchObject({ failAt, answer: [{ fate }] });
            const [{ id }] = answer as unknown as [{ id: number }];
            expect({ failAt, rows }).toEqual({ failAt, rows: [{ id, payload }] });
          }
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 2 : 4);
      },
    );

    it.each(FAULTS)('at any statement (%s) of retrying and forgetting keys leaves one alive', async (fault) => {
      const world = await setup();
      const { driver, arm, disarm } = faultyDriver({ multipleStatements });
      const { jobs, admin } = await world.open({ dataSource: await world.connect({ driver }) });

      const faults = await everyFault(async (failAt) => {
        await empty(world);
        await world.sql('DELETE FROM sql_queue_keys');
        const dead = [await deadJob(world), await deadJob(world)];
        world.advance(3_700_000);
        arm(fault, failAt);
        await stubborn(() => jobs.pruneKeys(10));
        await stubborn(() => admin.retry(dead));
        await stubborn(() => jobs.pruneKeys(10));
        const statements = disarm();
        const [joined] = (await putStubbornly(world.jobs, [keyed(KEY)])) as unknown as [{ id: number }];

        expect({ failAt, alive: (await payloads(world)).map(({ id }) => id) }).toEqual({ failAt, alive: [dead[0]] });
        expect({ failAt, joined: joined.id }).toEqual({ failAt, joined: dead[0] });
        return { statements };
      });

      expect(faults).toBeGreaterThan(8);
    });
  });
});

async function alive({ sql }: Pick<EngineWorld, 'sql'>): Promise<number> {
  return Number((await sql<{ n: number }>('SELECT COUNT(*) AS n FROM sql_queue_jobs'))[0]!.n);
}

/** Runs of handlers, of whatever job, that overlap. */
function sideBySide(journal: readonly Entry[]): string[] {
  const found: string[] = [];
  let running: Entry | undefined;
  for (const entry of journal) {
    if (entry.kind === 'begin') {
      if (running) found.push(`job ${entry.job} began while job ${running.job} ran`);
      running = entry;
    } else if (entry.kind === 'end') running = undefined;
  }
  return found;
}

async function deadJob(world: World): Promise<number> {
  const [[placed]] = (await world.jobs.enqueueKeyed([[keyed(KEY)]])) as unknown as [[{ id: number }]];
  await world.jobs.settle(endOf(await world.claim(), outcomes.dead, { keepMs: 9e9 }));
  return placed.id;
}

/** What a producer does with a key that a broken connection still has locked, or a database that is away. */
async function putStubbornly(jobs: JobStore, call: Parameters<JobStore['enqueueKeyed']>[0][0]): Promise<KeyedAnswer> {
  return eventually(async () => {
    const [answer] = await jobs.enqueueKeyed([call]).catch((error: unknown) => [error as never]);
    return answer === 'locked' ? undefined : answer;
  });
}

async function payloads({ sql }: World): Promise<{ id: number; payload: string }[]> {
  const rows = await sql<{ id: string; payload: string }>('SELECT id, payload FROM sql_queue_jobs ORDER BY id');
  return rows.map(({ id, payload }) => ({ id: Number(id), payload }));
}

async function empty({ sql }: World): Promise<void> {
  for (const table of ['jobs', 'claims', 'history']) await sql(`DELETE FROM sql_queue_${table}`);
}
