import type { ScheduledJobOptions } from 'nestjs-sql-queue';
import * as v from 'valibot';
import { startBoard } from '../board/support/board-app.js';

describe.each(['express', 'fastify'] as const)('a change from the board on %s', (adapter) => {
  it('enqueues a job with its options, and names it in the audit', async () => {
    const { write, admin, producer } = await startBoard({ adapter, board: { user: () => 'ann' } });
    await producer.enqueue('email', 1);
    const options = { name: 'welcome', delay: '1h', priority: -5, key: 'k' };

    const answer = await write('enqueue', { queue: 'email', payload: { to: 'bob' }, ...options });
    const now = await write('enqueue', { queue: 'email', payload: null, name: '', delay: '' });
    const { entries } = await admin.audit();

    expect([answer.status, now.status]).toEqual([200, 200]);
    expect(await admin.get(answer.body.id)).toMatchObject({
      ...{ queue: 'email', payload: { to: 'bob' }, name: 'welcome', priority: -5, key: 'k', state: 'scheduled' },
    });
    expect(await admin.get(now.body.id)).toMatchObject({ payload: null, name: 'default', state: 'waiting' });
    expect(entries.map(({ verb, which, by }) => [verb, which, by])).toEqual([
      ['enqueue', 'email', 'ann'],
      ['enqueue', 'email', 'ann'],
    ]);
    expect(JSON.stringify(entries)).not.toContain('bob');
  });

  it('says which part of a new job is wrong', async () => {
    const { write, admin, producer } = await startBoard({
      ...{ adapter, queues: { checked: { schema: v.object({ to: v.pipe(v.string(), v.email()) }), maxWaiting: 2 } } },
    });
    await producer.enqueue('checked', { to: 'a@example.com' }, { key: 'k' });
    const job = { queue: 'checked', payload: { to: 'b@example.com' } };

    const answers = [
      await write('enqueue', { ...job, queue: 'chekced' }),
      await write('enqueue', { ...job, payload: { to: 'nobody' } }),
      await write('enqueue', { ...job, payload: { to: '••••' } }),
      await write('enqueue', { ...job, delay: 'soon', priority: 'high' }),
      await write('enqueue', { ...job, key: 'k' }),
      await write('enqueue', { queue: 'checked' }),
    ];
    await write('enqueue', job);
    const full = await write('enqueue', job);

    expect([...answers, full].map(({ status, body }) => [status, body.code])).toEqual([
      [404, 'NOT_FOUND'],
      [400, 'PAYLOAD_INVALID'],
      [400, 'INVALID_OPTIONS'],
      [400, 'INVALID_OPTIONS'],
      [409, 'DUPLICATE_KEY'],
      [400, 'INVALID_OPTIONS'],
      [409, 'QUEUE_FULL'],
    ]);
    expect(answers[3]!.body.problems).toEqual([
      expect.stringContaining('expected delay to be a duration'),
      expect.stringContaining('expected priority to be a whole number'),
    ]);
    expect((await admin.find({ queue: 'checked' })).jobs).toHaveLength(2);
  });

  it('creates, edits and removes a schedule, whose other options stay', async () => {
    const { write, read, schedules, admin, producer } = await startBoard({ adapter, board: { user: () => 'ann' } });
    await producer.enqueue('report', 1);
    const options: ScheduledJobOptions = {
      priority: 3,
      retry: { attempts: 7, backoff: 9_000 },
      timeout: '1m',
      expiresIn: '2h',
      lease: '1m',
      retention: { completed: '1h', dead: false },
      headers: { token: 'SECRET' },
    };
    const before = { queue: 'report', jobName: 'n', every: '1h', payload: { kind: 'all' }, options } as const;
    await schedules.upsert('daily', before);

    const created = await write('create-schedule', { name: 'new', queue: 'report', cron: '0 3 * * *', payload: [1] });
    const edited = await write('edit-schedule', {
      ...{ name: 'daily', cron: '0 4 * * *', tz: 'Europe/Berlin', overlap: 'skip', missed: { all: 3 } },
      ...{ jitter: '5m', until: '2099-01-01T00:00:00.000Z' },
    });
    const [daily, fresh] = [await schedules.get('daily'), await schedules.get('new')];
    const shown = await read('schedules');
    await schedules.runNow('daily');
    const { jobs } = await admin.find({ queue: 'report' }, { order: 'newest', limit: 1 });
    const removed = await write('remove-schedule', { name: 'new' });

    expect([created, edited].map(({ status, body }) => [status, typeof body.nextAt])).toEqual([
      [200, 'string'],
      [200, 'string'],
    ]);
    expect(fresh).toMatchObject({ queue: 'report', jobName: 'default', cron: '0 3 * * *', tz: 'UTC', payload: [1] });
    expect(daily).toMatchObject({
      ...{ queue: 'report', jobName: 'n', payload: { kind: 'all' }, cron: '0 4 * * *', everyMs: null },
      ...{ tz: 'Europe/Berlin', overlap: 'skip', missed: { all: 3 }, jitterMs: 300_000 },
      until: new Date('2099-01-01'),
    });
    expect(jobs).toMatchObject([{ priority: 3, maxAttempts: 7, headers: { token: 'SECRET' }, name: 'n' }]);
    expect(daily!.options).toEqual({
      ...{ priority: 3, retry: options.retry, timeout: 60_000, expiresIn: 7_200_000, lease: 60_000 },
      ...{ retention: { completed: 3_600_000, dead: false }, headers: { token: 'SECRET' } },
    });
    expect(JSON.stringify(shown.body)).not.toContain('SECRET');
    expect(removed).toEqual({ status: 200, body: { changed: 1 } });
    expect(await schedules.get('new')).toBeNull();
    expect((await admin.audit()).entries.map(({ verb, by }) => [verb, by])).toEqual([
      ['schedule.upsert', null],
      ['schedule.upsert', 'ann'],
      ['schedule.upsert', 'ann'],
      ['schedule.runNow', null],
      ['schedule.remove', 'ann'],
    ]);
  });

  it('says which part of a schedule is wrong, and previews the ticks of a form', async () => {
    const { write, read, schedules } = await startBoard({ adapter });
    await schedules.upsert('daily', { queue: 'report', every: '1d' });
    const given = { name: 'new', queue: 'report' };

    const answers = [
      await write('create-schedule', { ...given, name: 'daily', every: '1h' }),
      await write('create-schedule', { ...given, cron: '61 * * * *', overlap: 'never', tz: 'Mars' }),
      await write('create-schedule', { ...given, every: '1h', jobName: ' ' }),
      await write('edit-schedule', { name: 'missing', every: '1h' }),
      await write('edit-schedule', { name: 'daily' }),
    ];
    const good = await read('preview?queue=report&cron=0+3+*+*+*&tz=Europe/Berlin');
    const wrong = await read('preview?queue=report&cron=61+*+*+*+*');

    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [409, 'SCHEDULE_EXISTS'],
      [400, 'INVALID_OPTIONS'],
      [400, 'INVALID_OPTIONS'],
      [404, 'NOT_FOUND'],
      [400, 'INVALID_OPTIONS'],
    ]);
    expect(answers[1]!.body.problems).toEqual([
      expect.stringContaining('expected tz to be a time zone'),
      expect.stringContaining('expected overlap to be'),
    ]);
    expect(answers[2]!.body.problems).toEqual([expect.stringContaining('expected jobName to be')]);
    expect(good.body).toMatchObject({ problems: [] });
    expect(good.body.ticks).toHaveLength(5);
    expect(wrong).toMatchObject({
      status: 200,
      body: { ticks: [], problems: [expect.stringContaining('expected cron to be a cron expression')] },
    });
    expect(await schedules.list()).toMatchObject([{ name: 'daily', everyMs: 86_400_000 }]);
  });

  it('needs its own right in each queue that it concerns', async () => {
    const { write, read, producer, schedules } = await startBoard({
      adapter,
      board: { can: (_request, verb, queue) => verb === 'read' || (queue === 'open' && verb !== 'remove-schedule') },
    });
    for (const queue of ['open', 'closed']) await producer.enqueue(queue, 1);
    await schedules.upsert('of:closed', { queue: 'closed', every: '1h' });
    await schedules.upsert('of:open', { queue: 'open', every: '1h' });

    const statuses = [
      await write('enqueue', { queue: 'closed', payload: 1 }),
      await write('create-schedule', { name: 'a', queue: 'closed', every: '1h' }),
      await write('edit-schedule', { name: 'of:closed', every: '2h' }),
      await write('edit-schedule', { name: 'of:open', queue: 'closed', every: '2h' }),
      await write('remove-schedule', { name: 'of:open' }),
      await write('edit-schedule', { name: 'of:open', every: '2h' }),
      await write('enqueue', { queue: 'open', payload: 1 }),
    ].map(({ status }) => status);

    expect(statuses).toEqual([403, 403, 403, 403, 403, 200, 200]);
    expect((await read('schedules')).body.creatableIn).toEqual(['open']);
  });
});
