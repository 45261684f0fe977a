import { ForbiddenException, Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { SqlQueueBoardModule, type BoardOptions, type BoardVerb } from 'nestjs-sql-queue/board';
import { PATH, startBoard } from './support/board-app.js';

const WRITES = {
  pause: { queue: 'email' },
  resume: { queue: 'email' },
  limit: { queue: 'email', change: { maxRunning: 1 } },
  configure: { queue: 'email', settings: { concurrency: 2 } },
  enqueue: { queue: 'email', payload: 1 },
  'pause-group': { queue: 'email', group: 'a' },
  'resume-group': { queue: 'email', group: 'a' },
  'limit-group': { queue: 'email', group: 'a', change: { weight: 2 } },
  retry: { id: 1 },
  cancel: { id: 1 },
  promote: { id: 1 },
  remove: { id: 1 },
  release: { id: 1 },
  reschedule: { id: 1, delay: '1h' },
  reprioritise: { id: 1, priority: 1 },
  update: { id: 1, payload: 2 },
  duplicate: { id: 1 },
  signal: { id: 1, name: 'approval' },
  'cancel-flow': { id: 1 },
  'retry-flow': { id: 1 },
  'create-schedule': { name: 'new', queue: 'email', every: '1h' },
  'edit-schedule': { name: 'daily', every: '1h' },
  'remove-schedule': { name: 'daily' },
  'pause-schedule': { name: 'daily' },
  'resume-schedule': { name: 'daily' },
  'run-schedule': { name: 'daily' },
} as const;

describe('the security of the board', () => {
  it('lets guards of Nest decide, with their dependencies, about the page, its files, reads, streams and writes', async () => {
    @Injectable()
    class TokenGuard implements CanActivate {
      constructor(@Inject('TOKEN') private readonly token: string) {}

      canActivate(context: ExecutionContext): boolean {
        const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
        if (headers['x-token'] !== this.token) throw new ForbiddenException();
        return true;
      }
    }
    class TokenModule {}
    const imports = [{ module: TokenModule, providers: [{ provide: 'TOKEN', useValue: 's3' }], exports: ['TOKEN'] }];
    const { url, write, read, admin } = await startBoard({
      module: SqlQueueBoardModule.forRoot({ path: PATH, guards: [TokenGuard], imports }),
    });
    await admin.resume('email', { create: true });

    const paths = ['', '/board.js', '/api/queues', '/api/live'];
    const refused = await Promise.all(paths.map((path) => fetch(url + path).then(({ status }) => status)));

    expect(refused).toEqual([403, 403, 403, 403]);
    expect(await write('pause', { queue: 'email' })).toMatchObject({ status: 403 });
    expect(await write('pause', { queue: 'email' }, { 'x-token': 's3' })).toMatchObject({ status: 200 });
    expect(await read('queues', { 'x-token': 's3' })).toMatchObject({
      status: 200,
      body: { queues: [{ paused: true }] },
    });
  });

  it('lets browsers keep the script of a version of the page, and no answer', async () => {
    const { url } = await startBoard();
    const html = await (await fetch(url)).text();
    const script = /src="(.*?)"/.exec(html)![1]!;
    const cacheOf = async (path: string) => (await fetch(new URL(path, url))).headers.get('cache-control');

    expect(await cacheOf(script)).toBe('private, max-age=31536000, immutable');
    expect(await cacheOf(script.replace(/v=\w+/, 'v=other'))).toBe('no-cache');
    expect(await cacheOf(`${url}/api/rights`)).toBe('no-store');
    expect(await cacheOf(url)).toBe('no-store');
  });

  it('asks `can` about every verb with the queue that it changes', async () => {
    const asked: [BoardVerb, string | undefined][] = [];
    const { write, read, producer, schedules } = await startBoard({
      board: {
        can: (_request, verb, queue) => {
          asked.push([verb, queue]);
          return verb.startsWith('read');
        },
      },
    });
    await producer.flow((flow) => flow.add('email', 1));
    await schedules.upsert('daily', { queue: 'email', cron: '0 3 * * *' });

    for (const [verb, body] of Object.entries(WRITES)) {
      asked.length = 0;
      const answer = await write(verb, body);

      expect([verb, answer.status, answer.body.message]).toEqual([verb, 403, `No right to ${verb} in this queue.`]);
      expect(asked).toEqual([[verb, 'email']]);
    }
    expect(await write('pause', { all: true })).toMatchObject({ status: 403 });
    expect(await write('retry', { filter: { queue: 'email', state: 'dead' } })).toMatchObject({ status: 403 });
    expect(await read('job?id=1')).toMatchObject({ body: { state: 'waiting', payload: { text: '1' } } });
  });

  it('shows only the queues that may be read, and payloads only with the right to them', async () => {
    const { read, write, producer, admin, schedules, consumer } = await startBoard({
      board: { can: (_request, verb, queue) => queue === 'open' && verb !== 'read-payload' },
    });
    const { id } = await producer.enqueue('open', { text: 'VISIBLE' }, { headers: { tenant: 'HEADER' } });
    const { id: secret } = await producer.enqueue('closed', { text: 'SECRET' });
    for (const queue of ['open', 'closed']) {
      await schedules.upsert(`of:${queue}`, { queue, cron: '0 3 * * *', payload: { text: 'SCHEDULED' } });
      await admin.subscribe(queue, { topic: `topic.${queue}` });
    }
    await consumer.assign(id, 'ann');
    await consumer.assign(secret, 'ann');

    const answers = await Promise.all(
      ['queues', 'jobs', 'people?owner=ann', 'schedules', 'subscriptions', 'throughput'].map((path) => read(path)),
    );
    const refused = await Promise.all(
      [
        ...['jobs?queue=closed', `job?id=${secret}`, `logs?id=${id}`, 'dead?queue=closed', 'groups?queue=closed'],
        ...['errors?queue=closed'],
        ...['queue?queue=closed', 'history?queue=closed', 'people?queue=closed', 'preview?name=of:closed'],
        ...['jobs?queue=open&header=tenant:HEADER', 'workers'],
      ].map((path) => read(path)),
    );
    const job = await read(`job?id=${id}`);
    const states = await read(`job-states?ids=${id},${secret},4711`);

    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain('open');
      expect(JSON.stringify(body)).not.toMatch(/closed|SCHEDULED/);
    }
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect(states).toEqual({ status: 200, body: { states: [{ id, state: 'active' }] } });
    expect(job.body).toMatchObject({ isHidden: true, payload: null, headers: null });
    expect(JSON.stringify(job.body)).not.toMatch(/VISIBLE|HEADER/);
    expect(await write('pause', { all: true })).toEqual({ status: 200, body: { changed: 1 } });
    expect((await admin.queues()).map(({ queue, paused }) => [queue, paused])).toEqual([
      ['closed', false],
      ['open', true],
    ]);
  });

  it('names no queue that may not be read in lists of workers, in the audit and in refusals', async () => {
    const { read, write, producer, runner, admin, schedules } = await startBoard({
      board: { can: (_request, verb, queue) => verb === 'read' && !queue?.startsWith('closed') },
    });
    await runner.handle('open', {}, () => Promise.reject(new Error('no')));
    await producer.enqueue('open', 1);
    await runner.whenIdle();
    const both = (await admin.workers())[0]!.id;
    await runner.handle('closed', {}, () => undefined);
    const flow = await producer.flow((flow) => flow.add('closed', 1, { delay: '1h' }));
    await schedules.upsert('daily', { queue: 'closed', cron: '0 3 * * *' });
    await admin.retry({ queue: 'open', state: 'dead' }, { to: 'closed' });
    const { id } = flow.jobs[0]!;
    const shown = await producer.flow((one) => one.add('open', 1, { delay: '1h' }));
    await runner.handle('closed.pay', {}, (job) => job.waitFor('approval', { key: 'closed' }));
    await producer.enqueue('closed.pay', 1);
    await runner.whenIdle();

    const workers = await read('workers');
    const audit = await read('audit');
    const refused = [
      ...(await Promise.all(
        [`job?id=${id}`, `logs?id=${id}`, `flow?id=${flow.id}`, 'preview?name=daily'].map((path) => read(path)),
      )),
      ...(await Promise.all(
        Object.entries({ ...WRITES, pause: { all: true } }).map(([verb, body]) =>
          write(verb, { ...body, ...('id' in body && { id: verb.endsWith('flow') ? flow.id : id }) }),
        ),
      )),
    ];

    expect(workers.body.workers).toMatchObject([{ id: both, queues: [{ queue: 'open', slots: 10 }] }]);
    expect(audit.body.entries).toMatchObject([{ verb: 'retry', queue: 'open' }]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    const lists = [await read('flows'), await read('waits')];
    expect(lists).toMatchObject([{ body: { flows: [{ id: shown.id }] } }, { body: { waits: [] } }]);
    expect((await read('waits?queue=closed.pay')).status).toBe(403);
    expect(JSON.stringify([workers, audit, refused, lists])).not.toContain('closed');
  });

  it.each<[setting: string, settings: object | null]>([
    ['paused', { paused: true }],
    ['enabled', { enabled: false }],
    ['the hours of enabled', { enabled: { from: '08:00', to: '18:00' } }],
    ['enabled again', { enabled: true }],
    ['null', null],
  ])('refuses the setting %s without the rights to pause and resume the queue', async (_, settings) => {
    const { write, producer, admin } = await startBoard({
      board: { can: (_request, verb) => verb === 'read' || verb === 'configure' },
    });
    await producer.enqueue('email', 1);

    const refused = await write('configure', { queue: 'email', settings });
    const allowed = await write('configure', { queue: 'email', settings: { concurrency: 2 } });

    expect([refused.status, allowed.status]).toEqual([403, 200]);
    expect(await admin.queues()).toMatchObject([{ queue: 'email', paused: false, settings: { concurrency: 2 } }]);
  });

  it('lists no worker whose queues may all not be read', async () => {
    const { read, runner } = await startBoard({ board: { can: (_request, verb, queue) => verb === 'read' && !queue } });
    await runner.handle('closed', {}, () => undefined);

    expect(await read('workers')).toEqual({ status: 200, body: { workers: [] } });
  });

  it('refuses every write of a read-only board, whatever `can` says', async () => {
    const { write, read, producer, admin } = await startBoard({ board: { readOnly: true, can: () => true } });
    const { id } = await producer.enqueue('email', 1);

    for (const [verb, body] of Object.entries(WRITES)) {
      expect(await write(verb, body)).toEqual({
        status: 403,
        body: { code: 'FORBIDDEN', message: 'The board is read-only.' },
      });
    }
    expect(await admin.get(id)).toMatchObject({ state: 'waiting', payload: 1, priority: 0 });
    expect((await read('rights')).body).toMatchObject({ isReadOnly: true, verbs: ['read', 'read-payload'] });
  });

  it.each(['express', 'fastify'] as const)('answers the rights in many queues at once (%s)', async (adapter) => {
    const can: BoardOptions['can'] = (_request, verb, queue) => verb === 'read' || queue === 'q7';
    const { read } = await startBoard({ adapter, board: { can } });
    const names = Array.from({ length: 20 }, (_, n) => `q${n}`);

    const { body } = await read(`rights?${names.map((name) => `queue=${name}`).join('&')}`);
    const one = await read('rights?queue=__proto__');

    expect(Object.keys(body.queues)).toEqual(names);
    expect([body.verbs, body.queues.q6]).toEqual([['read'], ['read']]);
    expect(body.queues.q7).toContain('pause');
    expect(JSON.stringify(one.body.queues)).toBe('{"__proto__":["read"]}');
  });

  it('refuses writes that its own page has not sent, and reads of pages of other sites', async () => {
    const { write, read, url, admin } = await startBoard({ board: { origins: ['https://ops.example.com'] } });
    const body = { queue: 'email' };
    const own = new URL(url).origin;
    await admin.resume('email', { create: true });

    const refused = await Promise.all([
      write('pause', body, { 'x-sql-queue': '' }),
      write('pause', body, { 'sec-fetch-site': 'cross-site' }),
      write('pause', body, { 'sec-fetch-site': 'same-site' }),
      write('pause', body, { 'sec-fetch-site': 'none' }),
      write('pause', body, { origin: 'https://evil.example' }),
      write('pause', body, { origin: 'null' }),
      write('pause', body, { origin: '' }),
      read('queues', { 'sec-fetch-site': 'cross-site' }),
      read('queues', { 'sec-fetch-site': 'same-site' }),
      read('queues', { origin: 'https://evil.example' }),
    ]);
    const queues = await admin.queues();
    const accepted = await Promise.all([
      write('pause', body, { 'sec-fetch-site': 'same-origin', origin: own }),
      write('pause', body, { origin: own }),
      write('pause', body, { origin: 'https://ops.example.com' }),
      read('queues', { 'sec-fetch-site': 'same-origin' }),
      read('queues', { 'sec-fetch-site': 'none' }),
    ]);

    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [403, 'CROSS_SITE']));
    expect(queues).toMatchObject([{ queue: 'email', paused: false }]);
    expect(accepted.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('hides secrets on the server: in payloads, headers, results, progress, errors, stacks, log lines and schedules', async () => {
    const { read, producer, runner, schedules, countErrors } = await startBoard();
    const secret = 'hunter2';
    await runner.handle('email', {}, (job) => {
      job.progress({ step: 1, accessToken: secret });
      job.log(`login with password=${secret} and {"apiToken": "${secret}"}`);
      throw new Error(`401 from https://admin:${secret}@example.com, Authorization: Bearer ${secret}`);
    });
    await runner.handle('ok', {}, () => ({ iban: secret, nested: [{ clientSecret: [secret] }] }));
    const payload = { smtpPassword: secret, text: `card: "${secret}"`, list: [{ token: { value: secret } }] };
    const { id } = await producer.enqueue('email', payload, { headers: { authorization: secret, tenant: 'acme' } });
    const { id: other } = await producer.enqueue('ok', 1);
    await schedules.upsert('daily', { queue: 'email', cron: '0 3 * * *', payload });
    await runner.whenIdle();
    await countErrors({ queue: 'email', error: 'Error', jobId: id });

    const paths = [
      ...[`job?id=${id}`, `job?id=${other}`, `logs?id=${id}`, 'jobs', 'dead?queue=email', 'schedules'],
      ...['errors', 'errors?queue=email', 'dead-groups'],
    ];
    const bodies = (await Promise.all(paths.map((path) => read(path)))).map(({ body }) => JSON.stringify(body));

    expect(bodies.join('\n')).not.toContain(secret);
    for (const body of bodies.filter((_, index) => index !== 3)) expect(body).toContain('••••');
    expect(bodies[0]).toContain('acme');
    expect((await read(`job?id=${id}`)).body).toMatchObject({
      payload: { isRedacted: true, isCut: false },
      error: { message: '401 from https://admin:••••@example.com, Authorization: ••••' },
    });
  });

  it('uses the rule for secrets of the application, and shows nothing if the rule throws', async () => {
    const seen: string[] = [];
    const { read, producer, runner } = await startBoard({
      board: {
        redact: (value, { queue, name, what }) => {
          seen.push(`${queue} ${name} ${what}`);
          if (what === 'headers') throw new Error('a mistake');
          return what === 'payload' ? { shown: true } : value;
        },
      },
    });
    await runner.handle('email', {}, () => Promise.reject(new Error('no')));
    const { id } = await producer.enqueue('email', { raw: 1 }, { name: 'welcome', headers: { raw: 'header' } });
    await runner.whenIdle();

    const { body } = await read(`job?id=${id}`);

    expect(JSON.parse(body.payload.text)).toEqual({ shown: true });
    expect(body.headers.text).toBe('"••••"');
    expect([...new Set(seen)].sort()).toEqual([
      'email welcome error',
      'email welcome headers',
      'email welcome payload',
    ]);
  });

  it('cuts large payloads at 16 kB, and never writes a hidden value back', async () => {
    const { read, write, producer, admin } = await startBoard();
    const { id } = await producer.enqueue('email', { text: 'é'.repeat(20_000), password: 'hunter2' });

    const { payload } = (await read(`job?id=${id}`)).body;
    const overwritten = await write('update', { id, payload: { password: '••••' } });
    const empty = await write('update', { id });
    const changed = await write('update', { id, payload: { text: 'new' } });

    expect(payload).toMatchObject({ isCut: true, bytes: expect.any(Number) });
    expect(Buffer.byteLength(payload.text)).toBeLessThanOrEqual(16_384);
    expect(payload.text).not.toContain('\ufffd');
    expect([overwritten.status, empty.status]).toEqual([400, 400]);
    expect(changed).toEqual({ status: 200, body: { changed: 1 } });
    expect(await admin.get(id)).toMatchObject({ payload: { text: 'new' } });
  });

  it('logs an unexpected error, and shows nothing of it', async () => {
    const { read, errors } = await startBoard({
      board: {
        can: () => {
          throw new Error('SELECT secret FROM users');
        },
      },
    });

    expect(await read('workers')).toEqual({
      status: 500,
      body: { code: 'INTERNAL', message: 'The board failed. The log of the server has the error.' },
    });
    expect(errors.join()).toContain('SELECT secret FROM users');
  });
});
