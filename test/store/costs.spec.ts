import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobStore } from '../../lib/store/job-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { claimOf, endOf, flushOf, newJob, outcomes, settled, type Claim } from '../support/jobs.js';
import { FakeClock } from '../support/fake-clock.js';
import { producerOn } from '../support/producer-on.js';
import { keyed } from '../support/keyed.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { Traffic } from '../support/traffic.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/costs.md'), 'utf8').replace(/ +/g, ' ');
const FULL = 500;

/** The queue whose changes are recorded. */
const RECORDED = 'recorded';
const recorder = { isRecorded: (queue: string) => queue === RECORDED, onRecorded: () => {} };

interface Step {
  readonly title: string;
  /** With how many jobs it is done; else with one and with many. */
  readonly counts?: readonly number[];
  /** Does what is to be counted, once it has been prepared. */
  prepare(world: World, jobs: JobStore, count: number, opened: OpenStore): Promise<() => Promise<unknown>>;
}

const steps: Step[] = [
  {
    title: 'enqueue',
    // The first of a process opens a line.
    prepare: async (_, jobs, count) => {
      await jobs.enqueue(many(1));
      return () => jobs.enqueue(many(count));
    },
  },
  {
    title: 'enqueue, 50 calls at once',
    counts: [50],
    prepare: async (_, store, count, opened) => {
      const producer = producerOn(opened);
      const all = () => Promise.all(Array.from({ length: count }, () => producer.enqueue('q', 0)));
      await all();
      return all;
    },
  },
  {
    title: 'publish, to so many queues',
    prepare: async (world, jobs, count, opened) => {
      for (let n = 0; n < count; n++) await world.queues.subscribe(`q${n}`, [{ topic: 'x', where: null }]);
      await jobs.enqueue(many(1));
      return () => producerOn(opened).publish('x', 0);
    },
  },
  {
    title: 'publish, to nobody',
    counts: [1],
    prepare: (_, _jobs, _count, opened) => Promise.resolve(() => producerOn(opened).publish('x', 0)),
  },
  {
    title: 'enqueue with a key',
    counts: [1],
    // That has been used before, and is free again.
    prepare: async (world, jobs) => {
      await world.jobs.enqueueKeyed([[keyed({ key: 'k' })]]);
      await world.sql('DELETE FROM sql_queue_jobs');
      return () => jobs.enqueueKeyed([[keyed({ key: 'k' })]]);
    },
  },
  {
    title: 'enqueue with a key that is held',
    counts: [1],
    prepare: async (world, jobs) => {
      await world.jobs.enqueueKeyed([[keyed({ key: 'k' })]]);
      return () => jobs.enqueueKeyed([[keyed({ key: 'k' })]]);
    },
  },
  {
    title: 'claim',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count));
      return () => jobs.claim(claimOf({ limit: count }));
    },
  },
  {
    title: 'complete, kept in the history',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.settle(endOf(claim));
    },
  },
  {
    title: 'complete, kept with a result each',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      const settlements = claim.jobs.map((job) => settled(claim, job, { kind: 'complete', result: `${job.id}` }));
      return () => jobs.settle({ ...endOf(claim), settlements });
    },
  },
  {
    title: 'complete, not kept',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.settle(endOf(claim, outcomes.complete, { keepMs: false }));
    },
  },
  {
    title: 'complete, kept, and claim the next',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      await world.put(...many(count));
      return () => jobs.settleAndClaim(endOf(claim), claimOf({ limit: count }));
    },
  },
  {
    title: 'complete, not kept, and claim the next',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      await world.put(...many(count));
      const flush = endOf(claim, outcomes.complete, { keepMs: false });
      return () => jobs.settleAndClaim(flush, claimOf({ limit: count }));
    },
  },
  {
    title: 'fail, to be retried later',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.settle(endOf(claim, { ...outcomes.retry, delayMs: 60_000 }));
    },
  },
  {
    title: 'fail, to be retried at once',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.settle(endOf(claim, outcomes.retry));
    },
  },
  {
    title: 'promote',
    prepare: async (world, jobs, count) => {
      await world.put(...Array.from({ length: count }, () => ({ delayMs: 1 })));
      world.advance(1_000);
      return () => jobs.promote(count);
    },
  },
  {
    title: 'prune from the history',
    prepare: async (world, jobs, count) => {
      await world.jobs.settle(endOf(await claimed(world, count), outcomes.complete, { keepMs: 1 }));
      world.advance(1_000);
      return () => jobs.prune(count);
    },
  },
  {
    title: 'let more of a claim begin',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count, 0);
      return () => jobs.settle(flushOf([], { claims: [{ id: claim.id, started: count, finished: false }] }));
    },
  },
  {
    title: 'renew the leases of all claims of a process',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.extend([claim.id]);
    },
  },
  {
    title: 'tell that the worker is still there',
    counts: [1],
    prepare: async (world, jobs) => {
      const id = randomUUID();
      await world.jobs.enter({ id, host: 'h', pid: 1, queues: ['q'] });
      return () => jobs.seen(id);
    },
  },
  {
    title: 'look for work, all queues of a process',
    prepare: (_, jobs) => Promise.resolve(() => jobs.survey(['q'])),
  },
  {
    title: 'look what became of jobs that are waited for',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.look(ids);
    },
  },
  {
    title: 'note that jobs are waited for',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.enlist(1, ids, 60_000);
    },
  },
  {
    title: 'note that they are waited for no more',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      await world.waits.enlist(1, ids, 60_000);
      return () => waits.strike(1, ids);
    },
  },
  {
    title: 'ask who waits for jobs that have ended',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.waitersOf(ids);
    },
  },
  {
    title: 'write the progress of jobs that run',
    prepare: async (world, _jobs, count, { traces }) => {
      const { id: claimId, jobs } = await claimed(world, count);
      return () => traces.trace(jobs.map(({ id: jobId }) => ({ jobId, claimId, value: '1', lines: [] })));
    },
  },
  {
    title: 'enqueue, recorded',
    prepare: async (_, jobs, count) => {
      await jobs.enqueue(many(1));
      return () => jobs.enqueue(many(count, RECORDED));
    },
  },
  {
    title: 'claim, recorded',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count, RECORDED));
      return () => jobs.claim(claimOf({ limit: count, queue: RECORDED }));
    },
  },
  {
    title: 'complete, kept, and claim the next, recorded',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count, RECORDED));
      const claim = await world.claim({ limit: count, started: count, queue: RECORDED });
      await world.put(...many(count, RECORDED));
      return () => jobs.settleAndClaim(endOf(claim), claimOf({ limit: count, queue: RECORDED }));
    },
  },
  {
    title: 'hear what was recorded',
    prepare: async (_, jobs, count, { events }) => {
      await jobs.enqueue(many(count, RECORDED));
      return () => events.after(0, FULL);
    },
  },
  {
    title: 'complete in `job.transaction()`',
    counts: [1],
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      const value = () => ({ value: 0, settlement: settled(claim, claim.jobs[0]!) });
      return () => jobs.completeWith(() => Promise.resolve(value()));
    },
  },
];

// SQLite has one way to claim.
const strategySteps: Step[] = (['optimistic', 'update', 'lock'] as const).map((strategy) => ({
  title: `claim by \`${strategy}\``,
  prepare: async (world, jobs, count) => {
    await world.put(...many(count));
    return () => jobs.claim(claimOf({ limit: count, strategy }));
  },
}));

// A number that rises is paid by every job from then on: the guide says what it is, and this that the guide is right.
describeStoresOf(['mysql', 'mariadb'], 'what a job costs', (setup) => {
  it.each([...steps, ...strategySteps])(
    'is what the guide says: $title',
    async ({ title, prepare, counts = [1, FULL] }) => {
      const world = await setup();
      const traffic = new Traffic();
      const dataSource = await world.connect({ driver: traffic.driver });
      // Nothing that is done every so often is done in no time.
      const opened = await world.open({ dataSource, clock: new FakeClock(), recorder });
      const { jobs } = opened;
      // Once beforehand, since some things are asked once for each connection.
      await (
        await prepare(world, jobs, counts.at(-1)!, opened)
      )();
      await empty(world);

      for (const count of counts) {
        const act = await prepare(world, jobs, count, opened);
        traffic.take();
        await act();

        expect(GUIDE).toContain(rowOf(title, count, traffic));
      }
    },
  );

  it('is no payload that travels back to the database it came from, where jobs ended alike', async () => {
    const world = await setup();
    const traffic = new Traffic();
    const { jobs } = await world.open({ dataSource: await world.connect({ driver: traffic.driver }) });
    const payload = '"nobody has to read this"';
    await world.put(...Array.from({ length: 20 }, () => ({ payload })));
    const claim = await world.claim({ limit: 20 });
    traffic.take();

    await jobs.settle(endOf(claim));

    const sent = traffic.take().flatMap(({ statements }) => statements);
    expect(sent).toHaveLength(3);
    expect(sent.filter((sql) => sql.includes('nobody has to read'))).toEqual([]);
    expect(await world.sql('SELECT DISTINCT payload FROM sql_queue_history')).toEqual([{ payload }]);
  });
});

describeStoresOf(['sqlite'], 'what a job costs', (setup) => {
  it.each(steps)('is what the guide says: $title', async ({ title, prepare, counts = [1, FULL] }) => {
    const world = await setup();
    const traffic = new Traffic();
    const dataSource = await world.connect({ driver: await traffic.sqliteDriver() });
    const opened = await world.open({ dataSource, clock: new FakeClock(), recorder });
    const { jobs } = opened;

    for (const count of counts) {
      const act = await prepare(world, jobs, count, opened);
      traffic.take();
      await act();

      const [statements, , commits, rows] = figuresOf(traffic);
      const listed = guideRows().find((row) => row[0] === title && row[1] === `${count}`)!;
      // Where no connection can break, an enqueue is not counted.
      const uncounted = /^(enqueue|publish)/.test(title) ? commits! : 0;
      const less = /^claim|and claim|^promote/.test(title) ? 1 : uncounted;
      expect([statements! + less, commits, rows! + uncounted].map(String)).toEqual([listed[2], listed[4], listed[5]]);
      await empty(world);
    }
  });
});

describe('the guide to what a job costs', () => {
  it('says nothing that is not counted', () => {
    const counted = [...steps, ...strategySteps].flatMap(({ title, counts = [1, FULL] }) =>
      counts.map((count) => [title, `${count}`]),
    );

    expect(guideRows().map((row) => row.slice(0, 2))).toEqual(expect.arrayContaining(counted));
    expect(guideRows()).toHaveLength(counted.length);
  });
});

/** The rows of the guide's table. */
function guideRows(): string[][] {
  const rows = GUIDE.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((line) => line.slice(2, -2).split(' | '));
}

function rowOf(title: string, count: number, traffic: Traffic): string {
  const figures = figuresOf(traffic);
  const rows = figures.at(-1)!;
  const perJob = rows % count === 0 ? rows / count : (rows / count).toFixed(3);
  return `| ${[title, count, ...figures, perJob].join(' | ')} |`;
}

/** Statements, round trips, commits and rows written. */
function figuresOf(traffic: Traffic): number[] {
  const done = traffic.take();
  const sum = (of: (one: (typeof done)[number]) => number) => done.reduce((total, one) => total + of(one), 0);
  return [
    sum(({ statements }) => statements.length),
    sum(({ roundTrips }) => roundTrips),
    sum(({ rowsWritten }) => Number(rowsWritten > 0)),
    sum(({ rowsWritten }) => rowsWritten),
  ];
}

async function empty({ sql }: World): Promise<void> {
  for (const table of ['jobs', 'claims', 'history', 'workers', 'subscriptions', 'waits', 'progress', 'events'])
    await sql(`DELETE FROM sql_queue_${table}`);
}

function many(count: number, queue = 'q') {
  return Array.from({ length: count }, () => newJob({ queue }));
}

async function claimed(world: World, count: number, started = count): Promise<Claim> {
  await world.put(...many(count));
  return world.claim({ limit: count, started });
}
