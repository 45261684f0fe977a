import type { EntityManager } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import type { ClaimOptions } from '../../lib/consumer/claim-options.js';
import { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import type { JobState } from '../../lib/job/job-state.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { eventually } from '../support/eventually.js';
import { everyFault } from '../support/every-fault.js';
import { claimFrom, finalBatchOf, rescueRules, ruleParts } from '../support/jobs.js';
import { roundsUntilEmpty } from '../support/remaining-rows.js';
import { CHOSEN_FAULTS, FAULTS, openFaultyStore, SEND_MODES } from '../support/store-faults.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { isLongSet, mainly } from '../support/servers.js';

const ANN = { owner: 'ann' } as const;
const STAGE = 'review';

const INSERT_OTHER = "INSERT INTO sql_queue_jobs (queue, name, payload) VALUES ('other', 'other', '1')";

type TransactionVerb = (people: QueueConsumer, id: number, manager: EntityManager) => Promise<unknown>;

/** Verbs in the caller's transaction, and the state of the job after its commit. */
const TRANSACTION_VERBS: Record<string, readonly [end: TransactionVerb, ended: JobState]> = {
  complete: [(people, id, manager) => people.complete(id, { ...ANN, result: 1, manager }), 'completed'],
  fail: [(people, id, manager) => people.fail(id, { ...ANN, error: 'no', retry: '1m', manager }), 'scheduled'],
  release: [(people, id, manager) => people.release(id, { ...ANN, manager }), 'waiting'],
  move: [(people, id, manager) => people.move(id, { ...ANN, stage: STAGE, manager }), 'waiting'],
};

describe.each(SEND_MODES)('with statements sent $sent,', ({ multipleStatements }) => {
  describeStoresOf(mainly('mariadb'), 'a store with jobs for people', (setup) => {
    it.each(CHOSEN_FAULTS)(
      'loses no job and hands out no completed job again if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...faulty } = await openFaultyStore(world, { multipleStatements });
        const people = consumerOn(faulty);
        const healthy = consumerOn(world);
        // The first claim of a consumer chooses the claim strategy, like a worker before it starts.
        for (const consumer of [people, healthy]) await consumer.claim('q');

        const faults = await everyFault(async (failAt) => {
          for (const table of ['jobs', 'claims', 'history', 'stages'])
            await world.sql(`DELETE FROM sql_queue_${table}`);
          const ids = await world.put({}, {});
          arm(fault, failAt);
          const completed = await workAsPeople(people, ids);
          const statements = disarm();
          const { handed, finished } = await completeAll(world, healthy);

          expect({ failAt, again: handed.filter((id) => completed.includes(id)) }).toEqual({ failAt, again: [] });
          expect({ failAt, finished }).toEqual({ failAt, finished: ids });
          expect({ failAt, remaining: await remaining(world) }).toEqual({ failAt, remaining: [] });
          return { statements };
        });

        expect(faults).toBeGreaterThan(25);
      },
    );

    it.each(CHOSEN_FAULTS)(
      "ends an assignment if and only if the caller's transaction commits, if a connection fails at any statement (%s)",
      async (fault) => {
        const world = await setup();
        const { dataSource, arm, disarm, ...faulty } = await openFaultyStore(world, { multipleStatements });
        const people = consumerOn(faulty);
        const healthy = consumerOn(world);
        await healthy.claim('q');

        for (const [verb, [end, ended]] of Object.entries(TRANSACTION_VERBS)) {
          const faults = await everyFault(async (failAt) => {
            for (const table of ['jobs', 'claims', 'history', 'stages'])
              await world.sql(`DELETE FROM sql_queue_${table}`);
            const [id] = (await world.put({})) as [number];
            await healthy.claim('q', { ...ANN, lease: '1h' });
            arm(fault, failAt);
            const ending = dataSource.transaction('READ COMMITTED', async (manager) => {
              await manager.query(INSERT_OTHER);
              await end(people, id, manager);
            });
            await ending.catch(() => undefined);
            const statements = disarm();
            // Waits until the server has noticed the disconnect, and has rolled back.
            const isHeld = await retryUntilDone(() => healthy.extend(id, { ...ANN, lease: '1h' }));
            const others = await world.sql("SELECT id FROM sql_queue_jobs WHERE name = 'other'");
            await world.sql("DELETE FROM sql_queue_jobs WHERE name = 'other'");
            const { state } = (await world.admin.get(id))!;
            const { handed, finished } = await completeAll(world, healthy);

            expect({ verb, failAt, others: others.length }).toEqual({ verb, failAt, others: isHeld ? 0 : 1 });
            expect({ verb, failAt, state }).toEqual({ verb, failAt, state: isHeld ? 'active' : ended });
            if (ended === 'completed' && !isHeld) expect({ failAt, handed }).toEqual({ failAt, handed: [] });
            expect({ verb, failAt, finished }).toEqual({ verb, failAt, finished: [id] });
            expect({ verb, failAt, remaining: await remaining(world) }).toEqual({ verb, failAt, remaining: [] });
            return { statements };
          });

          expect(faults).toBeGreaterThan(8);
        }
      },
    );

    it.each(isLongSet ? (['unanswered'] as const) : (['lost', 'unanswered'] as const))(
      'applies each verb exactly once if its connection fails at one statement (%s)',
      async (fault) => {
        const world = await setup();
        const { arm, disarm, ...faulty } = await openFaultyStore(world, { multipleStatements });
        const people = consumerOn(faulty);
        await people.claim('q');
        // Claims skip rows that a broken connection still locks, until the server notices the disconnect.
        const claim = (options: ClaimOptions) =>
          eventually(async () => {
            const jobs = await people.claim('q', options);
            return jobs.length > 0 && jobs;
          });

        const faults = await everyFault(async (failAt) => {
          for (const table of ['jobs', 'claims', 'history', 'stages'])
            await world.sql(`DELETE FROM sql_queue_${table}`);
          const [first, second] = (await world.put({}, { delayMs: 1 })) as [number, number];
          arm(fault, failAt);
          const claimed = await claim(ANN);
          await people.extend(first, { token: claimed[0]!.token, lease: '1h' });
          await people.snooze(first, { ...ANN, until: '1h', keepOwner: true });
          await people.move(first, { ...ANN, stage: STAGE });
          const staged = await claim({ ...ANN, stage: STAGE });
          await people.complete(first, { token: staged[0]!.token, result: failAt });
          world.advance(1);
          const due = await claim(ANN);
          const assigned = await people.assign(second, 'bob');
          await people.fail(second, { token: assigned.token, error: 'no', retry: false });
          const statements = disarm();

          expect({ failAt, ids: [...claimed, ...staged, ...due].map(({ id }) => id) }).toEqual({
            failAt,
            ids: [first, first, second],
          });
          const completed = { state: 'completed', attempt: 1, result: failAt };
          expect({ failAt, ...(await world.admin.get(first)) }).toMatchObject({ failAt, ...completed });
          expect({ failAt, ...(await world.admin.get(second)) }).toMatchObject({ failAt, state: 'dead', attempt: 1 });
          expect({ failAt, remaining: await remaining(world) }).toEqual({ failAt, remaining: [] });
          return { statements };
        });

        expect(faults).toBeGreaterThan(25);
      },
    );

    it.each(FAULTS)(
      'reports whether it stored a hand-off if its connection fails at any statement (%s)',
      async (fault) => {
        const world = await setup();
        const { jobs, arm, disarm } = await openFaultyStore(world, { multipleStatements });

        const faults = await everyFault(async (failAt) => {
          for (const table of ['jobs', 'claims']) await world.sql(`DELETE FROM sql_queue_${table}`);
          await world.put({}, {});
          const taken = await world.claim({ limit: 2 });
          const given = {
            job: taken.jobs[0]!,
            workerId: 'worker-1',
            from: taken.id,
            to: taken.id + 1,
            leaseMs: 60_000,
          };
          arm(fault, failAt);
          const answer = await jobs.handOff(given).catch(({ code }: { code: string }) => code);
          const statements = disarm();
          const [job] = await world.sql<{ claim_id: number }>('SELECT claim_id FROM sql_queue_jobs ORDER BY id');
          const claims = await world.sql(`SELECT id FROM sql_queue_claims WHERE id = ${given.to} AND owner = ''`);
          const isThere = Number(job!.claim_id) === given.to;

          expect({ failAt, claims: claims.length }).toEqual({ failAt, claims: isThere ? 1 : 0 });
          expect({ failAt, answer }).toEqual({ failAt, answer: isThere ? true : 'STORE_UNAVAILABLE' });
          expect(await jobs.handOff({ ...given, from: 1, to: 2 })).toBe(false);
          return { statements };
        });

        expect(faults).toBeGreaterThanOrEqual(multipleStatements ? 2 : 4);
      },
    );
  });
});

function consumerOn({ consumer, jobs }: Pick<OpenStore, 'consumer' | 'jobs'>): QueueConsumer {
  return new QueueConsumer({
    ...{
      store: consumer,
      jobs,
      ...ruleParts(),
      ended: () => undefined,
      claimed: () => undefined,
      promoted: () => undefined,
      rescue: async () => (await jobs.rescue(rescueRules())).length,
    },
    optionsFor: () => resolveQueueOptions(),
    clock: systemClock,
  });
}

/** Calls each verb of people until it succeeds. Returns the ids of the completed jobs. */
async function workAsPeople(consumer: QueueConsumer, ids: readonly number[]): Promise<number[]> {
  const [first, second] = ids as [number, number];
  await retryUntilDone(() => consumer.claim('q', { ...ANN, lease: 'until-released' }));
  await retryUntilDone(() => consumer.extend(first, { ...ANN, lease: '1h' }));
  await retryUntilDone(() => consumer.move(first, { ...ANN, stage: STAGE }));
  await retryUntilDone(() => consumer.claim('q', { ...ANN, stage: STAGE, lease: 'until-released' }));
  const isCompleted = await retryUntilDone(() => consumer.complete(first, ANN));
  await retryUntilDone(() => consumer.assign(second, 'bob'));
  await retryUntilDone(() => consumer.assign(second, 'ann'));
  await retryUntilDone(() => consumer.fail(second, { ...ANN, error: 'no', retry: '1m' }));
  return isCompleted ? [first] : [];
}

// The errors of a repeated call whose first commit succeeded although its answer was lost.
const DONE = ['JOB_NOT_ASSIGNED', 'JOB_FINISHED'];

/** Returns true if this call changed the job, and false if an earlier call did. */
async function retryUntilDone(verb: () => Promise<unknown>, tries = 20): Promise<boolean> {
  try {
    await verb();
    return true;
  } catch (error) {
    const { code } = error as { code: string };
    if (DONE.includes(code)) return false;
    if (code !== 'STORE_UNAVAILABLE' || tries === 0) throw error;
    return retryUntilDone(verb, tries - 1);
  }
}

/** Completes all remaining jobs like healthy people and workers. */
async function completeAll(world: World, healthy: QueueConsumer) {
  const { jobs, admin, advance } = world;
  const handed: number[] = [];
  for (const owner of ['ann', 'bob']) {
    for (const { id } of (await healthy.assigned(owner)).jobs) await healthy.unassign(id);
  }
  for await (const _ of roundsUntilEmpty(world, 2)) {
    advance(86_400_000);
    await jobs.rescue(rescueRules());
    await jobs.promote(100);
    for (const { id, token } of await healthy.claim('q', { stage: STAGE, limit: 100 })) {
      handed.push(id);
      await healthy.complete(id, { token });
    }
    const taken = await claimFrom(jobs, { limit: 100 });
    handed.push(...taken.jobs.map(({ id }) => id));
    await jobs.complete(finalBatchOf(taken, { kind: 'complete', result: null }, { retentionMs: 1e12 }));
  }
  await jobs.cleanUp(100);
  const finished = (await admin.find({}, { order: 'oldest', limit: 100 })).jobs.map(({ id }) => id);
  return { handed, finished };
}

async function remaining({ sql }: World): Promise<unknown[]> {
  const tables = ['jobs', 'claims', 'stages'].map((table) => sql(`SELECT * FROM sql_queue_${table}`));
  return (await Promise.all(tables)).flat();
}
