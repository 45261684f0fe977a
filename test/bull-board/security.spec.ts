import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@bull-board/fastify';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { SqlQueueBullBoardModule, type BullBoardMiddleware } from 'nestjs-sql-queue/bull-board';
import { FRAMEWORKS, ROUTE, startBullBoard } from './support/bull-board-app.js';

const requireToken: BullBoardMiddleware = (request, response, next) => {
  if (request.headers['x-token'] === 's3') return next();
  response.statusCode = 401;
  response.end();
};

const WRITES = [
  ['PUT', 'queues/pause'],
  ['PUT', 'queues/email/pause'],
  ['PUT', 'queues/email/resume'],
  ['PUT', 'queues/email/empty'],
  ['PUT', 'queues/email/promote'],
  ['PUT', 'queues/email/retry/failed'],
  ['PUT', 'queues/email/clean/wait'],
  ['PUT', 'queues/email/obliterate', { force: true }],
  ['PUT', 'queues/email/concurrency', { concurrency: 1 }],
  ['PUT', 'queues/email/rate-limit', { max: 1, duration: 1_000 }],
  ['PUT', 'queues/email/rate-limit/release'],
  ['PUT', 'queues/email/job-schedulers/daily/run'],
  ['PUT', 'queues/email/job-schedulers/daily/remove'],
  ['POST', 'queues/email/add', { name: '', data: 1, options: {} }],
  ['PUT', 'queues/email/1/retry'],
  ['PUT', 'queues/email/1/promote'],
  ['PUT', 'queues/email/1/clean'],
  ['PATCH', 'queues/email/1/update-data', { jobData: 2 }],
  ['PATCH', 'queues/email/1/delay', { runAt: 1 }],
  ['PATCH', 'queues/email/1/priority', { priority: 1 }],
] as const;

describe.each(FRAMEWORKS)('the security of bull-board on %s', (framework) => {
  it('runs the middleware before the page, its files, reads and writes', async () => {
    const { url, read, write, admin } = await startBullBoard({
      framework,
      board: { middleware: [requireToken], queues: ['email'] },
    });

    const paths = ['', '/', '/queue/email', '/static/favicon.ico', '/api/queues', '/api/queues/email/1'];
    const refused = await Promise.all(paths.map((path) => fetch(url + path).then(({ status }) => status)));
    const paused = await write('PUT', 'queues/email/pause');

    expect(refused).toEqual(paths.map(() => 401));
    expect([paused.status, await admin.queues()]).toEqual([401, []]);
    expect((await read('queues', { 'x-token': 's3' })).status).toBe(200);
  });

  it('answers an error of the middleware, thrown, rejected or passed on, with a refusal', async () => {
    const failures: BullBoardMiddleware[] = [
      () => {
        throw new Error('thrown');
      },
      () => Promise.reject(new Error('rejected')),
      (_request, _response, next) => next(new Error('passed on')),
    ];
    const statuses: number[] = [];
    for (const failure of failures) {
      const { read } = await startBullBoard({ framework, board: { middleware: [failure] } });
      statuses.push((await read('queues')).status);
    }

    expect(statuses).toEqual([500, 500, 500]);
  });

  it('refuses requests of pages of other origins', async () => {
    const { url, read, write, admin, producer } = await startBullBoard({
      ...{ framework, board: { origins: ['https://ops.example.com'] } },
      configure: (app) => app.enableCors({ origin: true, credentials: true }),
    });
    await producer.enqueue('email', 1);
    const headers: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];

    const refused = [];
    for (const each of headers) {
      refused.push(
        (await read('queues', each)).status,
        (await write('PUT', 'queues/email/pause', undefined, each)).status,
      );
    }
    const [queue] = await admin.queues();
    const own: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { origin: new URL(url).origin },
      { origin: 'https://ops.example.com' },
      {},
    ];
    const accepted = own.map((each) =>
      write('PUT', 'queues/email/pause', undefined, each).then(({ status }) => status),
    );

    expect(refused).toEqual(Array.from({ length: 8 }, () => 403));
    expect(queue).toMatchObject({ paused: false });
    expect(await Promise.all(accepted)).toEqual([200, 200, 200, 200]);
  });

  it('refuses every change if it is read-only', async () => {
    const { read, write, admin, producer, schedules } = await startBullBoard({ framework, board: { readOnly: true } });
    await producer.enqueue('email', 1);
    await schedules.upsert('daily', { queue: 'email', every: '1d' });

    const statuses = [];
    for (const [method, path, body] of WRITES) statuses.push((await write(method, path, body)).status);
    const { entries } = await admin.audit();

    // bull-board skips queues that are read-only when it pauses all.
    expect(statuses).toEqual(WRITES.map((_, index) => (index === 0 ? 200 : 405)));
    expect(entries.map(({ verb }) => verb)).toEqual(['schedule.upsert']);
    expect(await admin.queues()).toMatchObject([{ paused: false }]);
    expect((await read('queues?activeQueue=email')).body.queues[0]).toMatchObject({ readOnlyMode: true });
  });

  it('hides secrets on the server, and does not store what it shows in their place', async () => {
    const { read, write, producer, admin, runner } = await startBullBoard({ framework });
    const secret = 'hunter2';
    const { id: waiting } = await producer.enqueue('later', { password: secret, to: 'ann' });
    const { id } = await producer.enqueue(
      'email',
      { password: secret },
      { headers: { authorization: `Bearer ${secret}` } },
    );
    const stop = await runner.handle('email', {}, (job) => {
      job.log(`connect with password=${secret}`);
      job.progress({ token: secret });
      throw new Error(`refused: token=${secret}`);
    });
    await runner.whenIdle();
    await stop();

    const answers = [
      await read('queues?activeQueue=email&status=failed'),
      await read(`queues/email/${id}`),
      await read(`queues/email/${id}/logs`),
      await write('POST', 'queues/email/add', { data: { password: secret } }),
    ];
    const edited = await write('PATCH', `queues/later/${waiting}/update-data`, {
      jobData: { password: '••••', to: 'bob' },
    });
    const duplicated = await write('POST', 'queues/later/add', { data: { password: '••••' } });

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(JSON.stringify(answers)).not.toContain(secret);
    expect([edited.status, duplicated.status]).toEqual([409, 409]);
    expect(edited.body.message).toBe('The payload has hidden values (••••): write values in their place.');
    expect(await admin.get(waiting)).toMatchObject({ payload: { password: secret, to: 'ann' } });
  });

  it('cuts large payloads, and does not store the beginning in their place', async () => {
    const { read, write, producer, admin } = await startBullBoard({ framework });
    const payload = { text: 'a'.repeat(100_000) };
    const { id } = await producer.enqueue('email', payload);

    const { body } = await read(`queues/email/${id}`);
    const edited = await write('PATCH', `queues/email/${id}/update-data`, { jobData: body.job.data });

    expect(body.job.data).toHaveLength(16_384 + '… (only the first 16 kB)'.length);
    expect(edited).toMatchObject({ status: 409, body: { message: expect.stringContaining('QueueAdmin.update') } });
    expect(await admin.get(id)).toMatchObject({ payload });
  });

  it('answers errors of the server without their details', async () => {
    const { read, errors, producer, admin } = await startBullBoard({ framework });
    await producer.enqueue('email', 1);
    admin.stats = () => Promise.reject(new Error('connect to db-7.internal failed'));

    const { status, body } = await read('queues');

    expect([status, body.message]).toEqual([500, 'bull-board failed. The log of the server has the error.']);
    expect(errors.join()).toContain('db-7.internal');
  });
});

describe('the options of bull-board', () => {
  it('need a route, an adapter and middleware', () => {
    const forRoot = () => SqlQueueBullBoardModule.forRoot({} as never);

    for (const problem of [
      'expected route to be a path such as admin/queues, got undefined',
      'expected adapter to be the class ExpressAdapter or FastifyAdapter of bull-board, got undefined',
      'expected middleware, got none: bull-board would be open to everyone who reaches it.',
    ]) {
      expect(forRoot).toThrow(problem);
    }
  });

  it('report all problems at once', () => {
    const forRoot = () =>
      SqlQueueBullBoardModule.forRoot({
        ...{ route: 'a/:b', adapter: class {}, middleware: ['x'], queues: [''], readOnly: 1, redact: 'pass' },
        ...{ user: 'ann', origins: ['ops'], uiConfig: [], instance: 1, guard: 1 },
      } as never);

    const names = ['route', 'adapter', 'middleware', 'queue name', 'readOnly', 'redact', 'user', 'origins', 'uiConfig'];
    for (const name of [...names, 'instance', '"guard"']) expect(forRoot).toThrow(name);
  });

  it('name the adapter for the framework of the application', async () => {
    class AppModule {}
    const imports = [
      SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database: ':memory:' } }),
      SqlQueueBullBoardModule.forRoot({ route: ROUTE, adapter: FastifyAdapter, middleware: [] }),
    ];
    const app = await NestFactory.create({ module: AppModule, imports }, { logger: false, abortOnError: false });

    await expect(app.init()).rejects.toThrow(
      'expected adapter to be ExpressAdapter of @bull-board/express, because the application runs on express',
    );
    await app.close();
  });
});
