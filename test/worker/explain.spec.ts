import type { JobReason } from '../../lib/job/explain/job-reason.js';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import type { Engine } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

const HOUR_MS = 3_600_000;
// No window of this length ends while a test runs.
const WINDOW_MS = 300 * 24 * HOUR_MS;
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('the explanation of a job', (setup) => {
  it('says that no worker serves its queue, and suggests a similar one that a worker serves', async () => {
    const world = await setup();
    await startIdle(world, 'email.send');
    const { producer, admin } = await world.start({ autoStart: false });

    const misspelt = await producer.enqueue('email.sned', 0);
    const unknown = await producer.enqueue('other', 0);

    expect(await admin.explain(misspelt.id)).toMatchObject({
      ...{ id: misspelt.id, queue: 'email.sned', name: 'default', state: 'waiting' },
      reasons: [{ reason: 'no-worker', excludedBy: 0, here: 'no-handler', suggestion: 'email.send' }],
    });
    expect(await textsOf(admin, misspelt)).toEqual(['No worker serves queue "email.sned", did you mean "email.send"?']);
    expect(await textsOf(admin, unknown)).toEqual([
      `No worker serves queue "other". Start a process with @QueueProcessor('other'), or take its jobs with consumer.claim('other').`,
    ]);
  });

  it('says that processes with a handler exclude its queue, or run no worker', async () => {
    const world = await setup();
    const handlers = { q: () => 1, other: () => 1 };
    const { producer, admin } = await world.start({ handlers, worker: { queues: { exclude: ['q'] } } });
    const { id } = await producer.enqueue('q', 0);
    const elsewhere = await world.start({ autoStart: false });
    const stopped = await world.start({ handlers, autoStart: false });

    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'no-worker', excludedBy: 1, here: 'excluded' }]);
    expect(await reasonsOf(elsewhere.admin, id)).toMatchObject([{ excludedBy: 1, here: 'no-handler' }]);
    expect(await reasonsOf(stopped.admin, id)).toMatchObject([{ here: 'not-running' }]);
    expect(await textsOf(stopped.admin, { id })).toEqual([
      'No worker serves queue "q". This process has a handler for it and runs no worker (`worker: false`, or no `runner.start()`).',
    ]);
  });

  it('says that this process has no handler for its name', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({ handlers: { q: { known: () => 1 } } });
    const { id } = await producer.enqueue('q', 0, { name: 'unknown' });
    await events.until('snoozed');

    expect((await reasonsOf(admin, id))[0]).toMatchObject({ reason: 'no-handler' });
  });

  it('says since when its queue is paused and by whom, together with other reasons', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });
    await admin.as('ann').pause('q');
    const since = expect.any(Date);

    expect(await reasonsOf(admin, id)).toMatchObject([
      { reason: 'queue-paused', by: 'ann', since },
      { reason: 'scheduled', cause: 'delay' },
    ]);
    await admin.resume('q');
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'scheduled' }]);
    await admin.pause({ all: true });
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'queue-paused', by: null, since }, {}]);
    await admin.resume('q');
    await admin.as('bob').configure('q', { paused: true });
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'queue-paused', by: 'bob' }, {}]);
    await admin.as('carl').configure('q', { enabled: false });
    await admin.as('carl').configure('q', { enabled: null });
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'queue-paused', by: 'bob' }, {}]);
  });

  it('says that a setting lets its queue run no job', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { id } = await producer.enqueue('q', 0);

    await admin.configure('q', { enabled: false });

    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'queue-disabled', enabled: false }]);
  });

  it('says that this process has paused its queue, or disabled it by a function', async () => {
    const world = await setup();
    const isEnabled = { q: false };
    const queues = { q: { paused: true, enabled: () => isEnabled.q } };
    const { producer, admin, runner, events } = await world.start({ handlers: { q: () => 1 }, queues });
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);

    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'paused-here' }]);
    expect(await reasonsOf(elsewhere.admin, id)).toMatchObject([{ reason: 'next' }]);
    runner.resume();
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'disabled-here' }]);
    isEnabled.q = true;
    await events.until('completed', { jobId: id });
    expect(await reasonsOf(admin, id)).toMatchObject([{ reason: 'ended' }]);
  });

  it('says that its group waits for a job between two attempts, unless another payload has replaced that job', async () => {
    const world = await setup();
    const { producer, admin, events, runner } = await world.start({
      handlers: { q: () => Promise.reject(new Error('no')) },
      queues: { q: { groups: { concurrency: 1 }, retry: { attempts: 2, backoff: '1h' } } },
    });
    const keyed = { group: 'g', key: 'k', onConflict: 'replace' } as const;
    const first = await producer.enqueue('q', 0, keyed);
    await events.until('failed');
    runner.pause();
    const second = await producer.enqueue('q', 0, { group: 'g' });

    const waiting = await reasonsOf(admin, second.id);
    await producer.enqueue('q', 1, { ...keyed, delay: '1h' });
    const free = await reasonsOf(admin, second.id);

    expect(waiting).toContainEqual({ reason: 'group-busy', group: 'g', limit: 1, jobIds: [first.id] });
    expect(free.map(({ reason }) => reason)).not.toContain('group-busy');
  });

  it('does not name a job that has moved to another group or queue, and runs there', async () => {
    const world = await setup();
    const { producer, admin, events, runner } = await world.start({
      handlers: { q: () => Promise.reject(new Error('no')) },
      queues: { q: { groups: { concurrency: 1 }, retry: { attempts: 2, backoff: '1h' } } },
    });
    const keyed = { group: 'g', key: 'k', onConflict: 'replace' } as const;
    const first = await producer.enqueue('q', 0, keyed);
    await events.until('failed');
    runner.pause();
    const second = await producer.enqueue('q', 0, { group: 'g' });

    await producer.enqueue('q', 1, { ...keyed, group: 'h' });
    await world.sql("UPDATE sql_queue_jobs SET state = 'active', claim_id = 5 WHERE id = ?", [first.id]);
    const inGroup = await reasonsOf(admin, second.id);
    await world.sql("UPDATE sql_queue_jobs SET queue = 'other', group_key = 'g' WHERE id = ?", [first.id]);
    const inQueue = await reasonsOf(admin, second.id);

    for (const reasons of [inGroup, inQueue]) expect(reasons.map(({ reason }) => reason)).not.toContain('group-busy');
  });

  it('says that its time to start is over, unless a worker has started it once', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const late = await producer.enqueue('q', 0, { expiresIn: '1m' });
    const started = await producer.enqueue('q', 0, { expiresIn: '1m' });
    const fresh = await producer.enqueue('q', 0, { expiresIn: '1h' });
    await world.sql('UPDATE sql_queue_jobs SET attempt = 1 WHERE id = ?', [started.id]);

    await world.sql('UPDATE sql_queue_jobs SET created_at = created_at - 120000');

    expect(await reasonsOf(admin, late.id)).toMatchObject([{ reason: 'expired', since: expect.any(Date) }]);
    expect(await reasonsOf(admin, started.id)).toMatchObject([{ reason: 'behind' }]);
    expect(await reasonsOf(admin, fresh.id)).toMatchObject([{ reason: 'behind' }]);
  });

  it('says that the limit of its queue is reached, with the running jobs', async () => {
    const world = await setup();
    const { producer, admin, events, finish } = await startBusy(world, { maxRunning: 2, prefetch: 1 });
    const jobs = await producer.enqueueMany('q', plainJobs(3));
    await events.untilCount(2, 'started');

    const ids = jobs.map(({ id }) => id);
    const reasons = await reasonsOf(admin, ids[2]!);
    finish();

    expect(reasons).toMatchObject([{ reason: 'limit-reached', limit: 2, running: 2, jobIds: ids.slice(0, 2) }]);
  });

  it('says until when the rate of its queue is used up, and until when the queue rests', async () => {
    const world = await setup();
    const rate = { limit: 1, per: WINDOW_MS, window: 'fixed' } as const;
    const { producer, admin, events, finish } = await startBusy(world, { rate, concurrency: 10 });
    const jobs = await producer.enqueueMany('q', plainJobs(2));
    await events.until('started');
    const { id } = jobs[1]!;

    const used = await reasonsOf(admin, id);
    await admin.limit('q', { rest: '5m' });
    const resting = await reasonsOf(admin, id);
    finish();

    const at = await world.now();
    expect(used).toMatchObject([{ reason: 'rate-reached', limit: 1, perMs: WINDOW_MS, until: expect.any(Date) }]);
    expect((used[0] as { until: Date }).until.getTime() % WINDOW_MS).toBe(0);
    expect(resting).toMatchObject([{ reason: 'queue-rests' }, { reason: 'rate-reached' }]);
    expect((resting[0] as { until: Date }).until.getTime() - at).toBeLessThanOrEqual(300_000);
  });

  it('says which job keeps its group busy, and that the group is paused and rests', async () => {
    const world = await setup();
    const { producer, admin, events, finish } = await startBusy(world, { groups: { concurrency: 1 }, concurrency: 9 });
    const first = await producer.enqueue('q', 0, { group: 'g' });
    await events.until('started');
    const { id } = await producer.enqueue('q', 0, { group: 'g' });
    const reader = await world.start({ autoStart: false });
    // A process without the options of the queue knows the limit from the state that a claim has left.
    await eventually(async () => (await admin.groups('q', { state: 'blocked' })).groups.length === 1);

    const busy = await reasonsOf(admin, id);
    const elsewhere = await reasonsOf(reader.admin, id);
    await admin.as('ann').group('q', 'g').pause();
    await admin.group('q', 'g').rest('5m');
    const stopped = await reasonsOf(admin, id);
    finish();

    expect(busy).toMatchObject([{ reason: 'group-busy', group: 'g', limit: 1, jobIds: [first.id] }]);
    expect(elsewhere).toMatchObject([{ reason: 'group-busy', group: 'g', limit: null, jobIds: [first.id] }]);
    expect(stopped).toMatchObject([
      { reason: 'group-paused', group: 'g', by: 'ann' },
      { reason: 'group-rests', group: 'g' },
      { reason: 'group-busy', group: 'g' },
    ]);
  });

  it('says until when the rate of its group is used up', async () => {
    const world = await setup();
    const groups = { rate: { limit: 1, per: WINDOW_MS, window: 'fixed' } } as const;
    const { producer, admin, events, finish } = await startBusy(world, { groups, concurrency: 9 });
    await producer.enqueue('q', 0, { group: 'g' });
    await events.until('started');
    const { id } = await producer.enqueue('q', 0, { group: 'g' });

    const reasons = await reasonsOf(admin, id);
    finish();

    expect(reasons).toMatchObject([{ reason: 'group-rate-reached', group: 'g', limit: 1, perMs: WINDOW_MS }]);
  });

  it('names the jobs that it waits for, ten of them, with their states', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { jobs } = await producer.flow((flow) => {
      const parts = Array.from({ length: 12 }, () => flow.add('q', 0));
      flow.add('q', 0, { after: parts });
    });
    const blocked = jobs.at(-1)!.id;

    const [reason] = await reasonsOf(admin, blocked);

    expect(reason).toMatchObject({ reason: 'blocked', more: true });
    const { needs } = reason as Extract<JobReason, { reason: 'blocked' }>;
    expect(needs).toHaveLength(10);
    expect(needs[0]).toEqual({ id: jobs[0]!.id, queue: 'q', name: 'default', state: 'waiting' });
  });

  it('names the signal that it waits for with its key, and the step in which it sleeps', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      handlers: {
        q: async (job: JobContext<string>) => {
          if (job.payload === 'sleep') await job.sleep('nap', '1h');
          else await job.waitFor('approval', { key: 'order:7', timeout: '1h' });
        },
      },
    });
    const waiting = await producer.enqueue('q', 'wait');
    const sleeping = await producer.enqueue('q', 'sleep');
    await events.untilCount(2, 'snoozed');

    const until = expect.any(Date);
    expect(await reasonsOf(admin, waiting.id)).toMatchObject([
      { reason: 'waits-for-signal', name: 'approval', key: 'order:7', until },
    ]);
    expect(await reasonsOf(admin, sleeping.id)).toMatchObject([{ reason: 'sleeps', step: 'nap', until }]);
    await admin.reschedule(waiting.id, '1d');
    expect(await reasonsOf(admin, waiting.id)).toMatchObject([{ reason: 'scheduled' }]);
  });

  it('says why it is due later: a delay, the backoff after an attempt, or a snooze', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      worker: HARDLY_EVER,
      handlers: { q: (job: JobContext<string>) => (job.payload === 'snooze' ? job.snooze('1h') : fail()) },
      queues: { q: { retry: { attempts: 3, backoff: '10m' } } },
    });
    const delayed = await producer.enqueue('q', 'fail', { delay: '1h' });
    const snoozed = await producer.enqueue('q', 'snooze');
    const failed = await producer.enqueue('q', 'fail');
    await events.until('snoozed');
    await events.until('failed');

    const at = expect.any(Date);
    expect(await reasonsOf(admin, delayed.id)).toMatchObject([{ reason: 'scheduled', cause: 'delay', at }]);
    expect(await reasonsOf(admin, snoozed.id)).toMatchObject([{ reason: 'scheduled', at }]);
    expect(await reasonsOf(admin, failed.id)).toMatchObject([{ reason: 'scheduled', cause: 'retry', attempt: 1 }]);
  });

  it('says that it is due, and that the clock of the database differs from that of this process', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });

    world.advance(20_000);
    const ahead = await reasonsOf(admin, id);
    world.advance(7_200_000);

    expect(ahead).toMatchObject([{ reason: 'scheduled' }, { reason: 'clock-differs' }]);
    const { aheadMs } = ahead[1] as { aheadMs: number };
    expect(Math.round(aheadMs / 10_000)).toBe(2);
    expect((await reasonsOf(admin, id)).at(-1)).toMatchObject({ reason: 'due', since: expect.any(Date) });
  });

  it('says how many jobs are more urgent or earlier, up to 200 of them, and that nothing else holds it up', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const [first] = await producer.enqueueMany('q', plainJobs(1));
    await producer.enqueueMany('q', plainJobs(2));
    const last = await producer.enqueue('q', 0);
    await producer.enqueue('q', 0, { priority: -1 });
    await producer.enqueue('q', 0, { group: 'g' });
    const grouped = await producer.enqueue('q', 0, { group: 'g' });

    expect(await reasonsOf(admin, last.id)).toMatchObject([{ reason: 'behind', jobs: 4, atLeast: false }]);
    expect(await reasonsOf(admin, first!.id)).toMatchObject([{ reason: 'behind', jobs: 1 }]);
    expect(await reasonsOf(admin, grouped.id)).toMatchObject([{ reason: 'behind', jobs: 1 }]);
    await producer.enqueueMany(
      'q',
      Array.from({ length: 300 }, () => ({ payload: 0, options: { priority: -1 } })),
    );
    expect(await reasonsOf(admin, last.id)).toMatchObject([{ reason: 'behind', jobs: 200, atLeast: true }]);
    await admin.reprioritise(last.id, -2);
    expect(await reasonsOf(admin, last.id)).toMatchObject([{ reason: 'next' }]);
  });

  it('counts the waiting jobs that were enqueued after it if the queue has the order lifo', async () => {
    const world = await setup();
    const { producer } = await startIdle(world, 'q');
    const { admin } = await world.start({ autoStart: false, queues: { q: { order: 'lifo' } } });
    const ids = (await producer.enqueueMany('q', plainJobs(303))).map(({ id }) => id);
    await world.sql(
      `UPDATE sql_queue_jobs SET state = 'active', claim_id = 1 WHERE id BETWEEN ${ids[80]!} AND ${ids[299]!}`,
    );

    const [oldest, middle, last] = [ids[0]!, ids[79]!, ids[302]!];
    expect(await reasonsOf(admin, oldest)).toEqual([{ reason: 'behind', jobs: 82, atLeast: false, order: 'lifo' }]);
    expect(await reasonsOf(admin, middle)).toMatchObject([{ reason: 'behind', jobs: 3, atLeast: false }]);
    expect(await reasonsOf(admin, last)).toMatchObject([{ reason: 'next' }]);
    await producer.enqueueMany('q', [{ payload: 0, options: { priority: -1 } }]);
    expect(await textsOf(admin, { id: last })).toEqual([
      'It waits behind 1 job that is more urgent or was enqueued after it.',
    ]);
    await producer.enqueueMany('q', plainJobs(300));
    expect(await reasonsOf(admin, last)).toMatchObject([{ reason: 'behind', jobs: 200, atLeast: true }]);
    await producer.enqueue('q', 0, { group: 'g' });
    const grouped = await producer.enqueue('q', 0, { group: 'g' });
    expect(await reasonsOf(admin, grouped.id)).toMatchObject([{ reason: 'behind', jobs: 1, order: 'fifo' }]);
  });

  it('counts the jobs before it behind many active ones', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const jobs = await producer.enqueueMany('q', plainJobs(303));
    await world.sql(`UPDATE sql_queue_jobs SET state = 'active', claim_id = 1 WHERE id <= ${jobs[299]!.id}`);

    expect(await reasonsOf(admin, jobs[302]!.id)).toMatchObject([{ reason: 'behind', jobs: 2, atLeast: true }]);
  });

  it('says which worker runs it, or has claimed it and has no free slot, and that it is being cancelled', async () => {
    const world = await setup();
    const { producer, admin, events, finish } = await startBusy(world, { concurrency: 1, prefetch: 5 });
    const jobs = await producer.enqueueMany('q', plainJobs(5));
    await events.until('started');
    const [running, prefetched] = [jobs[0]!.id, jobs[4]!.id];

    const before = [await reasonsOf(admin, running), await reasonsOf(admin, prefetched)];
    await admin.cancel(running);
    const cancelled = await reasonsOf(admin, running);
    finish();

    const worker = { id: expect.any(String), pid: process.pid };
    expect(before).toMatchObject([
      [{ reason: 'running', worker, isStarted: true }],
      [{ reason: 'running', worker, isStarted: false }],
    ]);
    expect(cancelled.map(({ reason }) => reason)).toContain('cancel-requested');
  });

  it('says that no worker serves its queue, and when its own was last seen, if that worker is lost', async () => {
    const world = await setup();
    // A process without a heartbeat.
    const worker = await startBusy(world, {}, new FakeClock());
    const { admin } = await world.start({ autoStart: false });
    const job = await worker.producer.enqueue('q', 0);
    await worker.events.until('started');

    const before = await textsOf(admin, job);
    world.advance(6 * HOUR_MS);
    const expired = await reasonsOf(admin, job.id);
    const texts = await textsOf(admin, job);
    await world.sql('UPDATE sql_queue_claims SET lock_id = 1');
    const expiredByLock = await reasonsOf(admin, job.id);
    await world.sql('UPDATE sql_queue_claims SET lease_until = lease_until + 86400000');
    const byLock = await reasonsOf(admin, job.id);
    const [, text] = await textsOf(admin, job);

    const noWorker = { reason: 'no-worker', here: 'no-handler', excludedBy: 0 };
    const running = { reason: 'running', isStarted: true, worker: { pid: process.pid } };
    expect(before).toEqual([expect.stringMatching(/^It runs in process /)]);
    expect(expired).toMatchObject([noWorker, { reason: 'lease-expired', since: expect.any(Date) }, running]);
    expect(expiredByLock).toEqual(expired);
    expect(texts[1]).toContain('Any running worker rescues the job');
    expect(texts[2]).toMatch(/^It was started at .+ by process \d+ on \S+, which was last seen at \S+ \(6h ago\)\.$/);
    expect(byLock).toMatchObject([noWorker, { ...running, leaseUntil: null }]);
    expect(text).toMatch(/^It was started at /);
  });

  it('says that its lease has expired if a rescue has taken other jobs of its claim, and names no time', async () => {
    const world = await setup();
    const { producer, admin, events } = await startBusy(world, {});
    const job = await producer.enqueue('q', 0);
    await events.until('started');
    // As a rescue does that leaves a running job.
    await world.sql('UPDATE sql_queue_claims SET lease_until = 0');

    const reasons = await reasonsOf(admin, job.id);
    const [text] = await textsOf(admin, job);
    await world.sql(`UPDATE sql_queue_claims SET owner = 'ann'`);
    const held = await reasonsOf(admin, job.id);

    expect(reasons).toMatchObject([
      { reason: 'lease-expired', since: null },
      { reason: 'running', leaseUntil: null },
    ]);
    expect(text).toContain('a rescue has taken other jobs of its claim');
    expect(held).toEqual([{ reason: 'lease-expired', since: null }]);
  });

  it('says who holds it, that its lease has expired, and in which stage it waits for people', async () => {
    const world = await setup();
    const { producer, admin, consumer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann', lease: '1h' });

    const held = await reasonsOf(admin, id);
    world.advance(7_200_000);
    const expired = await reasonsOf(admin, id);
    const staged = await producer.enqueue('other', 0);
    await consumer.assign(staged.id, 'bob');
    await consumer.move(staged.id, { owner: 'bob', stage: 'review' });

    expect(held).toMatchObject([{ reason: 'assigned', owner: 'ann', snoozedUntil: null }]);
    expect(expired).toMatchObject([{ reason: 'lease-expired' }, { reason: 'assigned' }]);
    expect(await reasonsOf(admin, staged.id)).toMatchObject([{ reason: 'staged', stage: 'review' }]);
  });

  it('says that its queue is disabled or paused for people, too, and that none but people claim it from a stage', async () => {
    const world = await setup();
    const { producer, admin, consumer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.assign(id, 'ann');
    await consumer.move(id, { owner: 'ann', stage: 'review' });

    const open = await reasonsOf(admin, id);
    await admin.configure('q', { enabled: false, paused: true });
    const closed = await reasonsOf(admin, id);
    await admin.configure('q', { enabled: true, paused: false });
    await consumer.claim('q', { owner: 'ann', stage: 'review' });
    await consumer.snooze(id, { owner: 'ann', until: '2h' });
    const snoozed = await reasonsOf(admin, id);
    const texts = await textsOf(admin, { id });
    world.advance(3 * HOUR_MS);
    const due = await reasonsOf(admin, id);

    const staged = { reason: 'staged', stage: 'review' };
    expect(open).toEqual([staged]);
    expect(closed).toMatchObject([{ reason: 'queue-paused' }, { reason: 'queue-disabled', enabled: false }, staged]);
    expect(snoozed).toMatchObject([{ reason: 'scheduled' }, staged]);
    expect(texts.at(-1)).toMatch(/claims it when it is due\.$/);
    expect(due).toMatchObject([{ reason: 'due' }, staged]);
  });

  it('says that people take the jobs of a queue that needs no worker', async () => {
    const world = await setup();
    const { producer, admin, consumer } = await world.start({ autoStart: false });
    const [first, next, last] = await producer.enqueueMany('review', plainJobs(3));
    const later = await producer.enqueue('review', 0, { delay: '1h' });
    const here = await world.start({ autoStart: false, handlers: { review: () => 1 } });

    const before = await reasonsOf(admin, next!.id);
    await consumer.assign(first!.id, 'ann');
    const whileHeld = await reasonsOf(admin, next!.id);
    await consumer.complete(first!.id, { owner: 'ann' });

    const forPeople = { reason: 'for-people' };
    expect(before).toMatchObject([{ reason: 'no-worker' }, { reason: 'behind' }]);
    expect(whileHeld).toEqual([forPeople]);
    expect(await reasonsOf(admin, next!.id)).toEqual([forPeople]);
    expect(await reasonsOf(admin, last!.id)).toMatchObject([{ reason: 'behind', jobs: 1 }, forPeople]);
    expect(await reasonsOf(admin, later.id)).toMatchObject([{ reason: 'scheduled' }, forPeople]);
    expect(await textsOf(admin, next!)).toEqual([
      `No worker serves queue "review": consumer.claim('review') claims its jobs, for people and other programs.`,
    ]);
    expect(await reasonsOf(here.admin, next!.id)).toMatchObject([{ reason: 'no-worker', here: 'not-running' }]);
  });

  it('says who holds it until it is released', async () => {
    const world = await setup();
    const { producer, admin, consumer } = await world.start({ autoStart: false });
    const job = await producer.enqueue('q', 0);
    await consumer.assign(job.id, 'bob');

    expect(await reasonsOf(admin, job.id)).toMatchObject([{ reason: 'assigned', owner: 'bob', leaseUntil: null }]);
    expect((await textsOf(admin, job))[0]).toMatch(/^It is held by owner "bob" since .+\), until it is released\. /);
  });

  it('says how it has ended, with its error', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      handlers: { q: (job: JobContext<boolean>) => (job.payload ? 1 : fail()) },
      queues: { q: { retry: { attempts: 1 } } },
    });
    const completed = await producer.enqueue('q', true);
    const dead = await producer.enqueue('q', false);
    await events.until('dead');
    await events.until('completed');

    expect(await reasonsOf(admin, completed.id)).toMatchObject([{ reason: 'ended', state: 'completed', error: null }]);
    expect(await reasonsOf(admin, dead.id)).toMatchObject([
      { reason: 'ended', state: 'dead', error: { message: 'broken' } },
    ]);
    expect((await textsOf(admin, dead))[0]).toContain(`: Error: broken. admin.retry(${dead.id}) starts it anew.`);
  });

  it('says that its row is malformed', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { id } = await producer.enqueue('q', 0);
    await world.sql(`UPDATE sql_queue_jobs SET options = '{"timeoutMs":-1}' WHERE id = ${id}`);

    expect((await reasonsOf(admin, id))[0]).toMatchObject({ reason: 'malformed', column: 'options' });
  });

  it('rejects for a job that does not exist, and for anything that is no id', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.explain(4711)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: 4711 });
    await expect(admin.explain('7' as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('contains no payload, header or result', async () => {
    const world = await setup();
    const { producer, admin } = await startIdle(world, 'q');
    const { id } = await producer.enqueue('q', { secret: 'hidden' }, { headers: { secret: 'hidden' } });

    expect(JSON.stringify(await admin.explain(id))).not.toContain('hidden');
  });
});

/** A process without a worker, beside a worker that serves the queue and claims nothing. */
async function startIdle(world: World, queue: string): Promise<Engine> {
  await world.start({ handlers: { [queue]: () => 1 }, queues: { [queue]: { paused: true } } });
  return world.start({ autoStart: false, queues: { [queue]: { groups: {} } } });
}

/** A worker whose jobs run until `finish()`. */
async function startBusy(
  world: World,
  options: QueueOptions,
  clock?: FakeClock,
): Promise<Engine & { finish: () => void }> {
  const { open: finish, opened } = gate();
  const engine = await world.start({ handlers: { q: () => opened }, queues: { q: options }, clock });
  world.afterTest(finish);
  return { ...engine, finish };
}

async function reasonsOf(admin: Engine['admin'], id: number): Promise<JobReason[]> {
  return (await admin.explain(id)).reasons.map(({ text: _text, ...reason }) => reason);
}

async function textsOf(admin: Engine['admin'], { id }: { id: number }): Promise<string[]> {
  return (await admin.explain(id)).reasons.map(({ text }) => text);
}

function fail(): never {
  throw new Error('broken');
}
