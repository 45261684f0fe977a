import type { StandardSchemaV1 } from '../../lib/job/standard-schema.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { untilAborted, describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { countClaimed } from '../support/jobs.js';

const LEASE_MS = 30_000;
// The stored error of a job whose worker was lost.
const LOST = '{"name":"WorkerLostError","message":"","code":"WORKER_LOST"}';

type Batches = JobContext[][];

/** A batch handler that records its calls. */
function collecting(batch: number, then: (jobs: JobContext[], call: number) => unknown = () => undefined) {
  const calls: Batches = [];
  const handle = (jobs: JobContext[]) => then(jobs, calls.push(jobs));
  return { calls, entry: { batch, handle } };
}

const payloads = (calls: Batches) => calls.map((jobs) => jobs.map(({ payload }) => payload));
const of = (values: readonly unknown[]) => values.map((payload) => ({ payload }));
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describeEngines('a batch handler', (setup) => {
  it('receives all available jobs up to the batch size, and each job once', async () => {
    const world = await setup();
    const { calls, entry } = collecting(10);
    const { producer, runner, events } = await world.start({
      ...{ queues: { q: { concurrency: 1 } }, handlers: { q: entry }, autoStart: false },
    });
    const jobs = await producer.enqueueMany('q', of(numbers(25)));

    await runner.start();
    await events.untilCount(25, 'completed');

    expect(calls[0]).toHaveLength(10);
    expect(Math.max(...calls.map(({ length }) => length))).toBe(10);
    expect(new Set(payloads(calls).flat())).toEqual(new Set(numbers(25)));
    expect(new Set(calls.flat().map(({ id }) => id))).toEqual(new Set(jobs.map(({ id }) => id)));
    expect(calls.flat()).toHaveLength(25);
  });

  it('receives a single job at once, without a wait for more', async () => {
    const world = await setup();
    const { calls, entry } = collecting(100);
    const { producer, events } = await world.start({ handlers: { q: entry } });

    for (const n of numbers(3)) {
      await producer.enqueue('q', n);
      await events.untilCount(n + 1, 'completed');
    }

    expect(payloads(calls)).toEqual([[0], [1], [2]]);
  });

  it('receives a list even if its batch size is 1', async () => {
    const world = await setup();
    const { calls, entry } = collecting(1);
    const { producer, events } = await world.start({ handlers: { q: entry } });

    await producer.enqueueMany('q', of([1, 2]));
    await events.untilCount(2, 'completed');

    expect(payloads(calls)).toEqual([[1], [2]]);
  });

  it('receives only jobs of one name per call, in their order', async () => {
    const world = await setup();
    const { calls, entry } = collecting(10);
    const { producer, runner, events } = await world.start({
      ...{ queues: { q: { concurrency: 1 } }, handlers: { q: entry }, autoStart: false },
    });
    const names = ['a', 'a', 'b', 'a', 'b', 'b', 'b', 'c', 'a'];
    await producer.enqueueMany(
      'q',
      names.map((name, payload) => ({ payload, options: { name } })),
    );

    await runner.start();
    await events.untilCount(names.length, 'completed');

    expect(calls.filter((jobs) => new Set(jobs.map(({ name }) => name)).size !== 1)).toEqual([]);
    expect(payloads(calls).flat()).toEqual(numbers(names.length));
  });

  it('runs beside handlers of single jobs and of other batch sizes in one queue', async () => {
    const world = await setup();
    const many = collecting(5);
    const few = collecting(2);
    const single: unknown[] = [];
    const { producer, runner, events } = await world.start({
      handlers: { q: { many: many.entry, few: few.entry, single: ({ payload }) => void single.push(payload) } },
      autoStart: false,
    });
    const names = ['many', 'few', 'single'];
    const name = (n: number) => names[Math.floor(n / 5)]!;
    await producer.enqueueMany(
      'q',
      numbers(15).map((n) => ({ payload: n, options: { name: name(n) } })),
    );

    await runner.start();
    await events.untilCount(15, 'completed');

    expect(payloads(many.calls).flat()).toEqual([0, 1, 2, 3, 4]);
    expect(Math.max(...many.calls.map(({ length }) => length))).toBe(5);
    expect(payloads(few.calls).flat()).toEqual([5, 6, 7, 8, 9]);
    expect(Math.max(...few.calls.map(({ length }) => length))).toBe(2);
    expect(single).toEqual([10, 11, 12, 13, 14]);
  });

  it('occupies one slot per call, for any number of jobs', async () => {
    const world = await setup();
    const { open, opened } = gate();
    let running = 0;
    let most = 0;
    const { calls, entry } = collecting(5, async () => {
      most = Math.max(most, ++running);
      await opened;
      running--;
    });
    const { producer, runner, events } = await world.start({
      ...{ queues: { q: { concurrency: 3, prefetch: 0 } }, worker: { concurrency: 2 } },
      ...{ handlers: { q: entry }, autoStart: false },
    });
    await producer.enqueueMany('q', plainJobs(40));

    await runner.start();
    await eventually(() => running === 2);
    open();
    await events.untilCount(40, 'completed');

    expect(calls.slice(0, 2).map(({ length }) => length)).toEqual([5, 5]);
    expect(most).toBe(2);
  });

  it('completes all jobs of its call if it returns anything but a list of outcomes', async () => {
    const world = await setup();
    const answers = ['something', undefined, [1, 2, 3], [], [{ status: 'fulfilled', value: 1 }, 'and no outcome']];
    const { entry } = collecting(3, (_, call) => answers[call - 1]);
    const { producer, events, admin } = await world.start({ handlers: { q: entry } });

    for (const n of numbers(answers.length)) {
      await producer.enqueueMany('q', plainJobs(3));
      await events.untilCount(3 * (n + 1), 'completed');
    }

    const records = (await admin.find({ state: 'completed' })).jobs;
    expect(records.map(({ result, attempt }) => [result, attempt])).toEqual(numbers(15).map(() => [null, 1]));
  });

  it('fails all jobs of its call by one attempt each if it throws, and they are retried', async () => {
    const world = await setup();
    const { calls, entry } = collecting(3, (_, call) => {
      if (call === 1) throw new TypeError('no');
    });
    const { producer, events, admin } = await world.start({
      queues: { q: { concurrency: 1 } },
      handlers: { q: entry },
    });

    const jobs = await producer.enqueueMany('q', plainJobs(3));
    await events.untilCount(3, 'completed');

    expect(calls[0]).toHaveLength(3);
    expect(events.of('failed').map(({ jobId, attempt, error }) => [jobId, attempt, error?.name])).toEqual(
      jobs.map(({ id }) => [id, 1, 'TypeError']),
    );
    for (const { id } of jobs) expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
  });

  it('leaves all jobs of its call dead, each with the error, if it throws in their last attempt', async () => {
    const world = await setup();
    const { entry } = collecting(3, () => Promise.reject(new Error('for good')));
    const { producer, events, admin } = await world.start({ queues: { q: { retry: 2 } }, handlers: { q: entry } });

    await producer.enqueueMany('q', [{ payload: 0 }, { payload: 0, options: { retry: 1 } }, { payload: 0 }]);
    await events.untilCount(3, 'dead');

    const dead = (await admin.find({ state: 'dead' })).jobs;
    expect(dead).toMatchObject([2, 1, 2].map((attempt) => ({ attempt, error: { message: 'for good' } })));
  });

  it('ends each job by its own outcome if it returns the result of Promise.allSettled()', async () => {
    const world = await setup();
    const { calls, entry } = collecting(10, (jobs) =>
      Promise.allSettled(
        jobs.map(async (job) => {
          const { payload, attempt } = job as JobContext<string>;
          if (payload === 'fails once' && attempt === 1) throw new Error('once');
          if (payload === 'is hopeless') throw Object.assign(new Error('hopeless'), { code: 'UNRECOVERABLE' });
          if (payload === 'is released' && releases++ === 0) job.release();
          if (payload === 'is snoozed' && snoozes++ === 0) job.snooze('1h');
          if (payload === 'is discarded') job.discard('no use');
          return payload === 'is silent' ? undefined : { did: payload };
        }),
      ),
    );
    let releases = 0;
    let snoozes = 0;
    const { producer, runner, events, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const ways = ['works', 'fails once', 'is hopeless', 'is released', 'is snoozed', 'is discarded', 'is silent'];
    const jobs = await producer.enqueueMany('q', of(ways));

    await runner.start();
    await events.until('snoozed', { delayMs: 3_600_000 });
    world.advance(3_600_000);
    await events.untilCount(5, 'completed');
    await runner.whenIdle();

    expect(calls[0]).toHaveLength(7);
    const records = await Promise.all(jobs.map(({ id }) => admin.get(id)));
    expect(records).toMatchObject([
      { state: 'completed', attempt: 1, result: { did: 'works' } },
      { state: 'completed', attempt: 2, result: { did: 'fails once' }, error: null },
      { state: 'dead', attempt: 1, error: { message: 'hopeless' } },
      { state: 'completed', attempt: 1, result: { did: 'is released' } },
      { state: 'completed', attempt: 1, result: { did: 'is snoozed' } },
      { state: 'dead', attempt: 1, error: { message: 'no use' } },
      { state: 'completed', attempt: 1, result: null },
    ]);
  });

  it('ends one job by the outcome that its context threw, and fails the other jobs', async () => {
    const world = await setup();
    const { entry } = collecting(3, (jobs, call) => {
      if (call === 1) jobs[1]!.snooze('1h');
    });
    const { producer, runner, events, admin } = await world.start({
      ...{ queues: { q: { concurrency: 1 } }, handlers: { q: entry }, autoStart: false },
    });
    const [first, snoozed, third] = await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await events.untilCount(2, 'completed');
    await runner.whenIdle();

    expect(await admin.get(snoozed!.id)).toMatchObject({ state: 'scheduled', attempt: 0 });
    for (const { id } of [first!, third!]) {
      expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
      expect(events.of('failed', { jobId: id })).toMatchObject([
        { error: { message: expect.stringMatching(/^Its batch ended early: Job \d+ .* was snoozed/) as string } },
      ]);
    }
  });

  it('completes only the other jobs if it catches the outcome of one job and returns', async () => {
    const world = await setup();
    const { entry } = collecting(3, (jobs) => {
      try {
        jobs[1]!.discard('swallowed');
      } catch {
        return;
      }
    });
    const { producer, runner, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const jobs = await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await runner.whenIdle();

    const states = await Promise.all(jobs.map(async ({ id }) => (await admin.get(id))!.state));
    expect(states).toEqual(['completed', 'dead', 'completed']);
  });

  it.each([
    ['too few outcomes', ([first, second]: unknown[]) => [first, second]],
    ['undefined for the last one', ([first, second]: unknown[]) => [first, second, undefined]],
    ['null for the last one', ([first, second]: unknown[]) => [first, second, null]],
  ])('fails only the job without an outcome, with a clear message, if it returns %s', async (_what, answer) => {
    const world = await setup();
    const { entry } = collecting(3, async () =>
      answer(await Promise.allSettled([Promise.resolve('one'), Promise.resolve('two')])),
    );
    const { producer, runner, events, admin } = await world.start({
      ...{ queues: { q: { retry: 1 } }, handlers: { q: entry }, autoStart: false },
    });
    const jobs = await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await events.until('dead');
    await events.untilCount(2, 'completed');

    const message =
      'A batch handler answered 2 outcomes, expected one for each of its 3 jobs, in their order: there is none for job 3.';
    expect(events.of('dead')).toMatchObject([{ jobId: jobs[2]!.id, error: { message } }]);
    expect(await admin.get(jobs[1]!.id)).toMatchObject({ state: 'completed', result: 'two' });
  });

  it('fails all of its jobs, with a clear message, if it returns too many outcomes', async () => {
    const world = await setup();
    const { entry } = collecting(3, () => Promise.allSettled(numbers(4).map((n) => Promise.resolve(n))));
    const { producer, runner, events } = await world.start({
      ...{ queues: { q: { retry: 1 } }, handlers: { q: entry }, autoStart: false },
    });
    await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await events.untilCount(3, 'dead');

    const message = 'A batch handler answered 4 outcomes, expected one for each of its 3 jobs.';
    expect(events.of('dead')).toMatchObject(numbers(3).map(() => ({ error: { message } })));
  });

  it.each([
    ['undefined', () => undefined],
    ['an empty list', () => []],
    ['rows that have a status of their own', () => [{ status: 'rejected' }, { status: 'open' }, { status: 'open' }]],
  ])('completes all jobs if it returns %s', async (_what, answer) => {
    const world = await setup();
    const { entry } = collecting(3, answer);
    const { producer, runner, events } = await world.start({ handlers: { q: entry }, autoStart: false });
    await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await events.untilCount(3, 'completed');

    expect(events.of('failed')).toEqual([]);
  });

  it('receives the valid jobs only, with a result each, while jobs with an invalid payload die', async () => {
    const world = await setup();
    const { calls, entry } = collecting(10, (jobs) =>
      Promise.allSettled(jobs.map(({ payload }) => Promise.resolve(`did ${String(payload)}`))),
    );
    const { producer, runner, events, admin } = await world.start({
      ...{ queues: { q: { schema: evenNumbers } }, handlers: { q: entry }, autoStart: false },
    });
    const first = await producer.enqueue('q', 2);
    await world.sql(
      `INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '{no json'), ('q', '3'), ('q', '"four"')`,
    );
    const last = await producer.enqueue('q', 4);

    await runner.start();
    await events.untilCount(3, 'dead');
    await events.untilCount(2, 'completed');

    expect(payloads(calls)).toEqual([[20, 40]]);
    expect(await admin.get(first.id)).toMatchObject({ result: 'did 20', attempt: 1 });
    expect(await admin.get(last.id)).toMatchObject({ result: 'did 40', attempt: 1 });
    expect((await admin.find({ state: 'dead' })).jobs).toMatchObject(
      numbers(3).map(() => ({ attempt: 1, error: { code: 'PAYLOAD_INVALID' } })),
    );
  });

  it('is not called if its batch has no valid payload', async () => {
    const world = await setup();
    const { calls, entry } = collecting(10);
    const { events } = await world.start({ handlers: { q: entry } });

    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '{'), ('q', '[')`);
    await events.untilCount(2, 'dead');

    expect(calls).toEqual([]);
  });

  it.each([
    ['of its queue', '5s', undefined],
    ['of one of its jobs', '1h', '5s'],
    ['of one of its jobs, in a queue without a timeout', false, '5s'],
  ] as const)('has all signals aborted and all jobs failed after the timeout %s', async (_, timeout, own) => {
    const world = await setup();
    const clock = new FakeClock();
    const { opened } = gate();
    const { calls, entry } = collecting(3, (_jobs, call) => (call === 1 ? opened : undefined));
    const { producer, runner, events, admin } = await world.start({
      ...{ clock, handlers: { q: entry }, autoStart: false },
      queues: { q: { timeout, concurrency: 1, retry: { attempts: 2, backoff: 0 } } },
    });
    const options = own ? { timeout: own } : {};
    const jobs = await producer.enqueueMany('q', [{ payload: 0 }, { payload: 0, options }, { payload: 0 }]);
    await runner.start();
    await events.untilCount(3, 'started');
    const signals = calls[0]!.map(({ signal }) => signal);

    await clock.untilSleeping(5_000);
    await clock.advance(4_999);
    const early = signals.map(({ aborted }) => aborted);
    await clock.advance(1);
    await events.untilCount(3, 'completed');

    expect(early).toEqual([false, false, false]);
    expect(signals.map(({ reason }) => reason as unknown)).toMatchObject(
      jobs.map(({ id }) => ({ code: 'JOB_TIMEOUT', timeoutMs: 5_000, jobId: id })),
    );
    expect(events.of('failed')).toMatchObject(jobs.map(() => ({ attempt: 1, error: { code: 'JOB_TIMEOUT' } })));
    for (const { id } of jobs) expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
  });

  it('has only the signal of the cancelled job aborted', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { calls, entry } = collecting(3, async (jobs) => {
      await opened;
      return Promise.allSettled(jobs.map(async ({ signal }) => signal.throwIfAborted()));
    });
    const { producer, runner, events, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const jobs = await producer.enqueueMany('q', plainJobs(3));
    await runner.start();
    await events.untilCount(3, 'started');

    await admin.cancel(jobs[1]!.id);
    await untilAborted(calls[0]![1]!.signal);
    const aborted = calls[0]!.map(({ signal }) => signal.aborted);
    open();
    await runner.whenIdle();

    expect(aborted).toEqual([false, true, false]);
    const states = await Promise.all(jobs.map(async ({ id }) => (await admin.get(id))!.state));
    expect(states).toEqual(['completed', 'cancelled', 'completed']);
    expect(calls).toHaveLength(1);
  });

  it('cancels the cancelled job and fails the others if it throws because of the cancellation', async () => {
    const world = await setup();
    const { calls, entry } = collecting(2, async ([first], call) => {
      if (call === 1) (await untilAborted(first!.signal)).throwIfAborted();
    });
    const { producer, runner, events, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const [first, second] = await producer.enqueueMany('q', plainJobs(2));
    await runner.start();
    await events.untilCount(2, 'started');

    await admin.cancel(first!.id);
    await events.until('completed');
    await runner.whenIdle();

    expect(await admin.get(first!.id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    expect(await admin.get(second!.id)).toMatchObject({ state: 'completed', attempt: 2 });
    expect(calls.map(({ length }) => length)).toEqual([2, 1]);
  });

  it('writes no outcome after its lease is lost, and another worker completes each job once', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const silent = collecting(5, () => opened);
    const first = await world.start({ handlers: { q: silent.entry }, autoStart: false });
    const jobs = await first.producer.enqueueMany('q', plainJobs(5));
    await first.runner.start();
    await first.events.untilCount(5, 'started');
    await first.runner.quiet();

    const second = await world.start({ handlers: { q: collecting(5, (all) => all.length).entry } });
    world.advance(LEASE_MS + 1);
    await second.events.untilCount(5, 'completed');
    open();
    await first.events.untilCount(5, 'lost');

    expect(silent.calls.map(({ length }) => length)).toEqual([5]);
    expect(first.events.of('completed')).toEqual([]);
    for (const { id } of jobs) expect(await first.admin.get(id)).toMatchObject({ state: 'completed', attempt: 2 });
  });

  it('loses only the jobs of the lost claim if its batch comes from two claims', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const gates = [gate(), gate()];
    const { calls, entry } = collecting(4, async (_, call) => gates[call - 1]?.opened);
    const { producer, events, admin, runner } = await world.start({
      ...{ clock, queues: { q: { concurrency: 1, prefetch: 8 } }, handlers: { q: entry } },
    });
    await producer.enqueue('q', 'holds the slot');
    await events.untilCount(1, 'started');
    for (const payload of ['a', 'b']) {
      const claimed = countClaimed(await admin.counts('q'));
      await producer.enqueueMany('q', of([payload, payload]));
      await eventually(async () => countClaimed(await admin.counts('q')) === claimed + 2);
    }
    gates[0]!.open();
    await events.untilCount(5, 'started');

    runner.pause();
    await takeClaimFromWorker(world, calls[1]![0]!.id);
    // The heartbeat, and the check that it succeeds.
    await clock.untilSleeping(LEASE_MS / 3, 2);
    await clock.advance(LEASE_MS / 3);
    await untilAborted(calls[1]![0]!.signal);
    const aborted = calls[1]!.map(({ signal }) => signal.aborted);
    gates[1]!.open();
    await events.untilCount(2, 'lost');
    await events.untilCount(3, 'completed');

    expect(payloads(calls)[1]).toEqual(['a', 'a', 'b', 'b']);
    expect(aborted).toEqual([true, true, false, false]);
    expect(await admin.counts('q')).toMatchObject({ completed: 3, waiting: 2, active: 0 });
  });

  it('receives a poison candidate alone, while no other handler runs', async () => {
    const world = await setup();
    const running = new Set<JobContext[]>();
    const crowds: number[] = [];
    const isSuspect = ({ payload }: JobContext) => [3, 4, 9].includes(payload as number);
    const { calls, entry } = collecting(4, async (jobs) => {
      running.add(jobs);
      if ([...running].some((call) => call.some(isSuspect))) crowds.push([...running].flat().length);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(jobs);
    });
    const { producer, runner, events } = await world.start({ handlers: { q: entry }, autoStart: false });
    const jobs = await producer.enqueueMany('q', of(numbers(12)));
    const suspects = [3, 4, 9].map((n) => jobs[n]!.id);
    await world.sql(`UPDATE sql_queue_jobs SET attempt = 2, max_attempts = 9, error = '${LOST}'
                     WHERE id IN (${suspects.join()})`);

    await runner.start();
    await events.untilCount(12, 'completed');

    expect(crowds).toEqual([1, 1, 1]);
    expect(Math.max(...calls.map(({ length }) => length))).toBe(4);
  });

  it('receives a poison candidate alone even if its worker claimed it after running and prefetched jobs', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const gates = [gate(), gate()];
    const { calls, entry } = collecting(4, (_, call) => gates[call - 1]?.opened);
    const { producer, notifier, events, admin } = await world.start({
      ...{ clock, queues: { q: { concurrency: 2, prefetch: 8 } }, handlers: { q: entry } },
    });
    for (const payload of ['runs', 'runs, too']) {
      const { id } = await producer.enqueue('q', payload);
      await events.until('started', { jobId: id });
    }
    for (const waits of ['waits', 'suspect']) {
      const claimed = countClaimed(await admin.counts('q'));
      if (waits === 'waits') await producer.enqueueMany('q', of([waits, waits]));
      else await addPoisonCandidate(world, waits);
      notifier.wake('q');
      await eventually(async () => countClaimed(await admin.counts('q')) > claimed);
    }

    gates[0]!.open();
    await events.untilCount(3, 'completed');
    const whileOneRan = payloads(calls);
    gates[1]!.open();
    await events.untilCount(5, 'completed');

    expect(whileOneRan).toEqual([['runs'], ['runs, too'], ['waits', 'waits']]);
    expect(payloads(calls)[3]).toEqual(['suspect']);
  });

  it('lets other workers claim new jobs while a prefetched poison candidate waits to run alone', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, admin } = await world.start({
      ...{ queues: { q: { concurrency: 4, prefetch: 8 } }, handlers: { q: () => opened } },
    });
    await producer.enqueue('q', 'runs');
    await events.until('started');
    await addPoisonCandidate(world, 'suspect');
    await eventually(async () => countClaimed(await admin.counts('q')) === 2);

    const other = await world.start({ handlers: { q: () => 'done' } });
    await producer.enqueueMany('q', of(numbers(5)));
    await other.events.untilCount(5, 'completed');

    open();
    await events.untilCount(2, 'completed');
  });

  it('lets other workers claim new jobs while a poison candidate from a shared claim runs', async () => {
    const world = await setup();
    const [first, suspect] = [gate(), gate()];
    const { producer, runner, events } = await world.start({
      ...{ queues: { q: { concurrency: 2, prefetch: 0 } }, autoStart: false },
      handlers: { q: ({ payload }) => (payload === 'suspect' ? suspect.opened : first.opened) },
    });
    const { id } = await producer.enqueue('q', 'first');
    await addPoisonCandidate(world, 'suspect');
    await runner.start();
    await events.until('started', { jobId: id });
    await producer.enqueueMany('q', of(numbers(5)));
    first.open();
    await events.untilCount(2, 'started');

    const other = await world.start({ handlers: { q: () => 'done' } });
    await other.events.untilCount(5, 'completed');

    suspect.open();
    await events.untilCount(2, 'completed');
  });

  it('can complete single jobs in their own transactions, together with their writes', async () => {
    const world = await setup();
    await world.sql('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
    const { calls, entry } = collecting(4, async (jobs, call) => {
      const outcomes: PromiseSettledResult<unknown>[] = [];
      for (const job of jobs) {
        const work = job.transaction(async (manager) => {
          await manager.query(`INSERT INTO effects VALUES (${job.id})`);
          if (call === 1 && job.payload === 'fails') throw new Error('no');
          return `did ${String(job.payload)}`;
        });
        outcomes.push(...(await Promise.allSettled([work])));
      }
      return outcomes;
    });
    const { producer, runner, events, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const jobs = await producer.enqueueMany('q', of(['a', 'fails', 'b', 'c']));

    await runner.start();
    await events.untilCount(4, 'completed');
    await runner.whenIdle();

    expect(calls.map(({ length }) => length)).toEqual([4, 1]);
    expect(events.of('failed')).toMatchObject([{ jobId: jobs[1]!.id, error: { message: 'no' } }]);
    const records = await Promise.all(jobs.map(({ id }) => admin.get(id)));
    expect(records.map((record) => [record!.state, record!.result, record!.attempt])).toEqual([
      ['completed', 'did a', 1],
      ['completed', 'did fails', 2],
      ['completed', 'did b', 1],
      ['completed', 'did c', 1],
    ]);
    expect(await world.sql('SELECT id FROM effects ORDER BY id')).toEqual(jobs.map(({ id }) => ({ id })));
    await eventually(async () => (await world.sql('SELECT id FROM sql_queue_claims')).length === 0);
  });

  it('fails all jobs but the one with a committed transaction if it throws afterwards', async () => {
    const world = await setup();
    const { entry } = collecting(3, async (jobs, call) => {
      if (call > 1) return;
      await jobs[1]!.transaction(() => Promise.resolve('kept'));
      throw new Error('too late for one');
    });
    const { producer, runner, events, admin } = await world.start({ handlers: { q: entry }, autoStart: false });
    const jobs = await producer.enqueueMany('q', plainJobs(3));

    await runner.start();
    await events.untilCount(3, 'completed');

    const records = await Promise.all(jobs.map(({ id }) => admin.get(id)));
    expect(records.map((record) => [record!.attempt, record!.result])).toEqual([
      [2, null],
      [1, 'kept'],
      [2, null],
    ]);
  });

  it('returns its running and its prefetched jobs at shutdown without a counted attempt', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const reasons: unknown[] = [];
    const { calls, entry } = collecting(4, async (jobs) => {
      await Promise.all(jobs.map(({ signal }) => untilAborted(signal)));
      reasons.push(...jobs.map(({ signal }) => (signal.reason as { code: string }).code));
      jobs[0]!.signal.throwIfAborted();
    });
    const { producer, events, admin, runner } = await world.start({
      ...{ clock, queues: { q: { concurrency: 1, prefetch: 4 } }, handlers: { q: entry }, autoStart: false },
    });
    await producer.enqueueMany('q', plainJobs(8));
    await runner.start();
    await events.untilCount(4, 'started');
    await eventually(async () => countClaimed(await admin.counts('q')) === 8);

    const stopped = runner.stop({ timeout: '20s' });
    await clock.untilSleeping(20_000);
    await clock.advance(20_000);
    await stopped;

    expect(calls).toHaveLength(1);
    expect(reasons).toEqual(['SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN']);
    expect(events.of('released')).toHaveLength(8);
    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      numbers(8).map(() => ({ attempt: 0, error: null })),
    );
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('has its jobs released at shutdown even if it ignores the signal', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { opened } = gate();
    const { entry } = collecting(4, () => opened);
    const { producer, events, admin, runner } = await world.start({ clock, handlers: { q: entry }, autoStart: false });
    await producer.enqueueMany('q', plainJobs(4));
    await runner.start();
    await events.untilCount(4, 'started');

    const stopped = runner.stop({ timeout: 0 });
    await clock.untilSleeping(1_000);
    await clock.advance(1_000);
    await stopped;

    expect((await admin.find({ state: 'waiting' })).jobs).toMatchObject(
      numbers(4).map(() => ({ attempt: 0, error: null })),
    );
  });
});

describeEngines('two processes with batch handlers', (setup) => {
  it('handle thousands of jobs, each once', async () => {
    const world = await setup();
    const jobs = 4_000;
    const handlers = [collecting(50), collecting(50)];
    const engines = [];
    for (const { entry } of handlers) {
      engines.push(await world.start({ queues: { q: { concurrency: 4 } }, handlers: { q: entry }, autoStart: false }));
    }
    const [one, other] = engines as [Engine, Engine];
    for (let n = 0; n < jobs; n += 1_000) {
      await one.producer.enqueueMany(
        'q',
        numbers(1_000).map((m) => ({ payload: n + m })),
      );
    }

    await Promise.all([one.runner.start(), other.runner.start()]);
    await eventually(async () => (await one.admin.counts('q')).completed === jobs);
    await Promise.all([one.runner.whenIdle(), other.runner.whenIdle()]);

    const handled = handlers.flatMap(({ calls }) => payloads(calls).flat() as number[]);
    expect(handled.sort((a, b) => a - b)).toEqual(numbers(jobs));
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});

type Engine = Awaited<ReturnType<World['start']>>;

/** Accepts even numbers and multiplies them by ten. */
const evenNumbers: StandardSchemaV1 = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      if (typeof value !== 'number' || value % 2) return { issues: [{ message: 'expected an even number' }] };
      return { value: value * 10 };
    },
  },
};

/** Adds a job whose last attempt lost its worker. */
async function addPoisonCandidate({ sql }: World, payload: string): Promise<void> {
  await sql(`
    INSERT INTO sql_queue_jobs (queue, payload, attempt, max_attempts, error)
    VALUES ('q', '"${payload}"', 2, 9, '${LOST}')`);
}

/** Takes the whole claim of the job from its worker, as a rescue does. */
async function takeClaimFromWorker({ sql }: World, jobId: number): Promise<void> {
  const [job] = await sql<{ claim_id: number }>(`SELECT claim_id FROM sql_queue_jobs WHERE id = ${jobId}`);
  const claim = Number(job!.claim_id);
  await sql(`UPDATE sql_queue_jobs SET state = 'waiting', claim_id = 0 WHERE claim_id = ${claim}`);
  await sql(`DELETE FROM sql_queue_claims WHERE id = ${claim}`);
}
