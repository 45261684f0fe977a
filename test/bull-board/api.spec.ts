import { UnrecoverableError } from 'nestjs-sql-queue';
import { FRAMEWORKS, startBullBoard } from './support/bull-board-app.js';

describe.each(FRAMEWORKS)('bull-board on %s', (framework) => {
  it('serves its page and its files below a global prefix', async () => {
    const { url, read, producer } = await startBullBoard({ framework, prefix: 'api/v2' });
    await producer.enqueue('email', 1);

    const page = await fetch(url);
    const html = await page.text();
    const script = /src="(static\/js\/main[^"]+)"/.exec(html)![1]!;
    const file = await fetch(`${url}/${script}`);
    // Fastify waits for open answers when it closes.
    await file.arrayBuffer();

    expect([page.status, file.status]).toEqual([200, 200]);
    expect(html).toContain('<base href="/api/v2/admin/queues/" />');
    expect((await read('queues')).body.queues).toHaveLength(1);
  });

  it('lists queues that appear later, with the counts and jobs of all states', async () => {
    const { read, producer, runner, admin, fail } = await startBullBoard({ framework });
    const before = await read('queues');
    const dead = await fail('email', new Error('no'));
    const { id: done } = await producer.enqueue('email', { to: 'ann' });
    const stop = await runner.handle('email', {}, () => ({ sent: true }));
    await runner.whenIdle();
    await stop();
    await producer.enqueue('email', 1, { name: 'welcome', priority: 7 });
    await producer.enqueue('email', 2, { delay: '1h' });
    const { id: cancelled } = await producer.enqueue('email', 3);
    await admin.cancel(cancelled);
    await admin.stats({ maxAge: 0 });

    const all = await read('queues?activeQueue=email&status=latest');
    const completed = await read('queues?activeQueue=email&status=completed');
    const failed = await read('queues?activeQueue=email&status=failed');

    expect(before.body).toEqual({ queues: [] });
    const [queue] = all.body.queues;
    expect(queue).toMatchObject({
      ...{ name: 'email', isPaused: false, hasWorkers: false, readOnlyMode: false, jobSchedulerCount: 0 },
      counts: { active: 0, waiting: 1, completed: 1, failed: 1, delayed: 1, 'waiting-children': 0 },
    });
    expect(queue.jobs).toHaveLength(4);
    expect(completed.body.queues[0].jobs).toMatchObject([
      { id: String(done), data: { to: 'ann' }, returnValue: { sent: true }, isFailed: false, attempts: 1 },
    ]);
    expect(failed.body.queues[0].jobs.map(({ id }: { id: string }) => id)).toEqual([String(dead)]);
  });

  it('shows a job with the errors of its attempts, progress and log lines', async () => {
    const { read, producer, runner } = await startBullBoard({ framework });
    const { id } = await producer.enqueue('email', 1, { retry: 2 });
    const stop = await runner.handle('email', {}, async (job) => {
      job.log(`attempt ${job.attempt}`);
      job.progress({ done: job.attempt });
      throw Object.assign(new Error(`no ${job.attempt}`), { code: 'E550' });
    });
    await runner.whenIdle();
    await stop();

    const { body } = await read(`queues/email/${id}`);
    const logs = await read(`queues/email/${id}/logs`);

    expect(body).toMatchObject({ status: 'failed', job: { attempts: 2, progress: { done: 2 }, isFailed: true } });
    expect(body.job.failedReason).toBe('Error: no 2 (E550)');
    const [stack, last, first] = body.job.stacktrace;
    expect(stack).toContain('bull-board/api.spec.ts');
    expect(last).toMatch(/^Attempt 2, 20.*Z: Error: no 2 \(E550\)$/);
    expect(first).toMatch(/^Attempt 1, 20.*Z: Error: no 1 \(E550\)$/);
    expect(logs.body).toEqual([expect.stringMatching(/Z attempt 1$/), expect.stringMatching(/Z attempt 2$/)]);
  });

  it('answers for a job of another queue, and for an id that is none, that there is no such job', async () => {
    const { read, producer } = await startBullBoard({ framework });
    await producer.enqueue('report', 1);
    const { id } = await producer.enqueue('email', 1);

    const paths = [`queues/report/${id}`, 'queues/email/abc', 'queues/email/99999999999999999999', 'queues/none/1'];
    const statuses = await Promise.all(paths.map((path) => read(path).then(({ status }) => status)));

    expect(statuses).toEqual([404, 404, 404, 404]);
    expect((await read(`queues/report/${id}/logs`)).status).toBe(404);
  });

  it('retries all dead jobs with one filter, and says which stay dead', async () => {
    const { write, admin, fail } = await startBullBoard({ framework });
    for (let i = 0; i < 3; i++) await fail('email', new Error('no'));

    const retried = await write('PUT', 'queues/email/retry/failed');
    const afterwards = await admin.counts('email');
    await fail('report', new UnrecoverableError('never'));
    const refused = await write('PUT', 'queues/report/retry/failed');
    const { entries } = await admin.audit({ queue: 'email' });

    expect(retried).toEqual({ status: 200, body: { retried: 3, skipped: 0 } });
    expect(afterwards).toMatchObject({ waiting: 3, dead: 0 });
    expect(entries).toMatchObject([{ verb: 'retry', by: 'bull-board', count: 3 }]);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toMatch(/^0 jobs were retried. 1 jobs stay dead, because they were discarded/);
  });

  it('retries, promotes, reschedules, reprioritises, edits and removes single jobs', async () => {
    const { write, producer, admin, fail } = await startBullBoard({ framework });
    const dead = await fail('email', new Error('no'));
    const { id } = await producer.enqueue('email', 1, { delay: '1h' });
    const runAt = new Date('2090-01-01T00:00:00Z').getTime();

    const statuses = [
      await write('PUT', `queues/email/${dead}/retry`),
      await write('PATCH', `queues/email/${id}/delay`, { runAt }),
      await write('PATCH', `queues/email/${id}/priority`, { priority: 5 }),
      await write('PATCH', `queues/email/${id}/update-data`, { jobData: { to: 'bob' } }),
    ].map(({ status }) => status);
    const changed = await admin.get(id);
    const promoted = await write('PUT', `queues/email/${id}/promote`);
    const waiting = await admin.get(id);
    const removed = await write('PUT', `queues/email/${id}/clean`);

    expect(statuses).toEqual([204, 200, 200, 200]);
    expect(changed).toMatchObject({ state: 'scheduled', priority: 5, payload: { to: 'bob' } });
    expect(Math.abs(changed!.runAt!.getTime() - runAt)).toBeLessThan(60_000);
    expect([promoted.status, waiting!.state, removed.status]).toEqual([204, 'waiting', 204]);
    expect(await admin.get(id)).toBeNull();
    expect(await admin.get(dead)).toMatchObject({ state: 'waiting' });
  });

  it('refuses a verb that changes nothing, with the reason', async () => {
    const { write, producer, runner } = await startBullBoard({ framework });
    const { id } = await producer.enqueue('email', 1);
    const { id: active } = await producer.enqueue('hang', 1);
    let start = () => {};
    const started = new Promise<void>((resolve) => (start = resolve));
    const stop = await runner.handle('hang', {}, async (job) => {
      start();
      await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
    });
    await started;

    const refused = [
      await write('PUT', `queues/email/${id}/promote`),
      await write('PATCH', `queues/hang/${active}/update-data`, { jobData: 2 }),
      await write('PATCH', `queues/hang/${active}/priority`, { priority: 2 }),
      await write('PUT', `queues/hang/${active}/clean`),
      await write('PUT', 'queues/hang/clean/active'),
      await write('PUT', 'queues/hang/clean/paused'),
      await write('PUT', 'queues/email/concurrency', { concurrency: 0 }),
      await write('PATCH', `queues/email/job-schedulers/daily`, { every: 1000 }),
    ];
    await producer.enqueue('hang', 1);
    await write('PUT', 'queues/hang/pause');
    const obliterated = await write('PUT', 'queues/hang/obliterate', {});
    await write('PUT', 'queues/hang/obliterate', { force: true });
    await stop();

    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 409, 400, 405]);
    expect(refused[0]!.body.message).toBe(`Job ${id} is not promoted: it is waiting.`);
    expect(refused[1]!.body.message).toBe(`Job ${active} is not updated: it is active.`);
    expect(refused[4]!.body.message).toBe('Active jobs cannot be removed. Release or cancel them first.');
    expect(obliterated).toMatchObject({ status: 409, body: { error: { key: 'ERRORS.QUEUE_HAS_ACTIVE_JOBS' } } });
  });

  it('cleans by state, promotes all, empties, pauses, resumes and obliterates a queue', async () => {
    const { read, write, producer, admin, fail } = await startBullBoard({ framework });
    await producer.enqueueMany('email', [{ payload: 1 }, { payload: 2, options: { delay: '1h' } }]);
    await producer.enqueue('other', 1, { delay: '1h' });

    const paused = await write('PUT', 'queues/email/pause');
    const whilePaused = await read('queues');
    const resumed = await write('PUT', 'queues/email/resume');
    const promoted = await write('PUT', 'queues/email/promote');
    const afterPromote = await admin.counts('email');
    const cleaned = await write('PUT', 'queues/email/clean/wait');
    const afterClean = await admin.counts('email');
    await producer.enqueueMany('email', [{ payload: 1 }, { payload: 2, options: { delay: '1h' } }]);
    const emptied = await write('PUT', 'queues/email/empty');
    const afterEmpty = await admin.counts('email');
    // bull-board keeps jobs that finished within the last five seconds.
    await fail('other', new Error('no'));
    await write('PUT', 'queues/other/clean/failed');
    const young = await admin.counts('other');
    const notPaused = await write('PUT', 'queues/other/obliterate', {});
    await write('PUT', 'queues/pause');
    const obliterated = await write('PUT', 'queues/other/obliterate', {});

    expect([paused, resumed, promoted, cleaned, emptied].map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200,
    ]);
    expect(whilePaused.body.queues.map(({ isPaused }: { isPaused: boolean }) => isPaused)).toEqual([true, false]);
    expect(afterPromote).toMatchObject({ waiting: 2, scheduled: 0 });
    expect(afterClean).toMatchObject({ waiting: 0 });
    expect(afterEmpty).toMatchObject({ waiting: 0, scheduled: 0 });
    expect(young).toMatchObject({ dead: 1 });
    expect([notPaused.status, obliterated.status]).toEqual([400, 200]);
    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['email']);
    expect((await read('queues')).body.queues).toHaveLength(1);
  });

  it('adds jobs, and refuses options that the queue does not have', async () => {
    const { write, admin } = await startBullBoard({ framework, board: { queues: ['email'] } });

    const added = await write('POST', 'queues/email/add', {
      name: 'hi',
      data: { a: 1 },
      options: { attempts: 4, delay: 60_000 },
    });
    const refused = await write('POST', 'queues/email/add', { name: '', data: 1, options: { removeOnComplete: true } });

    expect(added).toMatchObject({ status: 200, body: { status: 'delayed', job: { name: 'hi', data: { a: 1 } } } });
    expect(await admin.get(Number(added.body.job.id))).toMatchObject({ maxAttempts: 4, state: 'scheduled' });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('unknown option "removeOnComplete"');
  });

  it('shows, runs and removes schedules', async () => {
    const { read, write, schedules, admin } = await startBullBoard({ framework, board: { queues: ['report'] } });
    await schedules.upsert('daily', {
      queue: 'report',
      cron: '0 3 * * *',
      tz: 'Europe/Berlin',
      payload: { token: 'abc' },
    });
    await schedules.upsert('elsewhere', { queue: 'email', every: '1h' });

    const listed = await read('job-schedulers');
    const ran = await write('PUT', 'queues/report/job-schedulers/daily/run');
    const foreign = await write('PUT', 'queues/report/job-schedulers/elsewhere/run');
    const removed = await write('PUT', 'queues/report/job-schedulers/daily/remove');
    const gone = await write('PUT', 'queues/report/job-schedulers/elsewhere/remove');

    expect(listed.body.schedulers).toMatchObject([
      {
        id: 'daily',
        queueName: 'report',
        pattern: '0 3 * * *',
        tz: 'Europe/Berlin',
        template: { data: { token: '••••' } },
      },
    ]);
    expect(ran).toMatchObject({ status: 200, body: { job: { data: { token: '••••' } } } });
    expect(await admin.get(Number(ran.body.job.id))).toMatchObject({ queue: 'report', payload: { token: 'abc' } });
    expect([foreign.status, removed.status, gone.status]).toEqual([404, 204, 404]);
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['elsewhere']);
  });

  it('shows the workers and the throughput of a queue', async () => {
    const { read, producer, runner, admin } = await startBullBoard({ framework });
    await runner.handle('email', {}, () => undefined);
    await producer.enqueue('email', 1);
    await runner.whenIdle();
    const [worker] = await admin.workers();

    const { body } = await read('queues/email/workers');
    const overview = await read('queues');
    const point = { step: 'minute', dead: 0, cancelled: 0, waitMs: null, runMs: null } as const;
    admin.history = async () => [
      { ...point, at: new Date(0), completed: 9, failed: 9 },
      { ...point, at: new Date(), completed: 4, failed: 1 },
    ];
    const metrics = await read('queues/email/metrics');

    expect(body.workers).toEqual([
      { id: worker!.id, name: `${worker!.host}, process ${process.pid}`, addr: worker!.host, age: expect.any(Number) },
    ]);
    expect(overview.body.queues[0]).toMatchObject({ hasWorkers: true });
    expect(metrics.body).toMatchObject({ completed: { meta: { count: 4 } }, failed: { meta: { count: 1 } } });
    expect(metrics.body.completed.data).toHaveLength(60);
  });

  it('shows and changes the limits of a queue', async () => {
    const { read, write, admin } = await startBullBoard({ framework, board: { queues: ['crm'] } });

    await write('PUT', 'queues/crm/concurrency', { concurrency: 3 });
    await write('PUT', 'queues/crm/rate-limit', { max: 10, duration: 1_000 });
    await admin.limit('crm', { rest: '1h' });
    const [resting] = (await read('queues')).body.queues;
    const rate = await read('queues/crm/rate-limit');
    await write('PUT', 'queues/crm/rate-limit/release');
    await write('PUT', 'queues/crm/rate-limit', { max: null });

    expect(resting).toMatchObject({ globalConcurrency: 3 });
    expect(resting.activeRateLimitTtl).toBeGreaterThan(0);
    expect(rate.body).toEqual({ supported: true, rateLimit: { max: 10, duration: 1_000 } });
    expect((await admin.queues())[0]).toMatchObject({ maxRunning: 3, rate: null, restsUntil: null });
  });

  it('names the user of the request in the audit', async () => {
    const { read, write, producer, admin } = await startBullBoard({
      framework,
      board: {
        queues: ['email'],
        middleware: [
          (request, _response, next) => {
            request.user = request.headers['x-user'];
            next();
          },
        ],
        user: ({ user }) => user as string,
      },
    });
    const { id } = await producer.enqueue('email', 1);

    await Promise.all([read('queues', { 'x-user': 'bob' }), read('queues')]);
    await write('PATCH', `queues/email/${id}/update-data`, { jobData: 2 }, { 'x-user': 'ann' });
    await write('PUT', `queues/email/${id}/clean`, undefined, { 'x-user': 'bob' });
    await write('PUT', 'queues/email/pause');
    await write('POST', 'queues/email/add', { name: 'hi', data: 1, options: { attempts: 4 } }, { 'x-user': 'ann' });
    const { entries } = await admin.audit();

    expect(entries.map(({ verb, by }) => [verb, by])).toEqual([
      ['update', 'ann'],
      ['remove', 'bob'],
      ['pause', 'bull-board'],
      ['enqueue', 'ann'],
    ]);
    expect(entries[3]).toMatchObject({ queue: 'email', options: { name: 'hi', retry: 4 } });
  });
});
