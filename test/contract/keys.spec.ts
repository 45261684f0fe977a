import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { DuplicateKeyError } from '../../lib/job/errors.js';
import type { NewJob } from '../../lib/job/job.js';
import type { KeyedAnswer, PlacedJob } from '../../lib/store/key-store.js';
import type { JobStore } from '../../lib/store/job-store.js';
import { claimOf, endOf, idsOf, LEASE_MS, newJob, outcomes, rescueRules } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { producerOn } from '../support/producer-on.js';
import { describeStores, describeStrategies } from '../support/stores.js';

const UNTIL_FINISHED = [
  ['completed', outcomes.complete],
  ['dead', outcomes.dead],
  ['cancelled', outcomes.cancel],
] as const;
const GOES_ON = [
  ['waits for its next attempt', outcomes.retry],
  ['was released', outcomes.release],
  ['was snoozed', outcomes.snooze],
] as const;

describeStores('a key', (setup) => {
  it('that nobody holds is no reason not to put the job in', async () => {
    const { jobs, admin } = await setup();

    const [placed] = await put(jobs, { key: 'k' });

    expect(placed).toMatchObject({ outcome: 'created', name: 'default' });
    expect(await admin.get(placed!.id)).toMatchObject({ state: 'waiting', key: 'k' });
  });

  it('that another waiting job holds answers that one', async () => {
    const { jobs, sql } = await setup();
    const [first] = await put(jobs, { key: 'k', name: 'one' });

    const answers = [await put(jobs, { key: 'k', name: 'two' }), await put(jobs, { key: 'k', onConflict: 'coalesce' })];

    expect(answers.flat()).toEqual([
      { id: first!.id, name: 'one', outcome: 'existing' },
      { id: first!.id, name: 'one', outcome: 'existing' },
    ]);
    expect(await sql('SELECT name FROM sql_queue_jobs')).toEqual([{ name: 'one' }]);
  });

  it('is one of its queue alone, and every character of it counts', async () => {
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
      ...(await enqueued(jobs, [keyed({ key: 'k' }, { queue: 'other' })])),
    ];

    expect(placed.map(({ outcome }) => outcome)).toEqual(Array.from({ length: keys.length + 1 }, () => 'created'));
    const rows = await sql<{ options: string }>(`SELECT options FROM sql_queue_jobs WHERE queue = 'q' ORDER BY id`);
    expect(rows.map(({ options }) => (JSON.parse(options) as { key: string }).key)).toEqual(keys);
  });

  it('that another job holds refuses one that says so', async () => {
    const { jobs, sql } = await setup();
    const [first] = await put(jobs, { key: 'k' });

    const refused = await refusal(jobs, { key: 'k', onConflict: 'reject' });

    expect(refused).toMatchObject({ code: 'DUPLICATE_KEY', queue: 'q', key: 'k', jobId: first!.id, holder: 'waiting' });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(1);
  });

  it.each([
    ['waits', {}],
    ['is scheduled', { delay: '1h' as const }],
  ])('of a job that %s gives its place to one that replaces it', async (_, options) => {
    const { jobs, admin, claim } = await setup();
    const [first] = await put(jobs, { key: 'k', headers: { a: '1' }, ...options });

    const [placed] = await enqueued(jobs, [
      keyed({ key: 'k', onConflict: 'replace', name: 'two', priority: 3, headers: { b: '2' } }, { payload: '"new"' }),
    ]);

    expect(placed).toEqual({ id: first!.id, name: 'two', outcome: 'replaced' });
    expect(await admin.get(first!.id)).toMatchObject({
      ...{ state: 'waiting', name: 'two', priority: 3, payload: 'new', headers: { b: '2' }, runAt: null },
    });
    expect(idsOf((await claim()).jobs)).toEqual([first!.id]);
  });

  it('of a job that waits for its next attempt gives its place, with all attempts, to one that replaces it', async () => {
    const { jobs, admin, claim } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.settle(endOf(await claim(), { ...outcomes.retry, delayMs: 60_000 }));

    const [placed] = await put(jobs, { key: 'k', onConflict: 'replace' });

    expect(await admin.get(placed!.id)).toMatchObject({ state: 'waiting', attempt: 0, error: null });
  });

  it('of an active job is not given away', async () => {
    const { jobs, claim } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await claim();

    const refused = await refusal(jobs, { key: 'k', onConflict: 'replace' });

    expect(refused).toMatchObject({ code: 'DUPLICATE_KEY', jobId: first!.id, holder: 'active' });
    expect(refused.message).toContain(`keyUntil: 'started'`);
  });

  it('pushes its job out with each one that replaces it, which makes a debounce', async () => {
    const { jobs, advance, claim } = await setup();
    const debounced = { key: 'k', onConflict: 'replace', keyUntil: 'started', delay: '10s' } as const;
    const say = (payload: string) => enqueued(jobs, [keyed(debounced, { payload })]);

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

  it('held for a time lets one job through in it, which makes a throttle', async () => {
    const { jobs, advance, claim } = await setup();
    const throttled = { key: 'k', keyUntil: '10s' } as const;

    const [first] = await put(jobs, throttled);
    await jobs.settle(endOf(await claim()));
    advance(9_000);
    const [second] = await put(jobs, throttled);
    const refused = await refusal(jobs, { ...throttled, onConflict: 'replace' });
    advance(2_000);
    const [third] = await put(jobs, throttled);

    expect(second).toEqual({ id: first!.id, name: 'default', outcome: 'existing' });
    expect(refused).toMatchObject({ jobId: first!.id, holder: 'finished' });
    expect(third).toMatchObject({ outcome: 'created' });
  });

  it('is held by the last job of several put in together that took it', async () => {
    const { jobs, sql } = await setup();

    const placed = await enqueued(jobs, [
      keyed({ key: 'k' }, { payload: '1' }),
      newJob({ payload: '2' }),
      keyed({ key: 'k' }, { payload: '3' }),
      keyed({ key: 'k', onConflict: 'replace' }, { payload: '4' }),
      keyed({ key: 'other' }, { payload: '5' }),
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

  it('that refuses one of several jobs refuses all of them, and none of another call', async () => {
    const { jobs, sql } = await setup();
    await put(jobs, { key: 'held' });
    const call = [newJob(), keyed({ key: 'k' }), keyed({ key: 'held', onConflict: 'reject' })];

    const answers = await jobs.enqueueKeyed([call, [keyed({ key: 'k' })], [keyed({ key: 'held' })]]);

    expect(answers).toMatchObject([
      { code: 'DUPLICATE_KEY', key: 'held' },
      [{ outcome: 'created' }],
      [{ outcome: 'existing' }],
    ]);
    expect(await sql('SELECT id FROM sql_queue_jobs')).toHaveLength(2);
  });

  it('that refuses a job by another one of the same call names no job, since none was put in', async () => {
    const { jobs, sql } = await setup();

    const [answer] = await jobs.enqueueKeyed([[keyed({ key: 'k' }), keyed({ key: 'k', onConflict: 'reject' })]]);

    expect(answer).toMatchObject({ code: 'DUPLICATE_KEY', jobId: null });
    expect(await sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it.each(UNTIL_FINISHED)('is free again when its job is %s', async (_, outcome) => {
    const { jobs, claim } = await setup();
    await put(jobs, { key: 'k' });
    const taken = await claim();

    const [meanwhile] = await put(jobs, { key: 'k' });
    await jobs.settle(endOf(taken, outcome));
    const [afterwards] = await put(jobs, { key: 'k' });

    expect([meanwhile!.outcome, afterwards!.outcome]).toEqual(['existing', 'created']);
  });

  it.each(GOES_ON)('is not free while its job %s', async (_, outcome) => {
    const { jobs, claim } = await setup();
    await put(jobs, { key: 'k' });
    await jobs.settle(endOf(await claim(), outcome));

    const [placed] = await put(jobs, { key: 'k' });

    expect(placed!.outcome).toBe('existing');
  });

  it('is free when its job was removed, by whomever', async () => {
    const { jobs, admin, sql } = await setup();
    const [first] = await put(jobs, { key: 'a' }, { key: 'b' }, { key: 'c' });

    await admin.remove([first!.id]);
    await admin.cancel(first!.id + 1, () => false);
    await sql(`DELETE FROM sql_queue_jobs WHERE id = ${first!.id + 2}`);
    const placed = await put(jobs, { key: 'a' }, { key: 'b' }, { key: 'c' });

    expect(placed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
  });

  it('held until its job has started is free when that is claimed', async () => {
    const { jobs, claim } = await setup();
    const options = { key: 'k', keyUntil: 'started' } as const;
    const [first] = await put(jobs, options);

    const [waiting] = await put(jobs, options);
    await claim();
    const [active] = await put(jobs, options);

    expect(waiting).toMatchObject({ id: first!.id, outcome: 'existing' });
    expect(active).toMatchObject({ outcome: 'created' });
  });

  it('held until its job has started stays free while that waits for its next attempt', async () => {
    const { jobs, claim } = await setup();
    const options = { key: 'k', keyUntil: 'started' } as const;
    await put(jobs, options);
    await jobs.settle(endOf(await claim(), { ...outcomes.retry, delayMs: 60_000 }));

    const [placed] = await put(jobs, options);

    expect(placed).toMatchObject({ outcome: 'created' });
  });

  it('keeps what became of its job for ten minutes, also where the history keeps nothing', async () => {
    const { jobs, admin, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await jobs.enqueue([newJob()]);
    const taken = await claim({ limit: 2 });
    const [joined] = await put(jobs, { key: 'k', onConflict: 'coalesce' });

    await jobs.settle(endOf(taken, { kind: 'complete', result: '"done"' }, { keepMs: false }));
    advance(599_000);
    await jobs.prune(10);
    const kept = await admin.get(joined!.id);
    advance(2_000);
    await jobs.prune(10);

    expect(joined!.id).toBe(first!.id);
    expect(kept).toMatchObject({ state: 'completed', result: 'done', key: 'k' });
    expect((await admin.find({}, { order: 'oldest', limit: 10 })).jobs).toEqual([]);
  });

  it('keeps an outcome as long as its queue does, where that is longer', async () => {
    const { jobs, admin, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await jobs.settle(endOf(await claim(), outcomes.dead, { keepMs: 3_600_000 }));

    advance(3_000_000);
    await jobs.prune(10);

    expect(await admin.get(first!.id)).toMatchObject({ state: 'dead' });
  });

  it.each(['finished', 'started'] as const)('until %s is taken again by a job that is retried', async (keyUntil) => {
    const { jobs, admin, claim } = await setup();
    const [first] = await put(jobs, { key: 'k', keyUntil });
    await jobs.settle(endOf(await claim(), outcomes.dead));

    const moved = await admin.retry([first!.id]);
    const [placed] = await put(jobs, { key: 'k', keyUntil });

    expect(moved).toEqual([first!.id]);
    expect(placed).toMatchObject({ id: first!.id, outcome: 'existing' });
  });

  it('that another job holds now leaves a retried one where it is', async () => {
    const { jobs, admin, claim, sql } = await setup();
    const dead = [];
    for (const key of ['k', 'k', 'free']) {
      dead.push((await put(jobs, { key }))[0]!.id);
      await jobs.settle(endOf(await claim(), outcomes.dead));
    }
    const plain = await jobs.enqueue([newJob()]);
    await jobs.settle(endOf(await claim(), outcomes.dead));
    // Nothing knows of keys that were used long ago.
    await sql('DELETE FROM sql_queue_keys');

    const moved = await admin.retry([...dead, ...plain]);
    const again = await admin.retry(dead);

    expect(moved).toEqual([dead[0], dead[2], ...plain]);
    expect(again).toEqual([]);
    expect(await admin.get(dead[1]!)).toMatchObject({ state: 'dead' });
  });

  it('is taken again by a job that is replayed at a rate, and left behind by one that goes into another queue', async () => {
    const { jobs, admin, claim } = await setup();
    const [stays] = await put(jobs, { key: 'stays' });
    const [goes] = await put(jobs, { key: 'goes' });
    await jobs.settle(endOf(await claim({ limit: 2 }), outcomes.dead));

    await admin.replay([stays!.id], { to: undefined, firstMs: 60_000, everyMs: 0 });
    await admin.replay([goes!.id], { to: 'elsewhere', firstMs: 0, everyMs: 0 });
    const [again, anew] = [(await put(jobs, { key: 'stays' }))[0], (await put(jobs, { key: 'goes' }))[0]];

    expect(again).toMatchObject({ id: stays!.id, outcome: 'existing' });
    expect(anew).toMatchObject({ outcome: 'created' });
    expect(await admin.get(goes!.id)).toMatchObject({ queue: 'elsewhere', key: null });
  });

  it('that somebody uses is not forgotten, and one that nobody does is after an hour', async () => {
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

  it('costs jobs without one nothing', async () => {
    const { jobs, sql } = await setup();

    await jobs.enqueue([newJob(), newJob()]);

    expect(await sql('SELECT * FROM sql_queue_keys')).toEqual([]);
  });
});

describeStores('a producer of jobs with keys', (setup) => {
  it('says which of them were there', async () => {
    const world = await setup();
    const producer = producerOn(world);

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

  it('refuses one for a request, whose answer is for one alone', async () => {
    const producer = producerOn(await setup());

    await expect(producer.request('q', 0, { key: 'k' } as object)).rejects.toThrow('expected no key');
  });

  it('publishes to each queue one at a time', async () => {
    const world = await setup();
    const producer = producerOn(world);
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
  it('is rescued like any other, and holds its key all the while', async () => {
    const { jobs, claim, advance } = await setup();
    const [first] = await put(jobs, { key: 'k' });
    await claim();

    advance(LEASE_MS + 1);
    await jobs.rescue(rescueRules());
    const [placed] = await put(jobs, { key: 'k' });
    const again = await jobs.claim(claimOf());

    expect(placed).toMatchObject({ id: first!.id, outcome: 'existing' });
    expect(idsOf(again)).toEqual([first!.id]);
  });

  it('that is replaced is claimed as what it is then, wherever it stands', async () => {
    const { jobs, claim } = await setup();
    await jobs.enqueue([newJob(), newJob()]);
    const [held] = await put(jobs, { key: 'k', priority: 5 });
    await claim({ limit: 2 });

    await enqueued(jobs, [keyed({ key: 'k', onConflict: 'replace', priority: -5 }, { payload: '"new"' })]);
    const taken = await claim();

    expect(taken.jobs).toMatchObject([{ id: held!.id, payload: '"new"', priority: -5 }]);
  });
});

/** Puts jobs in by one call. */
async function enqueued(jobs: JobStore, given: NewJob[]): Promise<readonly PlacedJob[]> {
  const [answer] = await jobs.enqueueKeyed([given]);
  if (!Array.isArray(answer)) throw new Error(`Not put in: ${JSON.stringify(answer)}`);
  return answer as readonly PlacedJob[];
}

function put(jobs: JobStore, ...options: EnqueueOptions[]): Promise<readonly PlacedJob[]> {
  return enqueued(
    jobs,
    options.map((one) => keyed(one)),
  );
}

async function refusal(jobs: JobStore, options: EnqueueOptions): Promise<DuplicateKeyError> {
  const [answer]: readonly KeyedAnswer[] = await jobs.enqueueKeyed([[keyed(options)]]);
  return answer as DuplicateKeyError;
}
