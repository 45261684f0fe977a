import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobStore } from '../../lib/store/job-store.js';
import { claimOf, endOf, flushOf, newJob, outcomes, settled, type Claim } from '../support/jobs.js';
import { FakeClock } from '../support/fake-clock.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { Traffic } from '../support/traffic.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/costs.md'), 'utf8').replace(/ +/g, ' ');
const FULL = 500;

interface Step {
  readonly title: string;
  /** Does what is to be counted, once it has been prepared. */
  prepare(world: World, jobs: JobStore, count: number): Promise<() => Promise<unknown>>;
}

const steps: Step[] = [
  {
    title: 'enqueue',
    prepare: (_, jobs, count) => Promise.resolve(() => jobs.enqueue(many(count))),
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
    title: 'promote',
    prepare: async (world, jobs, count) => {
      await world.put(...Array.from({ length: count }, () => ({ delayMs: 1 })));
      world.advance(1_000);
      return () => jobs.promote(count);
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
    title: 'look for work, all queues of a process',
    prepare: (_, jobs) => Promise.resolve(() => jobs.survey(['q'])),
  },
  {
    title: 'complete in `job.transaction()`',
    prepare: async (world, jobs, count) => {
      const claim = await claimed(world, count);
      const value = () => ({ value: 0, settlement: settled(claim, claim.jobs[0]!) });
      return () => jobs.completeWith(() => Promise.resolve(value()));
    },
  },
];

// A number that rises is paid by every job from then on: the guide says what it is, and this that the guide is right.
describeStoresOf(['mysql', 'mariadb'], 'what a job costs', (setup) => {
  it.each(steps)('is what the guide says: $title', async ({ title, prepare }) => {
    const world = await setup();
    const traffic = new Traffic();
    const dataSource = await world.connect({ driver: traffic.driver });
    // Nothing that is done every so often is done in no time.
    const { jobs } = await world.open({ dataSource, clock: new FakeClock() });
    await jobs.survey(['q']);

    for (const count of title.includes('`') ? [1] : [1, FULL]) {
      const act = await prepare(world, jobs, count);
      traffic.take();
      await act();

      expect(GUIDE).toContain(rowOf(title, count, traffic));
    }
  });
});

function rowOf(title: string, count: number, traffic: Traffic): string {
  const done = traffic.take();
  const sum = (of: (one: (typeof done)[number]) => number) => done.reduce((total, one) => total + of(one), 0);
  const rows = sum(({ rowsWritten }) => rowsWritten);
  const figures = [
    sum(({ statements }) => statements.length),
    sum(({ roundTrips }) => roundTrips),
    sum(({ rowsWritten }) => Number(rowsWritten > 0)),
    rows,
    rows % count === 0 ? rows / count : (rows / count).toFixed(3),
  ];
  return `| ${[title, count, ...figures].join(' | ')} |`;
}

function many(count: number) {
  return Array.from({ length: count }, () => newJob());
}

async function claimed(world: World, count: number, started = count): Promise<Claim> {
  await world.put(...many(count));
  return world.claim({ limit: count, started });
}
