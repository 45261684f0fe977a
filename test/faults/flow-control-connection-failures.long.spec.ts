import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { NewFlow } from '../../lib/job/flows/flow.js';
import type { Outcome } from '../../lib/job/outcome.js';
import { signalHash } from '../../lib/job/signal.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import {
  claimRequest,
  completionBatchOf,
  finalBatchOf,
  newJob,
  outcomes,
  rescueRules,
  type Claim,
} from '../support/jobs.js';
import { retryWhileUnavailable } from '../support/retry-while-unavailable.js';
import { newSchedule } from '../support/schedules.js';
import { CHOSEN_FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { mainly } from '../support/servers.js';

// Each test runs once per statement of its verbs.
const EACH_STATEMENT_MS = 300_000;
const HOUR_MS = 3_600_000;
const MAX_RUNNING = 3;
// The clock goes a minute ahead for each statement: a window of a day could end within a test.
const RATE = { limit: 10, perMs: 300 * 86_400_000, burst: 4, window: 'fixed' } as const;
const ONE_AT_A_TIME: GroupRules = { concurrency: 1, rate: null, quantum: 1, onRetry: 'wait' };
const KEEP = () => 60_000;
/** Two jobs, one after them, and one after that, however it ends. */
const FLOW: NewFlow = {
  jobs: [newJob(), newJob(), newJob({ isBlocked: true }), newJob({ isBlocked: true })],
  edges: [
    { job: 2, needs: 0, onFailure: 'cancel' },
    { job: 2, needs: 1, onFailure: 'cancel' },
    { job: 3, needs: 2, onFailure: 'run' },
  ],
};
const HASH = signalHash('approval', 'k');

describe.each(SEND_MODES)(
  'with statements sent $sent, if a connection fails at any statement,',
  ({ multipleStatements }) => {
    describeStoresOf(mainly('mariadb'), 'a store', (setup) => {
      it.each(CHOSEN_FAULTS)(
        'has one job for each tick of a schedule, and stores its changes once (%s)',
        async (fault) => {
          const world = await setup();
          const { schedules, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            await world.schedules.upsert(newSchedule({ name: 'a' }));
            world.advance(HOUR_MS);
            arm(fault, failAt);
            // A tick skips a schedule that the server has still locked for the connection that failed.
            await eventually(async () => {
              await retryWhileUnavailable(() => schedules.runTicks([]));
              return (await world.sql('SELECT id FROM sql_queue_jobs')).length > 0;
            });
            await retryWhileUnavailable(() => schedules.upsert(newSchedule({ name: 'b', everyMs: HOUR_MS })));
            await retryWhileUnavailable(() => schedules.setPaused('b', true));
            await retryWhileUnavailable(() => schedules.declare([newSchedule({ name: 'c' })], '1'));
            await retryWhileUnavailable(() => schedules.remove('a'));
            const statements = disarm();

            const jobs = await world.sql('SELECT id FROM sql_queue_jobs');
            const stored = (await world.schedules.list()).map(({ name, isPaused }) => `${name} ${isPaused}`);
            expect({ failAt, jobs: jobs.length, stored }).toEqual({ failAt, jobs: 1, stored: ['b true', 'c false'] });
            return { statements };
          });

          expect(faults).toBeGreaterThan(10);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'never exceeds the limit of running jobs, and loses no slot (%s)',
        async (fault) => {
          const world = await setup();
          const { jobs, limits, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            await world.put({}, {}, {}, {}, {}, {});
            arm(fault, failAt);
            await retryWhileUnavailable(() => limits.declareLimits(new Map([['q', { maxRunning: 9, rate: null }]])));
            await retryWhileUnavailable(() => limits.setLimits('q', { maxRunning: MAX_RUNNING }));
            const first = claimRequest({ limit: 2, isLimited: true });
            const taken = {
              id: first.claimId,
              workerId: first.workerId,
              jobs: await jobs.claim(first).catch(() => []),
            };
            const next = claimRequest({ limit: 5, isLimited: true });
            // A claim whose answer was lost is not completed. Its lease expires.
            const end = taken.jobs.length > 0 ? finalBatchOf(taken, outcomes.retry) : completionBatchOf([]);
            await jobs.completeAndClaim(end, next).catch(() => undefined);
            const statements = disarm();
            const active = await activeOf(world);
            world.advance(HOUR_MS);
            let afterwards = 0;
            // The server may still roll back for the connection that failed. Rescues and claims skip the rows that it has
            // locked.
            await eventually(async () => {
              await world.jobs.rescue(rescueRules());
              afterwards += (await world.jobs.claim(claimRequest({ limit: 9, isLimited: true }))).length;
              return afterwards >= MAX_RUNNING;
            });

            expect({ failAt, isWithin: active <= MAX_RUNNING, afterwards }).toEqual({
              ...{ failAt, isWithin: true, afterwards: MAX_RUNNING },
            });
            return { statements };
          });

          expect(faults).toBeGreaterThan(8);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'keeps the order of groups, runs one job of each at a time, and loses none (%s)',
        async (fault) => {
          const world = await setup();
          const { jobs, groups, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            arm(fault, failAt);
            const put = () => jobs.enqueue([newJob({ group: 'a' }), newJob({ group: 'b' }), newJob({ group: 'a' })]);
            await put().catch(() => []);
            await retryWhileUnavailable(() => groups.setLimits('q', 'a', { weight: 2 }));
            await retryWhileUnavailable(() => groups.setPaused('q', 'b', true));
            const first = claimRequest({ limit: 4, groups: ONE_AT_A_TIME });
            const taken = {
              id: first.claimId,
              workerId: first.workerId,
              jobs: await jobs.claim(first).catch(() => []),
            };
            // A claim whose answer was lost is not completed. Its lease expires.
            const end = taken.jobs.length > 0 ? finalBatchOf(taken, outcomes.retry) : completionBatchOf([]);
            const next = claimRequest({ limit: 4, groups: ONE_AT_A_TIME });
            await jobs.completeAndClaim(end, next).catch(() => undefined);
            await retryWhileUnavailable(() => groups.setPaused('q', 'b', false));
            const statements = disarm();
            const active = await world.sql<{ group_key: string }>(
              `SELECT group_key FROM sql_queue_jobs WHERE state = 'active'`,
            );
            const stored = await world.sql('SELECT id FROM sql_queue_jobs');
            world.advance(HOUR_MS);
            const order: number[] = [];
            // As above.
            await eventually(async () => {
              await world.jobs.rescue(rescueRules());
              const claim = await world.claim({ limit: 4, groups: ONE_AT_A_TIME });
              order.push(...claim.jobs.filter(({ group }) => group === 'a').map(({ id }) => id));
              await world.jobs.complete(finalBatchOf(claim));
              return (await world.sql('SELECT id FROM sql_queue_jobs')).length === 0;
            });

            expect({
              failAt,
              most: most(active),
              isOrdered: order.every((id, n) => n === 0 || id > order[n - 1]!),
            }).toEqual({
              ...{ failAt, most: Math.min(1, active.length), isOrdered: true },
            });
            expect([0, 3]).toContain(stored.length);
            return { statements };
          });

          expect(faults).toBeGreaterThan(15);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'frees each job of a flow once, after those that it needs, and loses none (%s)',
        async (fault) => {
          const world = await setup();
          const { jobs, flows, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            arm(fault, failAt);
            const stored = await flows.create(FLOW).catch(() => undefined);
            const statements = [disarm()];
            const flow = stored ?? (await world.flows.create(FLOW));
            const settle = (ids: readonly number[]) => retryWhileUnavailable(() => flows.settle(ids, KEEP));
            const complete = (claim: Claim, outcome: Outcome) =>
              retryWhileUnavailable((mayHaveCommitted) =>
                jobs.complete({ ...finalBatchOf(claim, outcome), mayHaveCommitted }),
              );
            const first = await claimAll(world);
            arm(fault, failAt - statements[0]!);
            await complete(first, { kind: 'complete', result: '7' });
            await settle(first.jobs.map(({ id }) => id));
            statements.push(disarm());
            await world.flows.sweep(KEEP);
            const parent = await claimAll(world);
            const owner = { jobId: parent.jobs[0]!.id, claimId: parent.id };
            arm(fault, failAt - sum(statements));
            await retryWhileUnavailable(() => flows.fanOut(owner, 'fan-out', [newJob(), newJob()], 'cancel'));
            await complete(parent, { kind: 'block' });
            await retryWhileUnavailable(() => flows.recheck([owner.jobId], KEEP));
            statements.push(disarm());
            const children = await claimAll(world);
            arm(fault, failAt - sum(statements));
            await complete(children, outcomes.dead);
            await settle(children.jobs.map(({ id }) => id));
            statements.push(disarm());
            await world.flows.sweep(KEEP);
            const last = await claimAll(world);

            const known = await world.flows.read(flow.id);
            expect({
              ...{ failAt, first: first.jobs.length, parents: parent.jobs.length, children: children.jobs.length },
              ...{ last: last.jobs.map(({ id }) => id), states: known!.jobs.map(({ state }) => state) },
            }).toEqual({
              ...{ failAt, first: 2, parents: 1, children: 2, last: [flow.jobIds[3]] },
              states: ['completed', 'completed', 'dead', 'dead', 'cancelled', 'active'],
            });
            return { statements: sum(statements) };
          });

          expect(faults).toBeGreaterThan(25);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'counts each claim of a rate, and only claims (%s)',
        async (fault) => {
          const world = await setup();
          const { jobs, limits, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            await world.put(...Array.from({ length: 20 }, () => ({})));
            await world.limits.declareLimits(new Map([['q', { maxRunning: null, rate: RATE }]]));
            arm(fault, failAt);
            for (let n = 0; n < 3; n++) await jobs.claim(claimRequest({ limit: 2, isLimited: true })).catch(() => []);
            await retryWhileUnavailable(() => limits.rest('q', { delayMs: 60_000 }));
            const statements = disarm();
            const active = await activeOf(world);
            world.advance(60_000);
            const remaining = await world.jobs.claim(claimRequest({ limit: 20, isLimited: true }));

            expect({ failAt, started: active + remaining.length }).toEqual({ failAt, started: RATE.limit });
            return { statements };
          });

          expect(faults).toBeGreaterThan(5);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'stores a step together with its writes, or neither (%s)',
        async (fault) => {
          const world = await setup();
          await world.sql('CREATE TABLE IF NOT EXISTS ledger (entry INT)');
          const { steps, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            await world.sql('DELETE FROM ledger');
            const [jobId] = await world.put({});
            const { id: claimId } = await world.claim();
            const owner = { jobId: jobId!, claimId };
            arm(fault, failAt);
            await steps
              .transactStep({ ...owner, queue: 'q' }, 'together', async (manager) => {
                await manager.query('INSERT INTO ledger VALUES (1)');
                return { value: 1, result: '1' };
              })
              .catch(() => undefined);
            await retryWhileUnavailable(() => steps.writeStep(owner, 'plain', '"x"'));
            await retryWhileUnavailable(() => steps.startSleep(owner, 'sleep', { delayMs: 60_000 }));
            const read = await retryWhileUnavailable(() => steps.readSteps(jobId!));
            const statements = disarm();

            const entries = await world.sql('SELECT entry FROM ledger');
            const names = [...read.byName.keys()].sort();
            expect({ failAt, names }).toEqual({
              ...{ failAt, names: entries.length > 0 ? ['plain', 'sleep', 'together'] : ['plain', 'sleep'] },
            });
            expect({ failAt, plain: read.byName.get('plain') }).toMatchObject({ failAt, plain: { result: '"x"' } });
            return { statements };
          });

          expect(faults).toBeGreaterThan(8);
        },
        EACH_STATEMENT_MS,
      );

      it.each(CHOSEN_FAULTS)(
        'wakes a job that waits for a signal, at the latest by the pruner (%s)',
        async (fault) => {
          const world = await setup();
          const { jobs, steps, arm, disarm } = await openFaultyStore(world, { multipleStatements });

          const faults = await everyFault(async (failAt) => {
            await empty(world);
            const [jobId] = await world.put({});
            const taken = await world.claim();
            const owner = { jobId: jobId!, claimId: taken.id };
            arm(fault, failAt);
            const wait = await retryWhileUnavailable(() =>
              steps.waitForSignal(owner, 'approval', { key: 'k', hash: HASH }, HOUR_MS),
            );
            const { untilMs } = wait as { untilMs: number };
            const outcome = { kind: 'snooze', delayMs: HOUR_MS, untilMs, signal: HASH } as const;
            await retryWhileUnavailable((mayHaveCommitted) =>
              jobs.complete({ ...finalBatchOf(taken, outcome), mayHaveCommitted }),
            );
            await retryWhileUnavailable(() => steps.signal({ name: 'approval', key: 'k', hash: HASH, data: '5' }));
            await steps.wakeWaiting(HASH).catch(() => []);
            const statements = disarm();
            // As above.
            const again = await eventually(async () => {
              await world.steps.wakeMissed();
              const claim = await world.claim();
              return claim.jobs.length > 0 && claim;
            });
            const end = await world.steps.waitForSignal(
              { jobId: jobId!, claimId: again.id },
              'approval',
              { key: 'k', hash: HASH },
              HOUR_MS,
            );

            expect({ failAt, state: wait?.state, end }).toEqual({
              ...{ failAt, state: 'waiting', end: { state: 'signalled', data: '5' } },
            });
            expect({ failAt, attempt: again.jobs[0]!.attempt }).toEqual({ failAt, attempt: 1 });
            return { statements };
          });

          expect(faults).toBeGreaterThan(8);
        },
        EACH_STATEMENT_MS,
      );
    });
  },
);

async function empty({ sql }: World): Promise<void> {
  for (const table of [
    'jobs',
    'claims',
    'history',
    'schedules',
    'limits',
    'groups',
    'steps',
    'signals',
    'flows',
    'edges',
  ])
    await sql(`DELETE FROM sql_queue_${table}`);
}

async function activeOf({ sql }: World): Promise<number> {
  const [row] = await sql<{ jobs: number }>(`SELECT COUNT(*) AS jobs FROM sql_queue_jobs WHERE state = 'active'`);
  return Number(row!.jobs);
}

/** The largest number of jobs of one group. */
function most(jobs: readonly { group_key: string }[]): number {
  return Math.max(0, ...jobs.map(({ group_key }) => jobs.filter((job) => job.group_key === group_key).length));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The cursors of this store may stand after a job that the other one has freed, so it may need a second claim. */
function claimAll(world: World): Promise<Claim> {
  return eventually(async () => {
    const claim = await world.claim({ limit: 10 });
    return claim.jobs.length > 0 && claim;
  });
}
