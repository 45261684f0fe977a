import { hasCode } from '../../lib/job/errors.js';
import type { Outcome } from '../../lib/job/outcome.js';
import type { Flush, JobStore, Settlement } from '../../lib/store/job-store.js';
import { everyFault } from '../support/every-fault.js';
import {
  claimOf,
  endOf,
  flushOf,
  idsOf,
  LEASE_MS,
  newJob,
  outcomes,
  rescueRules,
  settled,
  type Claim,
} from '../support/jobs.js';
import { FAULTS, openFaulty, SENDING } from '../support/store-faults.js';
import { roundsUntilEmpty } from '../support/rows-left.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { stubborn } from '../support/stubborn.js';

// Each does all of it again for every statement in it.
const EACH_STATEMENT_MS = 300_000;

describe.each(SENDING)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(['mysql', 'mariadb'], 'a connection that fails', (setup) => {
    it.each(FAULTS)(
      'at any statement (%s) loses no job and runs no completed one again',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {}, { delayMs: 1_000 }, {});
          arm(fault, failAt);
          const completed = await live(jobs, world);
          const statements = disarm();
          const again = await workOff(world);

          expect({ failAt, again: again.filter((id) => completed.includes(id)) }).toEqual({ failAt, again: [] });
          expect({ failAt, ids: await finished(world) }).toEqual({ failAt, ids });
          return { statements };
        });

        expect(faults).toBeGreaterThan(multipleStatements ? 15 : 20);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS.flatMap((fault) => [[fault, 'all its own'] as const, [fault, 'one of them lost'] as const]))(
      'at any statement (%s) of outcomes and a claim in one (%s) does all of it or nothing',
      async (fault, whose) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put(...Array.from({ length: 20 }, () => ({})));
          const flush = await manyAlike(world, whose === 'one of them lost');
          arm(fault, failAt);
          const { lost, next } = await settleAndClaim(jobs, flush, world);
          const statements = disarm();
          const completed = flush.settlements.filter((one) => one.outcome.kind === 'complete' && !lost.has(one));
          const again = await workOff(world);

          expect({ failAt, lost: lost.size, next }).toEqual({
            failAt,
            lost: whose === 'one of them lost' ? 1 : 0,
            next: 3,
          });
          expect({ failAt, again: again.filter((id) => completed.some(({ job }) => job.id === id)) }).toEqual({
            ...{ failAt, again: [] },
          });
          expect({ failAt, ids: await finished(world) }).toEqual({ failAt, ids });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 3 : 11);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS.flatMap((fault) => [[fault, 'optimistic'] as const, [fault, 'update'] as const]))(
      'at any statement (%s) of a claim by %s marks the jobs of a claim that is there, or none',
      async (fault, strategy) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {});
          arm(fault, failAt);
          const handed = await jobs.claim(claimOf({ limit: 2, strategy })).catch((error: unknown) => {
            if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
            return undefined;
          });
          const statements = disarm();
          const { marked, listed } = await claimed(world);
          const withoutClaim = await world.sql(
            'SELECT id FROM sql_queue_jobs WHERE claim_id NOT IN (SELECT id FROM sql_queue_claims) AND claim_id <> 0',
          );

          expect({ failAt, withoutClaim }).toEqual({ failAt, withoutClaim: [] });
          // The row of a claim by update is there before it lists its jobs.
          const isToBeListed = strategy === 'update' && !handed && listed.length === 0;
          if (!isToBeListed) expect({ failAt, marked }).toEqual({ failAt, marked: listed });
          if (handed) expect({ failAt, ids: idsOf(handed) }).toEqual({ failAt, ids: marked });
          await workOff(world);
          expect({ failAt, ids: await finished(world) }).toEqual({ failAt, ids });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 3 : 5);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS.flatMap((fault) => [1, 3, 2_500].map((count) => [fault, count] as const)))(
      'at any statement (%s) of putting in %i jobs has them in once, or has none and says so',
      async (fault, count) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          arm(fault, failAt);
          const answer = await jobs
            .enqueue(Array.from({ length: count }, () => newJob()))
            .catch((error: unknown) => error);
          const statements = disarm();
          const rows = await world.sql<{ id: string }>('SELECT id FROM sql_queue_jobs ORDER BY id');

          if (Array.isArray(answer))
            expect({ failAt, ids: rows.map(({ id }) => Number(id)) }).toEqual({ failAt, ids: answer });
          else expect({ failAt, answer, rows }).toMatchObject({ failAt, answer: { outcome: 'not-done' }, rows: [] });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements && count < 1_000 ? 1 : 4);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS)(
      'at any statement (%s) of sending back a job that somebody wants cancelled cancels it, and runs it no more',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const [unwanted, other] = await world.put({}, {});
          const taken = await world.claim({ limit: 2 });
          await world.admin.cancel(unwanted!, () => 60_000);
          arm(fault, failAt);
          const lost = await settle(jobs, endOf(taken, outcomes.retry));
          const statements = disarm();

          expect({ failAt, lost: lost.size, states: await states(world) }).toEqual({
            ...{ failAt, lost: 0, states: { [unwanted!]: 'cancelled', [other!]: 'waiting' } },
          });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 5 : 8);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS)(
      'at any statement (%s) of waiting for jobs and taking their answers leaves nothing of them, and all of others',
      async (fault) => {
        const world = await setup();
        const { waits, traces, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {});
          const taken = await world.claim({ limit: 3 });
          const said = taken.jobs.map(({ id }) => ({ jobId: id, claimId: taken.id, value: '1', lines: [] }));
          arm(fault, failAt);
          await stubborn(() => traces.trace(said));
          await stubborn(() => settle(world.jobs, endOf(taken)));
          await stubborn(() => waits.enlist(7, ids, 60_000));
          const seen = await stubborn(() => waits.look(ids));
          const waiters = await stubborn(() => waits.waitersOf(ids));
          await stubborn(() => waits.forget(7, [ids[0]!]));
          await stubborn(() => waits.strike(7, [ids[1]!]));
          await stubborn(() => waits.pruneWaits(10));
          const told = await stubborn(() => traces.progressOf(ids));
          await stubborn(() => traces.untrace(ids));
          await stubborn(() => traces.pruneTraces(10));
          const statements = disarm();
          const rows = await world.sql<{ job_id: string }>('SELECT job_id FROM sql_queue_waits');

          expect({ failAt, seen: [...seen.keys()], waiters }).toEqual({ failAt, seen: ids, waiters: [7] });
          expect({ failAt, left: await finished(world), told: told.size }).toEqual({
            failAt,
            left: ids.slice(1),
            told: 2,
          });
          expect({ failAt, awaited: rows.map((row) => Number(row.job_id)) }).toEqual({ failAt, awaited: [ids[2]] });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(6);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS)(
      'at any statement (%s) of steering leaves each job in the one state that was asked for',
      async (fault) => {
        const world = await setup();
        const { jobs, admin, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const [cancelled, dead, removed, scheduled] = await world.put(
            { priority: -9 },
            { priority: -8 },
            {},
            { delayMs: 9e6 },
          );
          arm(fault, failAt);
          await stubborn(() => admin.cancel(cancelled!, () => 60_000));
          const taken = await stubborn(() => claim(jobs, 1));
          // A claim that was made without our knowledge lapses.
          if (taken.jobs.length > 0) {
            const progress = { claims: [{ id: taken.id, started: 1, finished: true }] };
            await settle(jobs, flushOf([settled(taken, taken.jobs[0]!, outcomes.dead)], progress));
          }
          await stubborn(() => admin.remove([removed!]));
          await stubborn(() => admin.retry([scheduled!]));
          await stubborn(() => admin.setPaused('q', true));
          await stubborn(() => jobs.countWaiting('q', 10));
          await stubborn(() => admin.counts());
          await stubborn(() => jobs.prune(10));
          await stubborn(() => admin.setPaused('q', false));
          const statements = disarm();

          expect({ failAt, states: await states(world) }).toEqual({
            failAt,
            states: {
              [cancelled!]: 'cancelled',
              [dead!]: expect.stringMatching(/dead|active|waiting/),
              [scheduled!]: expect.stringMatching(/waiting|dead|active/),
            },
          });
          return { statements };
        });

        expect(faults).toBeGreaterThan(multipleStatements ? 15 : 20);
      },
      EACH_STATEMENT_MS,
    );

    it.each(FAULTS)(
      'at any statement (%s) of the look at how a queue can be claimed keeps no worker from its start',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaulty(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          arm(fault, failAt);
          const choose = () => jobs.chooseStrategies(new Map([[`q-${failAt}`, 'auto']]));
          const { of } = await (fault === 'down' ? stubborn(choose) : choose());
          const statements = disarm();

          expect({ failAt, of: [...of.values()] }).toEqual({ failAt, of: [{ name: 'skip-locked', mayShare: true }] });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(6);
      },
    );
  });
});

/** The jobs that carry a claim, and those that claims list. */
async function claimed({ sql }: World): Promise<{ marked: number[]; listed: number[] }> {
  const marked = await sql<{ id: string }>('SELECT id FROM sql_queue_jobs WHERE claim_id <> 0 ORDER BY id');
  const claims = await sql<{ job_ids: string }>('SELECT job_ids FROM sql_queue_claims');
  const listed = claims.flatMap(({ job_ids }) => JSON.parse(job_ids) as number[]);
  return { marked: marked.map(({ id }) => Number(id)), listed: listed.sort((a, b) => a - b) };
}

async function states({ sql }: World): Promise<Record<string, string>> {
  const rows = await sql<{ id: string; state: string }>(
    'SELECT id, state FROM sql_queue_jobs UNION ALL SELECT id, state FROM sql_queue_history',
  );
  return Object.fromEntries(rows.map(({ id, state }) => [id, state.trim()]));
}

/** Outcomes of twelve jobs: ten that ended alike, one retried and one released; and that others may begin. */
async function manyAlike({ claim, jobs }: World, isOneLost: boolean): Promise<Flush> {
  const taken = await claim({ limit: 12 });
  const held = await claim({ limit: 2, started: 1 });
  const kinds: Outcome[] = [
    { ...outcomes.retry, delayMs: 1_000 },
    { ...outcomes.snooze, delayMs: 1_000 },
  ];
  const settlements = taken.jobs.map((job, n) => settled(taken, job, kinds[n], { keepMs: 1e12 }));
  if (isOneLost) await jobs.settle(flushOf([settled(taken, taken.jobs[7]!, kinds[1])]));
  const claims = [
    { id: taken.id, started: 12, finished: true },
    { id: held.id, started: 2, finished: false },
  ];
  return flushOf(settlements, { claims });
}

/** What a worker does: both in one; and where that cannot be done, the outcomes until they are, and then the claim. */
async function settleAndClaim(jobs: JobStore, flush: Flush, world: World) {
  const request = claimOf({ limit: 3 });
  try {
    const { lost, jobs: next } = await jobs.settleAndClaim(flush, request);
    return { lost, next: next.length };
  } catch (error) {
    if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    const again = (error as { outcome?: string }).outcome === 'unknown';
    // Whether it was done is unknown to the worker, but never is one of the two done without the other.
    const settledJobs = await world.sql(`SELECT id FROM sql_queue_history`);
    const claimed = await world.sql(`SELECT id FROM sql_queue_claims WHERE id = ${request.claimId}`);
    expect([settledJobs.length > 0, claimed.length > 0]).toEqual(claimed.length > 0 ? [true, true] : [false, false]);
    const lost = await settle(jobs, { ...flush, again });
    return { lost, next: (await stubborn(() => claim(jobs, 3))).jobs.length };
  }
}

/** What a worker does: takes jobs, settles them in every way, looks after the rest. Answers which jobs it has completed. */
async function live(jobs: JobStore, world: World): Promise<number[]> {
  const first = await stubborn(() => claim(jobs, 3));
  await stubborn(() => jobs.extend([first.id]));
  const kinds = [outcomes.complete, { ...outcomes.retry, delayMs: 1_000 }, outcomes.release];
  const lost = await settle(
    jobs,
    flushOf(
      first.jobs.map((job, n) => settled(first, job, kinds[n])),
      { claims: [{ id: first.id, started: 3, finished: true }] },
    ),
  );
  const completed = first.jobs
    .slice(0, 1)
    .map(({ id }) => id)
    .filter((id) => ![...lost].some(({ job }) => job.id === id));
  await stubborn(() => claim(jobs, 1));
  world.advance(LEASE_MS + 1_000);
  await stubborn(() => jobs.promote(100));
  await stubborn(() => jobs.rescue(rescueRules()));
  return completed;
}

async function claim(jobs: JobStore, limit: number): Promise<Claim> {
  const request = claimOf({ limit });
  return { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
}

/** Says it again until it is heard, and with `again` once an answer was lost. */
function settle(jobs: JobStore, flush: Flush): Promise<ReadonlySet<Settlement>> {
  return stubborn((again) => jobs.settle({ ...flush, again: flush.again || again }));
}

/** Completes all that is left, as healthy workers would. Answers what they were handed. */
async function workOff(world: World): Promise<number[]> {
  const { jobs, advance } = world;
  const handed: number[] = [];
  for await (const _ of roundsUntilEmpty(world, 3)) {
    advance(LEASE_MS + 60_000);
    await jobs.rescue(rescueRules());
    await jobs.promote(100);
    const { id, workerId, jobs: taken } = await claim(jobs, 100);
    handed.push(...taken.map((job) => job.id));
    await jobs.settle(
      flushOf(
        taken.map((job) => settled({ id, workerId, jobs: taken }, job, outcomes.complete, { keepMs: 1e12 })),
        { claims: [{ id, started: 100, finished: true }] },
      ),
    );
  }
  return handed;
}

/** Ids in the history, where nothing else is left. */
async function finished({ admin, sql }: World): Promise<number[]> {
  expect(await sql('SELECT id, state FROM sql_queue_jobs')).toEqual([]);
  expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  return (await admin.find({ state: 'completed' }, { order: 'oldest', limit: 100 })).jobs.map(({ id }) => id);
}

async function empty({ sql }: World): Promise<void> {
  for (const table of ['jobs', 'claims', 'history', 'waits']) await sql(`DELETE FROM sql_queue_${table}`);
}
