import { JobContext, QueueProcessor, QueueProducer, SqlQueueModule, type QueueOptions } from 'nestjs-sql-queue';
import { IN_MEMORY, startErrorOf, start } from './support/application.js';

describe('invalid options of the module', () => {
  it('stop the boot with one error', async () => {
    const options = {
      conection: {},
      defaults: { lease: 'soon', retry: { atempts: 1 } },
      queues: { 'report.*': { order: 'random' }, 'not fine': {}, mail: 3 },
      worker: { autostart: true, poll: { min: '2s', max: '1s' } },
      enhancers: 'some',
      schema: { migrate: 'maybe' },
    };

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot(options as never)] });

    expect(error).toMatchObject({
      code: 'INVALID_OPTIONS',
      problems: [
        'unknown option "conection", did you mean "connection"?',
        expect.stringMatching(/^defaults: unknown option "atempts", did you mean "attempts"\?$/),
        expect.stringMatching(/^defaults: expected lease to be a duration from '1s' to '1d', got "soon"$/),
        `queues["report.*"]: expected order to be 'fifo' or 'lifo', got "random"`,
        expect.stringMatching(/^expected queue name to be .* got "not fine"$/),
        expect.stringMatching(/^queues\["mail"\]: expected queue options, got 3$/),
        'worker: unknown option "autostart", did you mean "autoStart"?',
        expect.stringMatching(/^worker: expected poll\.max to be/),
        `expected schema.migrate to be 'run', 'check' or 'off', got "maybe"`,
        `expected enhancers to be 'local', 'all' or 'none', got "some"`,
      ],
    });
  });

  it('stop the boot before any connection', async () => {
    const error = await startErrorOf({
      imports: [
        SqlQueueModule.forRoot({
          connection: { type: 'better-sqlite3', database: '/no/such/folder/at/all' },
          enhancers: 'some' as never,
        }),
      ],
    });

    expect(error.message).toContain('enhancers');
  });

  it('include a DataSource of an invalid type', () => {
    expect(() => SqlQueueModule.forRoot({ dataSource: 5 as never })).toThrow(
      'expected dataSource to be a DataSource, or the name or token of one, got "number"',
    );
    expect(() => SqlQueueModule.forRoot({ isGlobal: 'yes' as never })).toThrow('expected isGlobal to be true or false');
  });
});

describe('the options of a queue', () => {
  const layers: [name: string, options: Record<string, unknown>][] = [
    ['defaults', { defaults: { retry: 11 } }],
    ['queues["*"]', { queues: { '*': { retry: 13 } } }],
    ['queues["mail.*"]', { queues: { 'mail.*': { retry: 14 } } }],
    ['queues["mail.send"]', { queues: { 'mail.send': { retry: 15 } } }],
  ];

  function handlersWith(options?: QueueOptions) {
    class Handlers {
      @QueueProcessor('mail.send', options ?? {})
      handle(job: JobContext) {
        return job.maxAttempts;
      }
    }
    return Handlers;
  }

  async function attemptsWith(options: object, decorated?: QueueOptions, attempts?: number) {
    const { get, ended } = await start(
      { providers: [handlersWith(decorated)] },
      { defaults: { retry: {} }, ...options },
    );
    const job = await get(QueueProducer).enqueue('mail.send', null, attempts === undefined ? {} : { retry: attempts });
    return (await ended(job)).result;
  }

  it('are those of the library if none are set', async () => {
    const { log } = await start(
      { providers: [handlersWith()] },
      { defaults: { retry: { attempts: undefined, backoff: undefined } as never } },
    );

    expect(log.at('log')).toContain('mail.send → Handlers.handle: concurrency 10, 5 attempts, lease 30 s');
  });

  it('come from `defaults`', async () => {
    expect(await attemptsWith({ defaults: { retry: 11 } })).toBe(11);
  });

  it('come from the decorator rather than from `defaults`', async () => {
    expect(await attemptsWith({ defaults: { retry: 11 } }, { retry: 12 })).toBe(12);
  });

  it('come from a prefix in `queues` rather than from the decorator, and the longest prefix wins', async () => {
    const queues = { 'mail.*': { retry: 14 }, '*': { retry: 13 }, 'report.*': { retry: 99 } };

    expect(await attemptsWith({ queues: { '*': { retry: 13 } } }, { retry: 12 })).toBe(13);
    expect(await attemptsWith({ queues }, { retry: 12 })).toBe(14);
  });

  it('come from the queue itself in `queues` rather than from a prefix', async () => {
    const queues = { 'mail.send': { retry: 15 }, 'mail.*': { retry: 14 } };

    expect(await attemptsWith({ queues }, { retry: 12 })).toBe(15);
  });

  it('come from enqueue above all', async () => {
    const all = Object.assign({}, ...layers.map(([, options]) => options)) as object;

    expect(await attemptsWith(all, { retry: 12 }, 16)).toBe(16);
  });

  it('keep the options that another place does not set, even inside `retry`, and ignore undefined', async () => {
    const { log } = await start(
      { providers: [handlersWith({ concurrency: 7, lease: undefined as never })] },
      {
        defaults: { retry: { attempts: 3, backoff: 0 }, concurrency: 2, lease: '10s' },
        queues: { 'mail.send': { retry: { backoff: '1s' } } },
      },
    );

    expect(log.at('log')).toContain('mail.send → Handlers.handle: concurrency 7, 3 attempts, lease 10 s');
  });
});

describe('the log at boot', () => {
  it('has one line for each handler with the limits of its queue', async () => {
    class Handlers {
      @QueueProcessor('mail')
      send() {}

      @QueueProcessor('report', { concurrency: 2, retry: 3, lease: '5m' })
      build() {}
    }

    const { log } = await start({ providers: [Handlers] }, { connection: IN_MEMORY, defaults: {} });

    expect(log.at('log').filter((line) => line.includes('→'))).toEqual([
      'mail → Handlers.send: concurrency 10, 1 attempt, lease 30 s',
      'report → Handlers.build: concurrency 2, 3 attempts, lease 300 s',
    ]);
  });
});
