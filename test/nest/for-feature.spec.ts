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
import { compile, IN_MEMORY, queueModule, QUICK, refusal, refusalOf, start } from './support/application.js';

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

  it('provides a queue that enqueues many, and knows its name', async () => {
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

  it('works beside a module that is not global', async () => {
    const { app, get, ended } = await compile({
      imports: [
        SignupsModule,
        SqlQueueModule.forRootAsync({
          isGlobal: false,
          // The engine comes up long after the rest.
          useFactory: () =>
            new Promise((resolve) => setImmediate(() => resolve({ connection: IN_MEMORY, worker: QUICK }))),
        }),
      ],
      providers: [Emails],
    });
    await app.init();

    const job = await get(Signups).signUp('ada');

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 'ada' });
    expect(await get(Signups).emails.counts()).toMatchObject({ completed: 1 });
  });

  it('is replaced in tests by its token', async () => {
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

  it('stops the boot where there is no SqlQueueModule.forRoot()', async () => {
    const error = await refusalOf({ imports: [SignupsModule] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('expected SqlQueueModule.forRoot() in the application, got none');
  });

  it('takes one name, or names and options, and the options count', async () => {
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
    expect(log.at('log')).toContain('small → Feature.small_: concurrency 3, 1 attempts, lease 30 s');
  });

  it('lets several modules give a queue the same options', async () => {
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

    const two = await refusal({ imports: [feature(1), feature(2)] });
    const decorated = await refusal({ imports: [feature(1)], providers: [Decorated] });

    expect(two.message).toContain(
      'queue "small" has options at SqlQueueModule.forFeature() and at SqlQueueModule.forFeature()',
    );
    expect(decorated.message).toContain(
      'queue "small" has options at Decorated.handle and at SqlQueueModule.forFeature()',
    );
  });

  it('refuses options that are none, and queues beside one another', () => {
    const { forFeature } = SqlQueueModule as unknown as { forFeature(...given: unknown[]): void };

    expect(() => forFeature({ name: 'q', atempts: 1, batch: 3 })).toThrow(/queue "q": .*unknown option "atempts"/s);
    expect(() => forFeature('one', 'two')).toThrow(
      'expected several queues in one array, got a further argument "two"',
    );
    expect(() => forFeature(['one'], { instanc: 'x' })).toThrow('unknown option "instanc", did you mean "instance"?');
  });

  it('refuses names that are none', () => {
    expect(() => SqlQueueModule.forFeature(['fine', 'not fine'])).toThrow(
      /expected queue name to be .* got "not fine"/,
    );
  });
});

describe('a module that is not global', () => {
  @Injectable()
  class Injected {
    constructor(
      readonly producer: QueueProducer,
      readonly admin: QueueAdmin,
      readonly runner: SqlQueueRunner,
    ) {}
  }

  it('provides its producer, admin and runner where it is imported', async () => {
    const queue = queueModule({ isGlobal: false });
    @Module({ imports: [queue], providers: [Injected] })
    class Feature {}

    const { get } = await compile({ imports: [queue, Feature] });

    expect(get(Injected)).toMatchObject({ producer: get(QueueProducer), admin: get(QueueAdmin) });
    expect(get(Injected).runner).toBe(get(SqlQueueRunner));
  });

  it('provides them nowhere else', async () => {
    @Module({ providers: [Injected] })
    class Feature {}

    const error = await refusalOf({ imports: [queueModule({ isGlobal: false }), Feature] });

    expect(error.message).toContain('QueueProducer');
  });

  it('is otherwise the default: every module sees them', async () => {
    @Module({ providers: [Injected] })
    class Feature {}

    const { get } = await compile({ imports: [queueModule(), Feature] });

    expect(get(Injected).producer).toBe(get(QueueProducer));
  });
});
