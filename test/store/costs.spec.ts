import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewFlow } from '../../lib/job/flows/flow.js';
import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import {
  claimRequest,
  finalBatchOf,
  completionBatchOf,
  newJob,
  outcomes,
  completionOf,
  type Claim,
} from '../support/jobs.js';
import { FakeClock } from '../support/fake-clock.js';
import { openProducer } from '../support/open-producer.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { Traffic } from '../support/traffic.js';
import { FAST_RATE } from '../support/limits.js';
import { signalHash } from '../../lib/job/signal.js';
import { newSchedule } from '../support/schedules.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/costs.md'), 'utf8').replace(/ +/g, ' ');
const FULL = 500;

const FREE: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };
const ONE_AT_A_TIME: GroupRules = { ...FREE, concurrency: 1 };

/** The queue with stored events. */
const RECORDED = 'recorded';
const eventOutbox = { emitsEvents: (queue: string) => queue === RECORDED, onEventsCommitted: () => {} };

interface Step {
  readonly title: string;
  /** The numbers of jobs to measure; by default one and many. */
  readonly counts?: readonly number[];
  /** MariaDB has rows of its own in the guide. */
  readonly differsOnMariadb?: true;
  /** Prepares the step and returns the function to measure. */
  prepare(world: World, jobs: JobStore, count: number, opened: OpenStore): Promise<() => Promise<unknown>>;
}

const ON_MARIADB = ', on MariaDB';

const steps: Step[] = [
  {
    title: 'enqueue',
    // The first enqueue of a process opens a commit lane.
    prepare: async (_, jobs, count) => {
      await jobs.enqueue(many(1));
      return () => jobs.enqueue(many(count));
    },
  },
  {
    title: 'enqueue, 50 calls at once',
    counts: [50],
    prepare: async (_, store, count, opened) => {
      const producer = openProducer(opened);
      const all = () => Promise.all(Array.from({ length: count }, () => producer.enqueue('q', 0)));
      await all();
      return all;
    },
  },
  {
    title: 'publish, to that many queues',
    prepare: async (world, jobs, count, opened) => {
      for (let n = 0; n < count; n++) await world.queues.subscribe(`q${n}`, [{ topic: 'x', where: null }]);
      await jobs.enqueue(many(1));
      return () => openProducer(opened).publish('x', 0);
    },
  },
  {
    title: 'publish, without subscribers',
    counts: [1],
    prepare: (_, _jobs, _count, opened) => Promise.resolve(() => openProducer(opened).publish('x', 0)),
  },
  {
    title: 'enqueue with a key',
    counts: [1],
    // The key was used before, and is free again.
    prepare: async (world, jobs) => {
      await world.jobs.enqueueKeyed([[keyedJob({ key: 'k' })]]);
      await world.sql('DELETE FROM sql_queue_jobs');
      return () => jobs.enqueueKeyed([[keyedJob({ key: 'k' })]]);
    },
  },
  {
    title: 'enqueue with a key that has an owner',
    counts: [1],
    prepare: async (world, jobs) => {
      await world.jobs.enqueueKeyed([[keyedJob({ key: 'k' })]]);
      return () => jobs.enqueueKeyed([[keyedJob({ key: 'k' })]]);
    },
  },
  {
    title: 'claim',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count));
      return () => jobs.claim(claimRequest({ limit: count }));
    },
  },
  {
    title: 'complete, kept in the history',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.complete(finalBatchOf(claim));
    },
  },
  {
    title: 'complete, kept with a result each',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      const settlements = claim.jobs.map((job) => completionOf(claim, job, { kind: 'complete', result: `${job.id}` }));
      return () => jobs.complete({ ...finalBatchOf(claim), completions: settlements });
    },
  },
  {
    title: 'complete, not kept',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.complete(finalBatchOf(claim, outcomes.complete, { retentionMs: false }));
    },
  },
  {
    title: 'complete, kept, and claim the next',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      await world.put(...many(count));
      return () => jobs.completeAndClaim(finalBatchOf(claim), claimRequest({ limit: count }));
    },
  },
  {
    title: 'complete, not kept, and claim the next',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      await world.put(...many(count));
      const flush = finalBatchOf(claim, outcomes.complete, { retentionMs: false });
      return () => jobs.completeAndClaim(flush, claimRequest({ limit: count }));
    },
  },
  {
    title: 'fail, to be retried later',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.complete(finalBatchOf(claim, { ...outcomes.retry, delayMs: 60_000 }));
    },
  },
  {
    title: 'fail, to be retried at once',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      return () => jobs.complete(finalBatchOf(claim, outcomes.retry));
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
    title: 'run the due ticks of that many schedules',
    counts: [1, 100],
    prepare: async (world, _, count, { schedules }) => {
      for (const { name } of await schedules.list()) await schedules.remove(name);
      // With such a period no tick comes but by the advance of the clock.
      const everyMs = 300 * 86_400_000;
      for (let n = 0; n < count; n++) await schedules.upsert(newSchedule({ name: `s${n}`, everyMs }));
      world.advance(everyMs);
      return () => schedules.runTicks([]);
    },
  },
  {
    title: 'claim within `maxRunning`',
    differsOnMariadb: true,
    prepare: async (world, jobs, count, { limits }) => {
      await limits.declareLimits(new Map([['q', { maxRunning: 10_000, rate: null }]]));
      await claimed(world, 1);
      await world.put(...many(count));
      return () => jobs.claim(claimRequest({ limit: count, isLimited: true }));
    },
  },
  {
    title: 'claim within a rate',
    differsOnMariadb: true,
    prepare: async (world, jobs, count, { limits }) => {
      await limits.declareLimits(new Map([['q', { maxRunning: null, rate: FAST_RATE }]]));
      await world.put(...many(count));
      return () => jobs.claim(claimRequest({ limit: count, isLimited: true }));
    },
  },
  {
    title: 'claim in turn, one job of each group',
    prepare: async (world, jobs, count) => {
      await prepareGroups(world, jobs, count);
      return () => jobs.claim(claimRequest({ limit: count, groups: ONE_AT_A_TIME }));
    },
  },
  {
    title: 'complete, kept, and claim the next in turn',
    prepare: async (world, jobs, count) => {
      await prepareGroups(world, jobs, count);
      const claim = await world.claim({ limit: count, startLimit: count, groups: ONE_AT_A_TIME });
      return () => jobs.completeAndClaim(finalBatchOf(claim), claimRequest({ limit: count, groups: ONE_AT_A_TIME }));
    },
  },
  {
    title: 'let that many jobs join their groups',
    prepare: async (world, jobs, count) => {
      await prepareGroups(world, jobs, 0);
      while ((await jobs.claim(claimRequest({ limit: FULL, groups: FREE }))).length > 0);
      await world.jobs.enqueue(Array.from({ length: count }, () => newJob({ group: 'g0' })));
      return () => jobs.claim(claimRequest({ limit: 1, groups: FREE }));
    },
  },
  {
    title: 'read the steps of a job',
    counts: [1],
    prepare: async (world, _jobs, _count, { steps }) => {
      const [job] = (await claimed(world, 1)).jobs;
      return () => steps.readSteps(job!.id);
    },
  },
  {
    title: 'store a step',
    counts: [1],
    prepare: async (world, _jobs, _count, { steps }) => {
      const {
        id: claimId,
        jobs: [job],
      } = await claimed(world, 1);
      return () => steps.writeStep({ jobId: job!.id, claimId }, 'a', '1');
    },
  },
  {
    title: 'send a signal without a waiting job',
    counts: [1],
    prepare: (_world, _jobs, _count, opened) => Promise.resolve(() => openProducer(opened).signal('approval', 'k')),
  },
  ...(['a new signal', 'a signal that another job has received'] as const).map((signal): Step => ({
    title: `receive ${signal}`,
    counts: [1],
    prepare: async (world, _jobs, _count, { steps }) => {
      const { id: claimId, jobs } = await claimed(world, 2);
      const [first, second] = jobs.map(({ id: jobId }) => ({ jobId, claimId }));
      const sent = { key: 'k', hash: signalHash('approval', 'k') };
      await steps.signal({ name: 'approval', data: null, ...sent });
      const receive = (owner: typeof first) => steps.waitForSignal(owner!, 'approval', sent, 1_000);
      if (signal !== 'a new signal') await receive(first);
      return () => receive(second);
    },
  })),
  {
    title: 'enqueue a flow, that many jobs before one',
    prepare: (_world, _jobs, count, { flows }) => Promise.resolve(() => flows.create(fanIn(count))),
  },
  {
    title: 'complete, kept, that many jobs of a flow',
    prepare: async (world, jobs, count, { flows }) => {
      await flows.create(fanIn(count));
      const held = await claimedAll(world, count);
      return () => jobs.complete(finalBatchOf(held, outcomes.complete));
    },
  },
  {
    title: 'unblock the job after that many',
    prepare: async (world, jobs, count, { flows }) => {
      const { jobIds } = await flows.create(fanIn(count));
      await jobs.complete(finalBatchOf(await claimedAll(world, count), outcomes.complete));
      return () => flows.settle(jobIds.slice(0, count), () => 60_000);
    },
  },
  {
    title: 'prune from the history',
    prepare: async (world, jobs, count) => {
      await world.jobs.complete(finalBatchOf(await claimed(world, count), outcomes.complete, { retentionMs: 1 }));
      world.advance(1_000);
      return () => jobs.prune(count);
    },
  },
  {
    title: 'start more jobs of a claim',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count, 0);
      return () =>
        jobs.complete(completionBatchOf([], { claims: [{ id: claim.id, startLimit: count, isFinished: false }] }));
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
    title: 'report that the worker is alive',
    counts: [1],
    prepare: async (world, _jobs, _count, { workers }) => {
      const id = randomUUID();
      await world.workers.register({ id, host: 'h', pid: 1, queues: new Map([['q', 1]]) });
      return () => workers.markSeen(id);
    },
  },
  {
    title: 'poll for work, all queues of a process',
    prepare: (_, jobs) => Promise.resolve(() => jobs.summarizeWork(['q'])),
  },
  {
    title: 'read the outcomes of awaited jobs',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.readJobs(ids);
    },
  },
  {
    title: 'store waits for jobs',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.register(1, ids, 60_000);
    },
  },
  {
    title: 'delete waits for jobs',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      await world.waits.register(1, ids, 60_000);
      return () => waits.unregister(1, ids);
    },
  },
  {
    title: 'read the waits for finished jobs',
    prepare: async (world, _jobs, count, { waits }) => {
      const ids = await world.put(...many(count));
      return () => waits.waitersOf(ids);
    },
  },
  {
    title: 'store the progress of running jobs',
    prepare: async (world, _jobs, count, { jobLogs }) => {
      const { id: claimId, jobs } = await claimed(world, count);
      return () => jobLogs.writeJobLogs(jobs.map(({ id: jobId }) => ({ jobId, claimId, value: '1', lines: [] })));
    },
  },
  {
    title: 'enqueue, with events',
    prepare: async (_, jobs, count) => {
      await jobs.enqueue(many(1));
      return () => jobs.enqueue(many(count, RECORDED));
    },
  },
  {
    title: 'claim, with events',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count, RECORDED));
      return () => jobs.claim(claimRequest({ limit: count, queue: RECORDED }));
    },
  },
  {
    title: 'complete, kept, and claim the next, with events',
    prepare: async (world, jobs, count) => {
      await world.put(...many(count, RECORDED));
      const claim = await world.claim({ limit: count, startLimit: count, queue: RECORDED });
      await world.put(...many(count, RECORDED));
      return () => jobs.completeAndClaim(finalBatchOf(claim), claimRequest({ limit: count, queue: RECORDED }));
    },
  },
  {
    title: 'read stored events',
    prepare: async (_, jobs, count, { events }) => {
      await jobs.enqueue(many(count, RECORDED));
      return () => events.readAfter(0, FULL);
    },
  },
  {
    title: 'complete in `job.transaction()`',
    counts: [1],
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      const value = () => ({ value: 0, completion: completionOf(claim, claim.jobs[0]!) });
      return () => jobs.completeWith(() => Promise.resolve(value()));
    },
  },
];

// SQLite has one claim strategy.
const strategySteps: Step[] = (['optimistic', 'update', 'lock'] as const).map((strategy) => ({
  title: `claim by \`${strategy}\``,
  prepare: async (world, jobs, count) => {
    await world.put(...many(count));
    return () => jobs.claim(claimRequest({ limit: count, strategy }));
  },
}));

// Every job pays for a number that rises. The guide states the numbers, and this test keeps the guide correct.
describeStoresOf(['mysql', 'mariadb'], 'the cost of a job', (setup, { server }) => {
  it.each([...steps, ...strategySteps])(
    'equals the figure in the guide: $title',
    async ({ title, prepare, counts = [1, FULL], differsOnMariadb }) => {
      const world = await setup();
      const row = differsOnMariadb && server.name === 'mariadb' ? title + ON_MARIADB : title;
      const traffic = new Traffic();
      const dataSource = await world.connect({ driver: traffic.driver });
      // A clock that stands still keeps periodic statements out of the count.
      const opened = await world.open({ dataSource, clock: new FakeClock(), eventOutbox });
      const { jobs } = opened;
      // The first run opens connections, which send statements of their own.
      await (
        await prepare(world, jobs, counts.at(-1)!, opened)
      )();
      await empty(world);

      for (const count of counts) {
        const act = await prepare(world, jobs, count, opened);
        traffic.drain();
        await act();

        expect(GUIDE).toContain(rowOf(row, count, traffic));
      }
    },
  );

  it('excludes payloads sent back to the database for equal completions', async () => {
    const world = await setup();
    const traffic = new Traffic();
    const { jobs } = await world.open({ dataSource: await world.connect({ driver: traffic.driver }) });
    const payload = '"nobody has to read this"';
    await world.put(...Array.from({ length: 20 }, () => ({ payload })));
    const claim = await world.claim({ limit: 20 });
    traffic.drain();

    await jobs.complete(finalBatchOf(claim));

    const sent = traffic.drain().flatMap(({ statements }) => statements);
    expect(sent).toHaveLength(3);
    expect(sent.filter((sql) => sql.includes('nobody has to read'))).toEqual([]);
    expect(await world.sql('SELECT DISTINCT payload FROM sql_queue_history')).toEqual([{ payload }]);
  });
});

// SQLite counts the row of a group once, and reads arrived jobs in another range.
const IN_GROUPS = /in turn|join their groups/;

describeStoresOf(['sqlite'], 'the cost of a job', (setup) => {
  it.each(steps.filter(({ title }) => !IN_GROUPS.test(title)))(
    'equals the figure in the guide: $title',
    async ({ title, prepare, counts = [1, FULL] }) => {
      const world = await setup();
      const traffic = new Traffic();
      const dataSource = await world.connect({ driver: await traffic.sqliteDriver() });
      const opened = await world.open({ dataSource, clock: new FakeClock(), eventOutbox });
      const { jobs } = opened;

      for (const count of counts) {
        const act = await prepare(world, jobs, count, opened);
        traffic.drain();
        await act();

        const [statements, , commits, rows] = figuresOf(traffic);
        const listed = guideRows().find((row) => row[0] === title && row[1] === `${count}`)!;
        // Enqueues are counted in the commit log only if a connection can break.
        const uncounted = /^(enqueue|publish)/.test(title) ? commits! : 0;
        const less = /^claim|and claim|^promote/.test(title) ? 1 : uncounted;
        expect([statements! + less, commits, rows! + uncounted].map(String)).toEqual([listed[2], listed[4], listed[5]]);
        await empty(world);
      }
    },
  );
});

describe('the guide to the cost of a job', () => {
  it('contains only measured figures', () => {
    const counted = [...steps, ...strategySteps].flatMap(({ title, counts = [1, FULL], differsOnMariadb }) =>
      [title, ...(differsOnMariadb ? [title + ON_MARIADB] : [])].flatMap((row) =>
        counts.map((count) => [row, `${count}`]),
      ),
    );

    expect(guideRows().map((row) => row.slice(0, 2))).toEqual(expect.arrayContaining(counted));
    expect(guideRows()).toHaveLength(counted.length);
  });
});

/** Returns the rows of the guide's table. */
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

/** Returns the statements, round trips, commits and rows written. */
function figuresOf(traffic: Traffic): number[] {
  const done = traffic.drain();
  const sum = (of: (one: (typeof done)[number]) => number) => done.reduce((total, one) => total + of(one), 0);
  return [
    sum(({ statements }) => statements.length),
    sum(({ roundTrips }) => roundTrips),
    sum(({ rowsWritten }) => Number(rowsWritten > 0)),
    sum(({ rowsWritten }) => rowsWritten),
  ];
}

async function empty({ sql }: World): Promise<void> {
  for (const table of [
    'jobs',
    'claims',
    'history',
    'workers',
    'subscriptions',
    'waits',
    'progress',
    'events',
    'groups',
  ])
    await sql(`DELETE FROM sql_queue_${table}`);
}

function many(count: number, queue = 'q') {
  return Array.from({ length: count }, () => newJob({ queue }));
}

/** Two jobs in each group, which have joined it. The store has looked for arrived jobs, and does not look again soon. */
async function prepareGroups(world: World, jobs: World['jobs'], groups: number): Promise<void> {
  const jobsOf = (group: string) => [newJob({ group }), newJob({ group })];
  await world.jobs.enqueue(jobsOf('first'));
  await jobs.claim(claimRequest({ groups: FREE }));
  await empty(world);
  if (groups > 0) await world.jobs.enqueue(Array.from({ length: groups }, (_, n) => jobsOf(`g${n}`)).flat());
  // Lets the jobs join, and takes none.
  const arriving = 'SELECT id FROM sql_queue_jobs WHERE runnable = 4 LIMIT 1';
  while ((await world.sql(arriving)).length > 0) await world.claim({ groups: { ...FREE, concurrency: 0 } });
  await world.sql(`UPDATE sql_queue_groups SET state = 'ready', turn = turn - 10000 WHERE state = 'blocked'`);
}

/** A flow of that many jobs and one after them. */
function fanIn(count: number): NewFlow {
  const edges = Array.from({ length: count }, (_, needs) => ({ job: count, needs, onFailure: 'cancel' }) as const);
  return { jobs: [...many(count), newJob({ queue: 'after', isBlocked: true })], edges };
}

function claimedAll(world: World, count: number): Promise<Claim> {
  return world.claim({ limit: count, startLimit: count });
}

async function claimed(world: World, count: number, started = count): Promise<Claim> {
  await world.put(...many(count));
  return world.claim({ limit: count, startLimit: started });
}
