import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { DuplicateKeyError } from '../../lib/job/errors.js';
import type { NewJob } from '../../lib/job/job.js';
import type { KeyedCallResult, KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { claimRequest, finalBatchOf, idsOf, LEASE_MS, newJob, outcomes, rescueRules } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { openProducer } from '../support/open-producer.js';
import { describeStores, describeStrategies } from '../support/stores.js';

const UNTIL_FINISHED = [
  ['completed', outcomes.complete],
  ['dead', outcomes.dead],
  ['cancelled', outcomes.cancel],
] as const;
const GOES_ON = [
  ['waits for its retry', outcomes.retry],
  ['was released', outcomes.release],
  ['was snoozed', outcomes.snooze],
] as const;

describeStores('a key', (setup) => {
  it('stores the job if the key is free', async () => {
    const { jobs, admin } = await setup();

    const [placed] = await put(jobs, { key: 'k' });

    expect(placed).toMatchObject({ outcome: 'created', name: 'default' });
    expect(await admin.get(placed!.id)).toMatchObject({ state: 'waiting', key: 'k' });
  });

  it('returns the waiting job that owns the key', async () => {
    const { jobs, sql } = await setup();
    const [first] = await put(jobs, { key: 'k', name: 'one' });

    const answers = [await put(jobs, { key: 'k', name: 'two' }), await put(jobs, { key: 'k', onConflict: 'coalesce' })];

    expect(answers.flat()).toEqual([
      { id: first!.id, name: 'one', outcome: 'existing' },
      { id: first!.id, name: 'one', outcome: 'existing' },
    ]);
    expect(await sql('SELECT name FROM sql_queue_jobs')).toEqual([{ name: 'one' }]);
  });

  it('belongs to one queue, and every character of it counts', async () => {
    const { jobs, sql } = await setup();
    const keys = [
      'k',
      'K',
      'ḱ',
      'k ',
      ' k',
      'k\0',
      '🔑',
      '🔒',
      'x'.repeat(255),
      `${'x'.repeat(254)}y`,
      "'; --",
      '🔑'.repeat(255),
    ];

    const placed = [
      ...(await put(jobs, ...keys.map((key) => ({ key })))),
      ...(await enqueued(jobs, [keyedJob({ key: 'k' }, { queue: 'other' })])),
    ];

    expect(placed.map(({ outcome }) => outcome)).toEqual(Array.from({ length: keys.length + 1 }, () => 'created'));
    const rows = await sql<{ options: string }>(`SELECT options FROM sql_queue_jobs WHERE queue = 'q' ORDER BY id`);
    expect(rows.map(({ options }) => (JSON.parse(options) as { key: string }).key)).toEqual(keys);
  });

  it("rejects a job with onConflict 'reject' if another job owns the key", async () => {
    const { jobs, sql } = await setup();
    const [first] = await put(jobs, { key: 'k' });

    const refused = await refusal(jobs, { key: 'k', onConflict: 'reject' });

    expect(refused).toMatchObject({
      code: 'DUPLICATE_KEY',
      queue: 'q',
      key: 'k',
      jobId: first!.id,
      jobState: 'waiting',
    });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(1);
  });

  it.each([
    ['waits', {}],
    ['is scheduled', { delay: '1h' as const }],
  ])("lets a job with onConflict 'replace' replace a key owner that %s", async (_, options) => {
    const { jobs, admin, claim } = await setup();
    const [first] = await put(jobs, { key: 'k', headers: { a: '1' }, ...options });

    const [placed] = await enqueued(jobs, [
      keyedJob(
        { key: 'k', onConflict: 'replace', name: 'two', priority: 3, headers: { b: '2' } },
        { payload: '"new"' },
      ),
    ]);

    expect(placed).toEqual({ id: first!.id, name: 'two', outcome: 'replaced' });
    expect(await admin.get(first!.id)).toMatchObject({
      ...{ state: 'waiting', name: 'two', priority: 3, payload: 'new', headers: { b: '2' }, runAt: null },
    });
    expect(idsOf((await claim()).jobs)).toEqual([first!.id]);
  });

  it('lets a job replace a key owner that waits for its retry, with all attempts', async () => {
    const { jobs, admin, claim } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim(), { ...outcomes.retry, delayMs: 60_000 }));

    const [placed] = await put(jobs, { key: 'k', onConflict: 'replace' });

    expect(await admin.get(placed!.id)).toMatchObject({ state: 'waiting', attempt: 0, error: null });
  });

  it('keeps an active key owner from being replaced', async () => {
    const { jobs, claim } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await claim();

    const refused = await refusal(jobs, { key: 'k', onConflict: 'replace' });

    expect(refused).toMatchObject({ code: 'DUPLICATE_KEY', jobId: first!.id, jobState: 'active' });
    expect(refused.message).toContain(`keyUntil: 'started'`);
  });

  it('delays its job anew with each replacement, which makes a debounce', async () => {
    const { jobs, advance, claim } = await setup();
    const debounced = { key: 'k', onConflict: 'replace', keyUntil: 'started', delay: '10s' } as const;
    const say = (payload: string) => enqueued(jobs, [keyedJob(debounced, { payload })]);

    const [first] = await say('1');
    advance(8_000);
    const [second] = await say('2');
    advance(8_000);
    await jobs.promote(10);
    const early = await claim();
    advance(3_000);
    await jobs.promote(10);
    const late = await claim();
    const [next] = await say('3');

    expect(early.jobs).toEqual([]);
    expect(late.jobs).toMatchObject([{ id: first!.id, payload: '2' }]);
    expect(second).toMatchObject({ id: first!.id, outcome: 'replaced' });
    expect(next).toMatchObject({ outcome: 'created' });
  });

  it('admits one job within its duration, which makes a throttle', async () => {
    const { jobs, advance, claim } = await setup();
    const throttled = { key: 'k', keyUntil: '60s' } as const;

    const [first] = await put(jobs, throttled);
    await jobs.complete(finalBatchOf(await claim()));
    advance(30_000);
    const [second] = await put(jobs, throttled);
    const refused = await refusal(jobs, { ...throttled, onConflict: 'replace' });
    advance(31_000);
    const [third] = await put(jobs, throttled);

    expect(second).toEqual({ id: first!.id, name: 'default', outcome: 'existing' });
    expect(refused).toMatchObject({ jobId: first!.id, jobState: 'finished' });
    expect(third).toMatchObject({ outcome: 'created' });
  });

  it('is free if the clock of the server went an hour ahead and back, but not after a small correction', async () => {
    const { jobs, advance } = await setup();
    const throttled = { key: 'k', keyUntil: '60s' } as const;

    advance(3_600_000);
    const [ahead] = await put(jobs, throttled);
    advance(-3_600_000);
    const [back] = await put(jobs, throttled);
    advance(-30_000);
    const [corrected] = await put(jobs, throttled);

    expect(ahead).toMatchObject({ outcome: 'created' });
    expect(back).toMatchObject({ outcome: 'created' });
    expect(corrected).toMatchObject({ outcome: 'existing', id: back!.id });
  });

  it('is owned by the last job of one call that took it', async () => {
    const { jobs, sql } = await setup();

    const placed = await enqueued(jobs, [
      keyedJob({ key: 'k' }, { payload: '1' }),
      newJob({ payload: '2' }),
      keyedJob({ key: 'k' }, { payload: '3' }),
      keyedJob({ key: 'k', onConflict: 'replace' }, { payload: '4' }),
      keyedJob({ key: 'other' }, { payload: '5' }),
    ]);

    expect(placed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'existing', 'replaced', 'created']);
    expect(placed[2]!.id).toBe(placed[0]!.id);
    expect(placed[3]!.id).toBe(placed[0]!.id);
    expect(await sql('SELECT payload FROM sql_queue_jobs ORDER BY id')).toEqual([
      { payload: '4' },
      { payload: '2' },
      { payload: '5' },
    ]);
  });

  it('rejects all jobs of a call if it rejects one of them, and no other call', async () => {
    const { jobs, sql } = await setup();
    await put(jobs, { key: 'held' });
    const call = [newJob(), keyedJob({ key: 'k' }), keyedJob({ key: 'held', onConflict: 'reject' })];

    const answers = await jobs.enqueueKeyed([call, [keyedJob({ key: 'k' })], [keyedJob({ key: 'held' })]]);

    expect(answers).toMatchObject([
      { code: 'DUPLICATE_KEY', key: 'held' },
      [{ outcome: 'created' }],
      [{ outcome: 'existing' }],
    ]);
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(2);
  });

  it('names no job in its error if the key owner is in the same rejected call', async () => {
    const { jobs, sql } = await setup();

    const [answer] = await jobs.enqueueKeyed([[keyedJob({ key: 'k' }), keyedJob({ key: 'k', onConflict: 'reject' })]]);

    expect(answer).toMatchObject({ code: 'DUPLICATE_KEY', jobId: null });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it.each(UNTIL_FINISHED)('is free again when its job is %s', async (_, outcome) => {
    const { jobs, claim } = await setup();
    await put(jobs, { key: 'k' });
    const taken = await claim();

    const [meanwhile] = await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(taken, outcome));
    const [afterwards] = await put(jobs, { key: 'k' });

    expect([meanwhile!.outcome, afterwards!.outcome]).toEqual(['existing', 'created']);
  });

  it.each(GOES_ON)('is not free while its job %s', async (_, outcome) => {
    const { jobs, claim } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim(), outcome));

    const [placed] = await put(jobs, { key: 'k' });

    expect(placed!.outcome).toBe('existing');
  });

  it('is free when its job was removed, by the library or by SQL', async () => {
    const { jobs, admin, sql } = await setup();
    const [first] = await put(jobs, { key: 'a' }, { key: 'b' }, { key: 'c' });

    await admin.remove([first!.id]);
    await admin.cancel(first!.id + 1, () => false);
    await sql(`DELETE FROM sql_queue_jobs WHERE id = ${first!.id + 2}`);
    const placed = await put(jobs, { key: 'a' }, { key: 'b' }, { key: 'c' });

    expect(placed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
  });

  it("is free when its job is claimed if keyUntil is 'started'", async () => {
    const { jobs, claim } = await setup();
    const options = { key: 'k', keyUntil: 'started' } as const;
    const [first] = await put(jobs, options);

    const [waiting] = await put(jobs, options);
    await claim();
    const [active] = await put(jobs, options);

    expect(waiting).toMatchObject({ id: first!.id, outcome: 'existing' });
    expect(active).toMatchObject({ outcome: 'created' });
  });

  it("stays free while its job waits for its retry if keyUntil is 'started'", async () => {
    const { jobs, claim } = await setup();
    const options = { key: 'k', keyUntil: 'started' } as const;
    await put(jobs, options);
    await jobs.complete(finalBatchOf(await claim(), { ...outcomes.retry, delayMs: 60_000 }));

    const [placed] = await put(jobs, options);

    expect(placed).toMatchObject({ outcome: 'created' });
  });

  it('retains the outcome of its job for ten minutes, even in a queue without retention', async () => {
    const { jobs, admin, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await jobs.enqueue([newJob()]);
    const taken = await claim({ limit: 2 });
    const [joined] = await put(jobs, { key: 'k', onConflict: 'coalesce' });

    await jobs.complete(finalBatchOf(taken, { kind: 'complete', result: '"done"' }, { retentionMs: false }));
    advance(570_000);
    await jobs.prune(10);
    const kept = await admin.get(joined!.id);
    advance(31_000);
    await jobs.prune(10);

    expect(joined!.id).toBe(first!.id);
    expect(kept).toMatchObject({ state: 'completed', result: 'done', key: 'k' });
    expect((await admin.find({}, { order: 'oldest', limit: 10 })).jobs).toEqual([]);
  });

  it('retains an outcome for the retention of its queue if that is longer', async () => {
    const { jobs, admin, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { retentionMs: 3_600_000 }));

    advance(3_000_000);
    await jobs.prune(10);

    expect(await admin.get(first!.id)).toMatchObject({ state: 'dead' });
  });

  it.each(['finished', 'started'] as const)("is owned again by a retried job if keyUntil is '%s'", async (keyUntil) => {
    const { jobs, admin, claim } = await setup();
    const [first] = await put(jobs, { key: 'k', keyUntil });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    const moved = await admin.retry([first!.id]);
    const [placed] = await put(jobs, { key: 'k', keyUntil });

    expect(moved).toEqual([first!.id]);
    expect(placed).toMatchObject({ id: first!.id, outcome: 'existing' });
  });

  it('keeps its dead job from a retry if another job owns it now', async () => {
    const { jobs, admin, claim, sql } = await setup();
    const dead = [];
    for (const key of ['k', 'k', 'free']) {
      dead.push((await put(jobs, { key }))[0]!.id);
      await jobs.complete(finalBatchOf(await claim(), outcomes.dead));
    }
    const plain = await jobs.enqueue([newJob()]);
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));
    // The rows of keys that were last used long ago are deleted.
    await sql('DELETE FROM sql_queue_keys');

    const moved = await admin.retry([...dead, ...plain]);
    const again = await admin.retry(dead);

    expect(moved).toEqual([dead[0], dead[2], ...plain]);
    expect(again).toEqual([]);
    expect(await admin.get(dead[1]!)).toMatchObject({ state: 'dead' });
  });

  it('is taken by the dead job of a retry, and not by a completed one before it', async () => {
    const { jobs, admin, claim } = await setup();
    const [completed] = await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim(), outcomes.complete));
    const [dead] = await put(jobs, { key: 'k' });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    const moved = await admin.retry([completed!.id, dead!.id]);
    const [next] = await put(jobs, { key: 'k' });

    expect(await admin.get(completed!.id)).toMatchObject({ state: 'completed' });
    expect(moved).toEqual([dead!.id]);
    expect(next).toMatchObject({ id: dead!.id, outcome: 'existing' });
  });

  it('is owned again by a job replayed at a rate, and left by a job replayed into another queue', async () => {
    const { jobs, admin, claim } = await setup();
    const [stays] = await put(jobs, { key: 'stays' });
    const [goes] = await put(jobs, { key: 'goes' });
    await jobs.complete(finalBatchOf(await claim({ limit: 2 }), outcomes.dead));

    await admin.replay([stays!.id], { to: undefined, firstMs: 60_000, intervalMs: 0, completed: false });
    await admin.replay([goes!.id], { to: 'elsewhere', firstMs: 0, intervalMs: 0, completed: false });
    const [again, anew] = [(await put(jobs, { key: 'stays' }))[0], (await put(jobs, { key: 'goes' }))[0]];

    expect(again).toMatchObject({ id: stays!.id, outcome: 'existing' });
    expect(anew).toMatchObject({ outcome: 'created' });
    expect(await admin.get(goes!.id)).toMatchObject({ queue: 'elsewhere', key: null });
  });

  it('is kept while it is in use, and deleted after an hour without use', async () => {
    const { jobs, advance, sql } = await setup();
    await put(jobs, { key: 'held', delay: '1d' }, { key: 'timed', keyUntil: '3h' }, { key: 'free' });
    await sql(`DELETE FROM sql_queue_jobs WHERE run_at IS NULL`);
    const kept = async () => Number((await sql<{ n: number }>('SELECT COUNT(*) AS n FROM sql_queue_keys'))[0]!.n);

    const early = [await jobs.pruneKeys(10), await kept()];
    advance(3_600_001);
    const looked = [await jobs.pruneKeys(1), await jobs.pruneKeys(10), await jobs.pruneKeys(10), await kept()];
    const outcomes = (await put(jobs, { key: 'held' }, { key: 'timed' }, { key: 'free' })).map(
      ({ outcome }) => outcome,
    );

    expect(early).toEqual([0, 3]);
    expect(looked).toEqual([1, 1, 0, 2]);
    expect(outcomes).toEqual(['existing', 'existing', 'created']);
  });

  it('costs nothing for jobs without keys', async () => {
    const { jobs, sql } = await setup();

    await jobs.enqueue([newJob(), newJob()]);

    expect(await sql('SELECT * FROM sql_queue_keys')).toEqual([]);
  });
});

describeStores('a producer of jobs with keys', (setup) => {
  it('reports which jobs existed', async () => {
    const world = await setup();
    const producer = openProducer(world);

    const first = await producer.enqueue('q', 1, { key: 'k', name: 'one' });
    const again = await world.dataSource.transaction((manager) =>
      producer.enqueue('q', 2, { key: 'k', name: 'two', manager }),
    );
    const many = await producer.enqueueMany('q', [{ payload: 3, options: { key: 'k' } }, { payload: 4 }]);
    const refused = await producer.enqueue('q', 5, { key: 'k', onConflict: 'reject' }).catch((error: unknown) => error);

    expect(first).toEqual({ id: expect.any(Number), queue: 'q', name: 'one', outcome: 'created' });
    expect(again).toEqual({ ...first, outcome: 'existing' });
    expect(many).toEqual([
      { ...first, outcome: 'existing' },
      { id: expect.any(Number), queue: 'q', name: 'default', outcome: 'created' },
    ]);
    expect(refused).toMatchObject({ name: 'DuplicateKeyError', jobId: first.id });
  });

  it('rejects a key for a request, since its answer belongs to one caller', async () => {
    const producer = openProducer(await setup());

    await expect(producer.request('q', 0, { key: 'k' } as object)).rejects.toThrow('expected no key');
  });

  it('publishes at most one job per key to each queue', async () => {
    const world = await setup();
    const producer = openProducer(world);
    for (const queue of ['a', 'b']) await world.queues.subscribe(queue, [{ topic: 'x', where: null }]);
    const held = await producer.enqueue('a', 0, { key: 'k' });

    const copies = await producer.publish('x', 1, { key: 'k' });
    const inTransaction = await world.dataSource.transaction((manager) =>
      producer.publish('x', 2, { key: 'k', manager }),
    );

    expect(copies).toEqual([
      { ...held, outcome: 'existing' },
      { id: expect.any(Number), queue: 'b', name: 'default', outcome: 'created' },
    ]);
    expect(inTransaction).toEqual(copies.map((copy) => ({ ...copy, outcome: 'existing' })));
  });
});

describeStrategies('a job with a key', (setup) => {
  it('is rescued like any other, and owns its key meanwhile', async () => {
    const { jobs, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await claim();

    advance(LEASE_MS + 1);
    await jobs.rescue(rescueRules());
    const [placed] = await put(jobs, { key: 'k' });
    const again = await jobs.claim(claimRequest());

    expect(placed).toMatchObject({ id: first!.id, outcome: 'existing' });
    expect(idsOf(again)).toEqual([first!.id]);
  });

  it('is claimed with its replaced fields, at any position in the queue', async () => {
    const { jobs, claim } = await setup();
    await jobs.enqueue([newJob(), newJob()]);
    const [held] = await put(jobs, { key: 'k', priority: 5 });
    await claim({ limit: 2 });

    await enqueued(jobs, [keyedJob({ key: 'k', onConflict: 'replace', priority: -5 }, { payload: '"new"' })]);
    const taken = await claim();

    expect(taken.jobs).toMatchObject([{ id: held!.id, payload: '"new"', priority: -5 }]);
  });
});

/** Enqueues jobs in one call. */
async function enqueued(jobs: JobStore, given: NewJob[]): Promise<readonly KeyedJobResult[]> {
  const [answer] = await jobs.enqueueKeyed([given]);
  if (!Array.isArray(answer)) throw new Error(`Not put in: ${JSON.stringify(answer)}`);
  return answer as readonly KeyedJobResult[];
}

function put(jobs: JobStore, ...options: EnqueueOptions[]): Promise<readonly KeyedJobResult[]> {
  return enqueued(
    jobs,
    options.map((one) => keyedJob(one)),
  );
}

async function refusal(jobs: JobStore, options: EnqueueOptions): Promise<DuplicateKeyError> {
  const [answer]: readonly KeyedCallResult[] = await jobs.enqueueKeyed([[keyedJob(options)]]);
  return answer as DuplicateKeyError;
}
