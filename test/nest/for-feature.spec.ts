import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  getQueueToken,
  InjectQueue,
  JobContext,
  Queue,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  SqlQueueRunner,
} from 'nestjs-sql-queue';
import { compile, IN_MEMORY, queueModule, FAST_POLL, startError, startErrorOf, start } from './support/application.js';

@Injectable()
class Signups {
  constructor(@InjectQueue('email.welcome') readonly emails: Queue<'email.welcome'>) {}

  signUp(to: string) {
    return this.emails.enqueue({ to });
  }
}

@Module({ imports: [SqlQueueModule.forFeature(['email.welcome'])], providers: [Signups], exports: [Signups] })
class SignupsModule {}

class Emails {
  @QueueProcessor('email.welcome')
  welcome(job: JobContext<{ to: string }>) {
    return job.payload.to;
  }
}

describe('SqlQueueModule.forFeature', () => {
  it('provides its queues for @InjectQueue', async () => {
    const { get, ended } = await start({ imports: [SignupsModule], providers: [Emails] });

    const job = await get(Signups).signUp('ada');

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 'ada' });
  });

  it('provides a queue with its name that enqueues many jobs', async () => {
    const { get, idle } = await start({ imports: [SignupsModule], providers: [Emails] });
    const { emails } = get(Signups);

    const jobs = await emails.enqueueMany([
      { payload: { to: 'a' } },
      { payload: { to: 'b' }, options: { priority: -1 } },
    ]);
    await idle();

    expect(emails.name).toBe('email.welcome');
    expect(jobs).toMatchObject([1, 2].map((id) => ({ id, queue: 'email.welcome', name: 'default' })));
    expect(await get(QueueAdmin).counts('email.welcome')).toMatchObject({ completed: 2 });
  });

  it('provides a queue that waits for its jobs, cancels, counts, pauses and resumes them', async () => {
    const { get } = await start({ imports: [SignupsModule], providers: [Emails] });
    const { emails } = get(Signups);

    const { id } = await emails.enqueue({ to: 'ada' });
    const result = await emails.waitFor(id);
    await emails.pause();
    const later = await emails.enqueue({ to: 'eve' }, { delay: '1h' });
    const cancelled = await emails.cancel(later.id);
    const isPaused = async () => (await get(QueueAdmin).queues()).map(({ queue, paused }) => [queue, paused]);
    const paused = await isPaused();
    await emails.resume();

    expect([result, cancelled]).toEqual(['ada', true]);
    expect(await emails.counts()).toMatchObject({ completed: 1, cancelled: 1 });
    expect([paused, await isPaused()]).toEqual([[['email.welcome', true]], [['email.welcome', false]]]);
  });

  it('works beside a module with isGlobal: false', async () => {
    const { app, get, ended } = await compile({
      imports: [
        SignupsModule,
        SqlQueueModule.forRootAsync({
          isGlobal: false,
          // The engine starts long after the rest.
          useFactory: () =>
            new Promise((resolve) => setImmediate(() => resolve({ connection: IN_MEMORY, worker: FAST_POLL }))),
        }),
      ],
      providers: [Emails],
    });
    await app.init();

    const job = await get(Signups).signUp('ada');

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 'ada' });
    expect(await get(Signups).emails.counts()).toMatchObject({ completed: 1 });
  });

  it('can be replaced in tests by its token', async () => {
    const enqueued: unknown[] = [];
    const module = await Test.createTestingModule({
      providers: [
        Signups,
        {
          provide: getQueueToken('email.welcome'),
          useValue: { enqueue: (payload: unknown) => enqueued.push(payload) },
        },
      ],
    }).compile();

    await module.get(Signups).signUp('ada');

    expect(enqueued).toEqual([{ to: 'ada' }]);
  });

  it('stops the boot without SqlQueueModule.forRoot()', async () => {
    const error = await startErrorOf({ imports: [SignupsModule] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('expected SqlQueueModule.forRoot() in the application, got none');
  });

  it('is the import that the error of a module without it names', async () => {
    const missing = await startErrorOf({ imports: [queueModule()], providers: [Signups] });

    expect(missing.message).toContain(
      `the argument "SqlQueueModule.forFeature('email.welcome')" at index [0] is available in the RootTestModule module`,
    );
  });

  it('accepts one name, or names with options, and the options apply', async () => {
    class Feature {
      constructor(
        @InjectQueue('one') readonly one: Queue<'one'>,
        @InjectQueue('small') readonly small: Queue<'small'>,
      ) {}

      @QueueProcessor('small')
      small_() {}
    }
    const { get, log } = await start({
      imports: [
        SqlQueueModule.forFeature('one'),
        SqlQueueModule.forFeature({ name: 'small', maxPayloadBytes: 10, concurrency: 3 }),
      ],
      providers: [Feature],
    });
    const { one, small } = get(Feature);

    await one.enqueue('more than ten bytes');

    await expect(small.enqueue('more than ten bytes')).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(log.at('log')).toContain('small → Feature.small_: concurrency 3, 1 attempt, lease 30 s');
  });

  it('accepts the same options of a queue from several modules', async () => {
    const feature = () => SqlQueueModule.forFeature(['other', { name: 'small', maxPayloadBytes: 10 }]);
    @Module({ imports: [feature()] })
    class Another {}

    const { get } = await start({ imports: [feature(), Another] });

    const refused = get(QueueProducer).enqueue('small', 'more than ten bytes');
    await expect(refused).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('stops the boot if a queue has options in two places', async () => {
    class Decorated {
      @QueueProcessor('small', { concurrency: 3 })
      handle() {}
    }
    const feature = (maxPayloadBytes: number) => SqlQueueModule.forFeature({ name: 'small', maxPayloadBytes });

    const two = await startError({ imports: [feature(1), feature(2)] });
    const decorated = await startError({ imports: [feature(1)], providers: [Decorated] });

    expect(two.message).toContain(
      'queue "small" has options at SqlQueueModule.forFeature() and at SqlQueueModule.forFeature()',
    );
    expect(decorated.message).toContain(
      'queue "small" has options at Decorated.handle and at SqlQueueModule.forFeature()',
    );
  });

  it('rejects invalid options and queues as separate arguments', () => {
    const { forFeature } = SqlQueueModule as unknown as { forFeature(...given: unknown[]): void };

    expect(() => forFeature({ name: 'q', atempts: 1, batch: 3 })).toThrow(/queue "q": .*unknown option "atempts"/s);
    expect(() => forFeature('one', 'two')).toThrow(
      'expected several queues in one array, got a further argument "two"',
    );
    expect(() => forFeature(['one'], { instanc: 'x' })).toThrow('unknown option "instanc", did you mean "instance"?');
  });

  it('rejects invalid names', () => {
    expect(() => SqlQueueModule.forFeature(['fine', 'not fine'])).toThrow(
      /expected queue name to be .* got "not fine"/,
    );
  });
});

describe('a module with isGlobal: false', () => {
  @Injectable()
  class Injected {
    constructor(
      readonly producer: QueueProducer,
      readonly admin: QueueAdmin,
      readonly runner: SqlQueueRunner,
    ) {}
  }

  it('provides its producer, admin and runner to modules that import it', async () => {
    const queue = queueModule({ isGlobal: false });
    @Module({ imports: [queue], providers: [Injected] })
    class Feature {}

    const { get } = await compile({ imports: [queue, Feature] });

    expect(get(Injected)).toMatchObject({ producer: get(QueueProducer), admin: get(QueueAdmin) });
    expect(get(Injected).runner).toBe(get(SqlQueueRunner));
  });

  it('provides nothing to other modules', async () => {
    @Module({ providers: [Injected] })
    class Feature {}

    const error = await startErrorOf({ imports: [queueModule({ isGlobal: false }), Feature] });

    expect(error.message).toContain('QueueProducer');
  });

  it('is not the default: by default every module can inject its providers', async () => {
    @Module({ providers: [Injected] })
    class Feature {}

    const { get } = await compile({ imports: [queueModule(), Feature] });

    expect(get(Injected).producer).toBe(get(QueueProducer));
  });
});
