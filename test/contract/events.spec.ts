import type { EntityManager } from 'typeorm';
import type { OpenStore } from '../../lib/store/open-store.js';
import {
  claimFrom,
  finalBatchOf,
  ERROR,
  completionBatchOf,
  newJob,
  outcomes,
  rescueRules,
  completionOf,
  LEASE_MS,
} from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { describeStores } from '../support/stores.js';

const KEEP = () => 60_000;

describeStores('the events of a queue with stored events', (setup) => {
  /** Opens a store that stores the events of queue `q`, and counts how often it reports committed events. */
  async function recorded() {
    const world = await setup();
    const told = { times: 0 };
    const eventOutbox = { emitsEvents: (queue: string) => queue === 'q', onEventsCommitted: () => void told.times++ };
    const store = await world.open({ eventOutbox });
    return { world, store, told, ...actions(store) };
  }

  it('are stored once each, with all fields, in the order in which they happen', async () => {
    const { store, claim, read, world } = await recorded();

    const [good, bad] = await store.jobs.enqueue([newJob({ name: 'good' }), newJob({ name: 'bad' })]);
    const taken = await claim(2);
    await store.jobs.complete(
      completionBatchOf(
        [
          completionOf(taken, taken.jobs[0]!, { kind: 'complete', result: '{"a":[1,null,"é"]}' }),
          completionOf(taken, taken.jobs[1]!, outcomes.dead, { ranMs: 3.6 }),
        ],
        { claims: [{ id: taken.id, startLimit: 2, isFinished: true }] },
      ),
    );

    const events = await read();
    expect(events).toEqual([
      { ...of(good, 'good'), event: 'enqueued', attempt: 0 },
      { ...of(bad, 'bad'), event: 'enqueued', attempt: 0 },
      { ...of(good, 'good'), event: 'claimed', attempt: 1 },
      { ...of(bad, 'bad'), event: 'claimed', attempt: 1 },
      { ...of(good, 'good'), event: 'completed', attempt: 1, ranMs: 7, result: { a: [1, null, 'é'] } },
      { ...of(bad, 'bad'), event: 'failed', attempt: 1, ranMs: 4, error: ERROR },
      { ...of(bad, 'bad'), event: 'dead', attempt: 1, ranMs: 4, error: ERROR },
    ]);
    const [clock] = await world.sql(`SELECT MIN(recorded_at) AS first, MAX(recorded_at) AS last FROM sql_queue_events`);
    const [job] = await world.sql(`SELECT created_at FROM sql_queue_history WHERE id = ${good}`);
    expect(Number((clock as { first: unknown }).first)).toBeGreaterThanOrEqual(Number((job as Row)['created_at']));
  });

  it.each([
    ['complete', ['completed']],
    ['retry', ['failed']],
    ['dead', ['failed', 'dead']],
    ['cancel', ['cancelled']],
    ['release', ['released']],
    ['snooze', ['snoozed']],
  ] as const)('include the outcome of an attempt: %s', async (outcome, events) => {
    const { store, claim, names } = await recorded();
    await store.jobs.enqueue([newJob()]);

    await store.jobs.complete(finalBatchOf(await claim(), outcomes[outcome]));

    expect(await names()).toEqual(['enqueued', 'claimed', ...events]);
  });

  it('include the promotion, cancellation, retry and removal of a job', async () => {
    const { store, world, names, claim } = await recorded();
    const [first, second, third] = await store.jobs.enqueue([
      ...[newJob({ delayMs: 1_000 }), newJob({ delayMs: 60_000 }), newJob({ delayMs: 60_000 })],
    ]);
    world.advance(2_000);
    await store.jobs.promote(10);
    await store.admin.cancel(first!, KEEP);
    await store.admin.retry([first!, second!]);
    await store.admin.remove([third!]);
    await store.jobs.complete(finalBatchOf(await claim(), outcomes.dead));
    await store.admin.replay([first!], { to: undefined, firstMs: 0, intervalMs: 0, completed: false });
    await store.admin.remove([first!]);

    expect(await names(first)).toEqual([
      ...['enqueued', 'promoted', 'cancelled', 'retried', 'claimed', 'failed', 'dead', 'retried', 'removed'],
    ]);
    expect(await names(second)).toEqual(['enqueued', 'retried']);
    expect(await names(third)).toEqual(['enqueued', 'removed']);
  });

  it('include the promotion and the cancellation of several jobs', async () => {
    const { store, names } = await recorded();
    const ids = await store.jobs.enqueue([newJob({ delayMs: 60_000 }), newJob({ delayMs: 60_000 }), newJob()]);

    const promoted = await store.admin.promote(ids);
    const cancelled = await store.admin.cancelIdle(ids.slice(1), KEEP);

    expect([promoted, cancelled.map(({ id }) => id)]).toEqual([ids.slice(0, 2), ids.slice(1)]);
    expect(await names(ids[0])).toEqual(['enqueued', 'promoted']);
    expect(await names(ids[1])).toEqual(['enqueued', 'promoted', 'cancelled']);
    expect(await names(ids[2])).toEqual(['enqueued', 'cancelled']);
  });

  it('include the rescue of a job whose lease expired, and its outcome', async () => {
    const { store, world, names, claim } = await recorded();
    const ids = await store.jobs.enqueue([newJob(), newJob(), newJob()]);
    const { jobs } = await claim(3);
    await store.admin.cancel(ids[2]!, KEEP);
    world.advance(LEASE_MS + 1_000);

    const decide = ({ id }: { id: number }) => (id === ids[0] ? outcomes.retry : outcomes.dead);
    await store.jobs.rescue(rescueRules({ decide }));

    expect(jobs).toHaveLength(3);
    expect(await names(ids[0])).toEqual(['enqueued', 'claimed', 'rescued']);
    expect(await names(ids[1])).toEqual(['enqueued', 'claimed', 'rescued', 'dead']);
    expect(await names(ids[2])).toEqual(['enqueued', 'claimed', 'rescued', 'cancelled']);
  });

  it('include the actions of claim holders, except for a hand-over between owners', async () => {
    const { store, names } = await recorded();
    const [id] = await store.jobs.enqueue([newJob()]);
    const to = (owner: string) => ({ workerId: 'w', owner, leaseMs: null });

    await store.consumer.assign(id!, to('ann'), 'anyone', () => ({ maxAttempts: 5 }));
    await store.consumer.assign(id!, to('ben'), 'anyone', () => ({ maxAttempts: 5 }));
    await store.consumer.move(id!, { owner: 'ben' }, 'review');
    await store.consumer.claimFromStage({ ...to('cleo'), queue: 'q', stage: 'review', limit: 1, maxAttempts: 5 });
    await store.consumer.end(id!, { owner: 'cleo' }, () => ({ outcome: outcomes.complete, retentionMs: 60_000 }));

    expect(await names(id)).toEqual(['enqueued', 'claimed', 'released', 'claimed', 'completed']);
  });

  it('are stored for jobs with keys', async () => {
    const { store, names } = await recorded();
    const answers = await store.jobs.enqueueKeyed([[keyedJob({ key: 'k' })], [keyedJob({ key: 'k' })]]);

    expect(answers.flat()).toHaveLength(2);
    expect(await names()).toEqual(['enqueued']);
  });

  it('include the enqueue of a dead letter, even if its source queue stores no events', async () => {
    const { store, read, claim, world } = await recorded();
    await store.jobs.enqueue([newJob({ queue: 'other', name: 'a' }), newJob({ queue: 'other', name: 'b' })]);
    const taken = await claim(2, 'other');

    const died = taken.jobs.map((job) => completionOf(taken, job, outcomes.dead, { deadLetter: 'q' }));
    await store.jobs.complete(completionBatchOf(died, { claims: [{ id: taken.id, startLimit: 2, isFinished: true }] }));

    const letters = await world.sql<{ id: number; name: string }>(`SELECT id, name FROM sql_queue_jobs ORDER BY id`);
    expect(letters.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await read()).toEqual(
      letters.map(({ id, name }) => ({ ...of(Number(id), name), event: 'enqueued', attempt: 0 })),
    );
  });

  it('are not stored for other queues', async () => {
    const { store, read, claim, told } = await recorded();
    await store.jobs.enqueue([newJob({ queue: 'other' })]);

    await store.jobs.complete(finalBatchOf(await claim(1, 'other')));

    expect(await read()).toEqual([]);
    expect(told.times).toBe(0);
  });

  it("are stored when the caller's transaction commits, and not if it rolls back", async () => {
    const { store, world, names, told } = await recorded();
    const enqueue = (manager: EntityManager) => store.jobs.enqueue([newJob(), newJob()], manager);

    await world.dataSource.transaction(enqueue);
    expect(await names()).toEqual(['enqueued', 'enqueued']);
    expect(told.times).toBe(1);

    await expect(
      world.dataSource.transaction(async (manager) => {
        await enqueue(manager);
        throw new Error('not this time');
      }),
    ).rejects.toThrow('not this time');
    expect(await names()).toEqual(['enqueued', 'enqueued']);
    expect(told.times).toBe(1);
  });

  it('include a completion in the transaction of a handler exactly if that transaction commits', async () => {
    const { store, names, claim } = await recorded();
    await store.jobs.enqueue([newJob(), newJob()]);
    const taken = await claim(2);
    const [good, late] = taken.jobs as [(typeof taken.jobs)[0], (typeof taken.jobs)[0]];
    const complete = (job: typeof good, claimId = taken.id) =>
      store.jobs.completeWith(() =>
        Promise.resolve({ value: 0, completion: completionOf({ ...taken, id: claimId }, job, outcomes.complete) }),
      );

    await complete(good);
    await expect(complete(late, taken.id - 1)).rejects.toMatchObject({ code: 'LEASE_LOST' });

    expect(await names(good.id)).toEqual(['enqueued', 'claimed', 'completed']);
    expect(await names(late.id)).toEqual(['enqueued', 'claimed']);
  });

  it('exclude jobs of a lost lease, and include the other jobs of the same batch', async () => {
    const { store, world, names, claim } = await recorded();
    const [kept, lost] = await store.jobs.enqueue([newJob(), newJob()]);
    const taken = await claim(2);
    await world.sql(`UPDATE sql_queue_jobs SET claim_id = 0, state = 'waiting' WHERE id = ${lost}`);

    expect((await store.jobs.complete(finalBatchOf(taken))).lost.size).toBe(1);

    expect(await names(kept)).toEqual(['enqueued', 'claimed', 'completed']);
    expect(await names(lost)).toEqual(['enqueued', 'claimed']);
  });

  it('are stored for any number of jobs with results of any size', async () => {
    const { store, names, claim } = await recorded();
    const many = 1_200;
    await store.jobs.enqueue(Array.from({ length: many }, () => newJob()));
    const taken = await claim(1_000);
    const rest = await claim(1_000);
    const result = JSON.stringify('x'.repeat(10_000));

    await store.jobs.complete(finalBatchOf(taken, { kind: 'complete', result }));
    await store.jobs.complete(finalBatchOf(rest, outcomes.dead));

    const counts: Record<string, number> = {};
    for (const name of await names()) counts[name] = (counts[name] ?? 0) + 1;
    expect(counts).toEqual({ enqueued: many, claimed: many, completed: 1_000, failed: 200, dead: 200 });
  });

  it('are deleted after ten minutes, batch after batch, and not before', async () => {
    const { store, world, names } = await recorded();
    await store.jobs.enqueue([newJob(), newJob(), newJob()]);
    world.advance(570_000);
    await store.jobs.enqueue([newJob()]);
    expect(await store.events.pruneEvents(10)).toBe(0);

    world.advance(31_000);
    expect([await store.events.pruneEvents(2), await store.events.pruneEvents(2)]).toEqual([2, 1]);

    expect(await names()).toEqual(['enqueued']);
    expect(await store.events.pruneEvents(2)).toBe(0);
  });
});

type Row = Record<string, unknown>;

function of(jobId: number | undefined, name: string) {
  return { queue: 'q', jobId, name, owner: null, ranMs: null };
}

function actions({ jobs, events }: OpenStore) {
  const read = async () => (await events.readAfter(0, 10_000)).map(({ event: { at: _at, ...event } }) => event);
  return {
    claim: (limit = 1, queue = 'q') => claimFrom(jobs, { limit, queue }),
    read,
    names: async (jobId?: number) =>
      (await read()).filter((event) => jobId === undefined || event.jobId === jobId).map(({ event }) => event),
  };
}
