import { type CallHandler, type ExecutionContext, type NestInterceptor, VersioningType } from '@nestjs/common';
import { map } from 'rxjs';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { SqlQueueBoardModule } from 'nestjs-sql-queue/board';
import { OpenGuard, startBoard } from '../board/support/board-app.js';

class Envelope implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

describe.each(['express', 'fastify'] as const)('the board on %s', (adapter) => {
  it('serves its page and its scripts, with a policy that allows no other source', async () => {
    const { url } = await startBoard({ adapter });

    const page = await fetch(url);
    const html = await page.text();
    const script = /src="([^"]+)"/.exec(html)![1]!;
    const file = await fetch(new URL(script, url));

    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ` +
        `frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    );
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(script).toMatch(/^queues\/board\.js\?v=\w+$/);
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await file.text()).toContain('EventSource');
    expect((await fetch(`${url}/board.html`)).status).toBe(404);
    expect((await fetch(`${url}/..%2fboard.ts`)).status).toBe(404);
  });

  it('answers reads and writes below a global prefix, with versions and an interceptor of the application', async () => {
    const { read, write, admin, producer } = await startBoard({
      ...{ adapter, prefix: 'api/v2' },
      configure: (app) => {
        app.useGlobalInterceptors(new Envelope());
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      },
    });
    const { id } = await producer.enqueue('email', { to: 'a' });

    const queues = await read('queues');
    const paused = await write('pause', { queue: 'email' });
    const job = await read(`job?id=${id}`);

    expect(queues).toMatchObject({ status: 200, body: { queues: [{ queue: 'email', paused: false }] } });
    expect(paused).toEqual({ status: 200, body: { changed: 1 } });
    expect(await admin.queues()).toMatchObject([{ queue: 'email', paused: true }]);
    expect(job).toMatchObject({ status: 200, body: { id, state: 'waiting', queue: 'email' } });
  });

  it('explains which request is wrong, and what does not exist', async () => {
    const { read, write } = await startBoard({ adapter });

    const answers = await Promise.all([
      read('job?id=abc'),
      read('job?id=77'),
      read('queue?queue=none'),
      read('queue?queue=a&queue=b'),
      read('jobs?queue=a&after=wrong'),
      read('jobs?queue=a&createdAfter=monday'),
      read('constructor'),
      write('constructor', {}),
      write('pause', {}),
      write('remove', { filter: { state: 'dead' } }),
      write('retry', { ids: 'all' }),
      write('pause', [1]),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([400, 404, 404, 400, 400, 400, 404, 404, 400, 400, 400, 400]);
    expect(answers[0].body).toEqual({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('expected a job id'),
      problems: [expect.stringContaining('expected a job id')],
    });
    expect(answers[9].body.message).toContain('expected filter.queue to be given');
  });

  it('streams statistics, and ends the streams when the application closes', async () => {
    const { url, close, producer } = await startBoard({ adapter });
    await producer.enqueue('email', {});

    const [response] = (await once(get(`${url}/api/live`), 'response')) as [IncomingMessage];
    response.setEncoding('utf8');
    let text = '';
    while (!text.includes('event: queues')) text += String((await once(response, 'data'))[0]);
    const ended = once(response, 'close');
    response.resume();
    await close();
    await ended;

    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'content-security-policy': expect.stringContaining(`default-src 'none'`),
    });
    expect(text).toContain('"queue":"email"');
  });
});

describe('SqlQueueBoardModule', () => {
  it('refuses to be open to everyone', async () => {
    const expected = /SqlQueueBoardModule options: expected guards or can, got none.*guards: \[YourAdminGuard\]/;

    expect(() => SqlQueueBoardModule.forRoot({})).toThrow(expected);
    expect(() => SqlQueueBoardModule.forRoot({ guards: [] })).toThrow(expected);
    await expect(
      startBoard({ module: SqlQueueBoardModule.forRootAsync({ path: 'ops/queues', useFactory: () => ({}) }) }),
    ).rejects.toThrow(expected);
  });

  it('rejects invalid options, all at once', () => {
    const options = {
      path: '../x',
      guards: [{}],
      can: true,
      redact: 'x',
      origins: ['ops.example.com'],
      refresh: 5,
      redonly: true,
    };

    expect(() => SqlQueueBoardModule.forRoot(options as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        problems: [
          'unknown option "redonly", did you mean "readOnly"?',
          expect.stringContaining('expected can to be a function'),
          expect.stringContaining('expected redact to be a function, a RegExp or a list of them'),
          expect.stringContaining('expected origins to be a list of origins'),
          expect.stringContaining('expected refresh to be a duration from 1s to 1h'),
          expect.stringContaining('expected path to be a path such as ops/queues'),
          expect.stringContaining('expected guards to be a list of guards'),
        ],
      }),
    );
  });

  it('takes options from other providers', async () => {
    const { write, read } = await startBoard({
      module: SqlQueueBoardModule.forRootAsync({
        ...{ path: 'ops/queues', guards: [OpenGuard] },
        useFactory: () => Promise.resolve({ readOnly: true, user: () => 'ann' }),
      }),
    });

    expect(await write('pause', { queue: 'a' })).toMatchObject({ status: 403 });
    expect(await read('rights')).toMatchObject({
      body: { isReadOnly: true, user: 'ann', verbs: ['read', 'read-payload'] },
    });
  });
});
