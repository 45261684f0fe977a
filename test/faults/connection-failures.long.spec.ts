import { hasCode } from '../../lib/job/errors.js';
import type { Outcome } from '../../lib/job/outcome.js';
import type { CompletionBatch, Completion } from '../../lib/store/rows/completion.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { everyFault } from '../support/every-fault.js';
import {
  claimFrom,
  claimRequest,
  finalBatchOf,
  completionBatchOf,
  idsOf,
  LEASE_MS,
  newJob,
  outcomes,
  rescueRules,
  completionOf,
  type Claim,
} from '../support/jobs.js';
import { CHOSEN_FAULTS, FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { roundsUntilEmpty } from '../support/remaining-rows.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';
import { mainly } from '../support/servers.js';

// Each test runs once per statement of its verbs.
const EACH_STATEMENT_MS = 300_000;

describe.each(SEND_MODES)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mysql'), 'a store', (setup) => {
    it.each(CHOSEN_FAULTS)(
      'loses no job and runs no completed job again if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {}, { delayMs: 1_000 }, {});
          arm(fault, failAt);
          const completed = await workLikeAWorker(jobs, world);
          const statements = disarm();
          const again = await completeAll(world);

          expect({ failAt, again: again.filter((id) => completed.includes(id)) }).toEqual({ failAt, again: [] });
          expect({ failAt, ids: await finished(world) }).toEqual({ failAt, ids });
          return { statements };
        });

        expect(faults).toBeGreaterThan(multipleStatements ? 15 : 20);
      },
      EACH_STATEMENT_MS,
    );

    it.each([
      ...FAULTS.map((fault) => [fault, 'all its own'] as const),
      ...CHOSEN_FAULTS.map((fault) => [fault, 'one of them lost'] as const),
    ])(
      'stores outcomes and a claim together or not at all if its connection fails at any statement (%s, %s)',
      async (fault, whose) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put(...Array.from({ length: 20 }, () => ({})));
          const flush = await uniformCompletions(world, whose === 'one of them lost');
          arm(fault, failAt);
          const { lost, next } = await completeAndClaim(jobs, flush, world);
          const statements = disarm();
          const completed = flush.completions.filter((one) => one.outcome.kind === 'complete' && !lost.has(one));
          const again = await completeAll(world);

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
      'marks only the jobs of a stored claim if its connection fails at any statement (%s) of a claim by %s',
      async (fault, strategy) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {});
          arm(fault, failAt);
          const handed = await jobs.claim(claimRequest({ limit: 2, strategy })).catch((error: unknown) => {
            if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
            return undefined;
          });
          const statements = disarm();
          const { marked, listed } = await claimed(world);
          const withoutClaim = await world.sql(
            'SELECT id FROM sql_queue_jobs WHERE claim_id NOT IN (SELECT id FROM sql_queue_claims) AND claim_id <> 0',
          );

          expect({ failAt, withoutClaim }).toEqual({ failAt, withoutClaim: [] });
          // A claim by update stores its row before it lists its jobs.
          const isToBeListed = strategy === 'update' && !handed && listed.length === 0;
          if (!isToBeListed) expect({ failAt, marked }).toEqual({ failAt, marked: listed });
          if (handed) expect({ failAt, ids: idsOf(handed) }).toEqual({ failAt, ids: marked });
          await completeAll(world);
          expect({ failAt, ids: await finished(world) }).toEqual({ failAt, ids });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 3 : 5);
      },
      EACH_STATEMENT_MS,
    );

    it.each([
      ...FAULTS.flatMap((fault) => [1, 3].map((count) => [fault, count] as const)),
      ...CHOSEN_FAULTS.map((fault) => [fault, 2_500] as const),
    ])(
      'stores all jobs, or none and reports it, if its connection fails at any statement (%s; %i jobs)',
      async (fault, count) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

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

    it.each(CHOSEN_FAULTS)(
      'cancels a retried job with a cancellation request if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const [requested, other] = await world.put({}, {});
          const taken = await world.claim({ limit: 2 });
          await world.admin.cancel(requested!, () => 60_000);
          arm(fault, failAt);
          const lost = await complete(jobs, finalBatchOf(taken, outcomes.retry));
          const statements = disarm();

          expect({ failAt, lost: lost.size, states: await states(world) }).toEqual({
            ...{ failAt, lost: 0, states: { [requested!]: 'cancelled', [other!]: 'waiting' } },
          });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 5 : 8);
      },
      EACH_STATEMENT_MS,
    );

    it.each(CHOSEN_FAULTS)(
      'deletes exactly the requested waits, outcomes and job logs if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { waits, jobLogs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const ids = await world.put({}, {}, {});
          const taken = await world.claim({ limit: 3 });
          const writes = taken.jobs.map(({ id }) => ({ jobId: id, claimId: taken.id, value: '1', lines: [] }));
          arm(fault, failAt);
          await retryWhileUnavailable(() => jobLogs.writeJobLogs(writes));
          await retryWhileUnavailable(() => complete(world.jobs, finalBatchOf(taken)));
          await retryWhileUnavailable(() => waits.register(7, ids, 60_000));
          const found = await retryWhileUnavailable(() => waits.readJobs(ids));
          const waiters = await retryWhileUnavailable(() => waits.waitersOf(ids));
          await retryWhileUnavailable(() => waits.deleteOutcomes(7, [ids[0]!]));
          await retryWhileUnavailable(() => waits.unregister(7, [ids[1]!]));
          await retryWhileUnavailable(() => waits.pruneWaits(10));
          const progress = await retryWhileUnavailable(() => jobLogs.progressOf(ids));
          await retryWhileUnavailable(() => jobLogs.deleteJobLogs(ids));
          await retryWhileUnavailable(() => jobLogs.pruneJobLogs(10));
          const statements = disarm();
          const rows = await world.sql<{ job_id: string }>('SELECT job_id FROM sql_queue_waits');

          expect({ failAt, found: [...found.keys()], waiters }).toEqual({ failAt, found: ids, waiters: [7] });
          expect({ failAt, remaining: await finished(world), progress: progress.size }).toEqual({
            failAt,
            remaining: ids.slice(1),
            progress: 2,
          });
          expect({ failAt, awaited: rows.map((row) => Number(row.job_id)) }).toEqual({ failAt, awaited: [ids[2]] });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(6);
      },
      EACH_STATEMENT_MS,
    );

    it.each(CHOSEN_FAULTS)(
      'releases an active job once if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { admin, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const [id] = await world.put({});
          const taken = await world.claim();
          arm(fault, failAt);
          await retryWhileUnavailable(() => admin.release(id!));
          const statements = disarm();
          const next = await world.claim();

          expect({ failAt, next: next.jobs.map((job) => [job.id, job.attempt]) }).toEqual({ failAt, next: [[id, 1]] });
          const { lost } = await world.jobs.complete(finalBatchOf(taken));
          expect({ failAt, lost: lost.size }).toEqual({ failAt, lost: 1 });
          await world.jobs.complete(finalBatchOf(next));
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 5 : 8);
      },
      EACH_STATEMENT_MS,
    );

    it.each(CHOSEN_FAULTS)(
      'leaves each job in the requested state if its connection fails at any statement (%s) of an admin verb',
      async (fault) => {
        const world = await setup();
        const { jobs, admin, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          await empty(world);
          const [cancelled, dead, removed, scheduled] = await world.put(
            { priority: -9 },
            { priority: -8 },
            {},
            { delayMs: 9e6 },
          );
          arm(fault, failAt);
          await retryWhileUnavailable(() => admin.cancel(cancelled!, () => 60_000));
          const taken = await retryWhileUnavailable(() => claim(jobs, 1));
          // A claim whose answer was lost expires.
          if (taken.jobs.length > 0) {
            const progress = { claims: [{ id: taken.id, startLimit: 1, isFinished: true }] };
            await complete(jobs, completionBatchOf([completionOf(taken, taken.jobs[0]!, outcomes.dead)], progress));
          }
          await retryWhileUnavailable(() => admin.remove([removed!]));
          const edit = { payload: '"edited"', headers: '{"h":"1"}', priority: -2, delay: { delayMs: 500 } };
          await retryWhileUnavailable(() => admin.edit(scheduled!, 'q', edit));
          expect(await world.admin.get(scheduled!)).toMatchObject({
            payload: 'edited',
            headers: { h: '1' },
            priority: -2,
          });
          await retryWhileUnavailable(() => admin.promote([scheduled!]));
          await retryWhileUnavailable(() => admin.retry([scheduled!]));
          await retryWhileUnavailable(() => admin.setPaused(['q'], true));
          await retryWhileUnavailable(() => jobs.countWaiting('q', 10));
          await retryWhileUnavailable(() => admin.counts());
          await retryWhileUnavailable(() => jobs.prune(10));
          await retryWhileUnavailable(() => admin.setPaused(['q'], false));
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
      'chooses the claim strategy of a queue if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          arm(fault, failAt);
          const choose = () => jobs.chooseStrategies(new Map([[`q-${failAt}`, 'auto']]));
          const { byQueue } = await (fault === 'down' ? retryWhileUnavailable(choose) : choose());
          const statements = disarm();

          expect({ failAt, of: [...byQueue.values()] }).toEqual({
            failAt,
            of: [{ name: 'skip-locked', mayShareTransaction: true }],
          });
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(6);
      },
    );
  });
});

/** The jobs that carry a claim id, and the jobs that claims list. */
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

/** Outcomes of twelve jobs (one retried, one snoozed, ten completed), and the raised start limit of a second claim. */
async function uniformCompletions({ claim, jobs }: World, isOneLost: boolean): Promise<CompletionBatch> {
  const taken = await claim({ limit: 12 });
  const held = await claim({ limit: 2, startLimit: 1 });
  const kinds: Outcome[] = [
    { ...outcomes.retry, delayMs: 1_000 },
    { ...outcomes.snooze, delayMs: 1_000 },
  ];
  const settlements = taken.jobs.map((job, n) => completionOf(taken, job, kinds[n], { retentionMs: 1e12 }));
  if (isOneLost) await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[7]!, kinds[1])]));
  const claims = [
    { id: taken.id, startLimit: 12, isFinished: true },
    { id: held.id, startLimit: 2, isFinished: false },
  ];
  return completionBatchOf(settlements, { claims });
}

/**
 * Like a worker: stores outcomes and claims in one transaction. If that fails, it retries the outcomes and then claims.
 */
async function completeAndClaim(jobs: JobStore, flush: CompletionBatch, world: World) {
  const request = claimRequest({ limit: 3 });
  try {
    const { lost, jobs: next } = await jobs.completeAndClaim(flush, request);
    return { lost, next: next.length };
  } catch (error) {
    if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    const again = (error as { outcome?: string }).outcome === 'unknown';
    // The worker may not know the outcome, but the transaction commits both or neither.
    const settledJobs = await world.sql(`SELECT id FROM sql_queue_history`);
    const claimed = await world.sql(`SELECT id FROM sql_queue_claims WHERE id = ${request.claimId}`);
    expect([settledJobs.length > 0, claimed.length > 0]).toEqual(claimed.length > 0 ? [true, true] : [false, false]);
    const lost = await complete(jobs, { ...flush, mayHaveCommitted: again });
    return { lost, next: (await retryWhileUnavailable(() => claim(jobs, 3))).jobs.length };
  }
}

/**
 * Like a worker: claims jobs, ends them with three outcomes, promotes and rescues. Returns the ids of completed jobs.
 */
async function workLikeAWorker(jobs: JobStore, world: World): Promise<number[]> {
  const first = await retryWhileUnavailable(() => claim(jobs, 3));
  await retryWhileUnavailable(() => jobs.extend([first.id]));
  const kinds = [outcomes.complete, { ...outcomes.retry, delayMs: 1_000 }, outcomes.release];
  const lost = await complete(
    jobs,
    completionBatchOf(
      first.jobs.map((job, n) => completionOf(first, job, kinds[n])),
      { claims: [{ id: first.id, startLimit: 3, isFinished: true }] },
    ),
  );
  const completed = first.jobs
    .slice(0, 1)
    .map(({ id }) => id)
    .filter((id) => ![...lost].some(({ job }) => job.id === id));
  await retryWhileUnavailable(() => claim(jobs, 1));
  world.advance(LEASE_MS + 1_000);
  await retryWhileUnavailable(() => jobs.promote(100));
  await retryWhileUnavailable(() => jobs.rescue(rescueRules()));
  return completed;
}

async function claim(jobs: JobStore, limit: number): Promise<Claim> {
  return claimFrom(jobs, { limit });
}

/** Retries until the database answers, with `mayHaveCommitted` after a lost answer. Returns the lost completions. */
async function complete(jobs: JobStore, flush: CompletionBatch): Promise<ReadonlySet<Completion>> {
  const { lost } = await retryWhileUnavailable((again) =>
    jobs.complete({ ...flush, mayHaveCommitted: flush.mayHaveCommitted || again }),
  );
  return lost;
}

/** Completes all remaining jobs like healthy workers. Returns the ids of the jobs it claimed. */
async function completeAll(world: World): Promise<number[]> {
  const { jobs, advance } = world;
  const handed: number[] = [];
  for await (const _ of roundsUntilEmpty(world, 3)) {
    advance(LEASE_MS + 60_000);
    await jobs.rescue(rescueRules());
    await jobs.promote(100);
    const { id, workerId, jobs: taken } = await claim(jobs, 100);
    handed.push(...taken.map((job) => job.id));
    await jobs.complete(
      completionBatchOf(
        taken.map((job) => completionOf({ id, workerId, jobs: taken }, job, outcomes.complete, { retentionMs: 1e12 })),
        { claims: [{ id, startLimit: 100, isFinished: true }] },
      ),
    );
  }
  return handed;
}

/** The ids in the history, after a check that no job and no claim remains. */
async function finished({ admin, sql }: World): Promise<number[]> {
  expect(await sql('SELECT id, state FROM sql_queue_jobs')).toEqual([]);
  expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  return (await admin.find({ state: 'completed' }, { order: 'oldest', limit: 100 })).jobs.map(({ id }) => id);
}

async function empty({ sql }: World): Promise<void> {
  for (const table of ['jobs', 'claims', 'history', 'waits']) await sql(`DELETE FROM sql_queue_${table}`);
}
