import { Controller, Injectable, Module } from '@nestjs/common';
import { JobContext, JobHandler, OnQueueEvent, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { start, type World } from './support/application.js';

class Mailer {
  readonly sent: unknown[] = [];
  readonly completedIds: number[] = [];
  readonly #greeting = 'hello';

  @QueueProcessor('mail')
  send(job: JobContext<string>) {
    this.sent.push(job.payload);
    return `${this.#greeting} ${job.payload}`;
  }

  @OnQueueEvent('completed')
  completed({ jobId }: { jobId: number }) {
    this.completedIds.push(jobId);
  }

  get trap(): never {
    throw new Error('A getter must not run.');
  }
}

@Controller()
class MailController extends Mailer {}

const forms = {
  'a class': { providers: [Mailer] },
  'a class under another token': { providers: [{ provide: 'mailer', useClass: Mailer }] },
  'a value': { providers: [{ provide: 'mailer', useValue: new Mailer() }] },
  'the result of a factory': { providers: [{ provide: 'mailer', useFactory: () => new Mailer() }] },
  'the promise of a factory': { providers: [{ provide: 'mailer', useFactory: () => Promise.resolve(new Mailer()) }] },
  'a class with an alias': { providers: [Mailer, { provide: 'mailer', useExisting: Mailer }] },
  'a value under two tokens': (() => {
    const mailer = new Mailer();
    return {
      providers: [
        { provide: 'mailer', useValue: mailer },
        { provide: 'other', useValue: mailer },
      ],
    };
  })(),
  'an injected provider from a factory': {
    providers: [Mailer, { provide: 'mailer', useFactory: (mailer: Mailer) => mailer, inject: [Mailer] }],
  },
  'a controller': { controllers: [MailController] },
  'a subclass': { providers: [class WelcomeMailer extends Mailer {}] },
};

describe('a handler', () => {
  it.each(Object.entries(forms))('can be a method of %s, and runs once per job', async (_form, metadata) => {
    @Module(metadata)
    class Feature {}
    const { get, ended } = await start({ imports: [Feature] });
    const mailer = get<Mailer>(tokenOf(metadata));
    mailer.sent.length = mailer.completedIds.length = 0;

    const job = await get(QueueProducer).enqueue('mail', 'ada');

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 'hello ada' });
    expect(mailer.sent).toEqual(['ada']);
    expect(mailer.completedIds).toEqual([job.id]);
  });

  it('is the overriding method of a subclass, with or without a decorator', async () => {
    class Decorated extends Mailer {
      @QueueProcessor('loud')
      override send(job: JobContext<string>) {
        return job.payload.toUpperCase();
      }
    }
    class Plain extends Mailer {
      override send(): string {
        throw new Error('not decorated, not a handler');
      }
    }
    const { get, ended, runner } = await start({ providers: [Decorated, Plain] });

    const job = await get(QueueProducer).enqueue('loud', 'ada');

    expect(await ended(job)).toMatchObject({ result: 'ADA' });
    expect(runner.queues).toEqual(['loud']);
  });

  it('is not registered if no application module imports its module', async () => {
    @Module({ providers: [Mailer] })
    class Elsewhere {}

    const { runner } = await start({ providers: [{ provide: 'elsewhere', useValue: Elsewhere }] });

    expect(runner.queues).toEqual([]);
    expect(runner.state).toBe('stopped');
  });

  it('is found beside providers with values of all kinds', async () => {
    const odd = [
      undefined,
      null,
      0,
      '',
      'text',
      Symbol('s'),
      [],
      new Map(),
      Object.create(null),
      () => 1,
      class {},
      1n,
    ];
    const trapped = new Proxy({}, { get: (_target, key) => (key === 'then' ? undefined : 'anything') });
    const values = [...odd, trapped, new Proxy(new Mailer(), {})];

    const { runner } = await start({
      providers: values.map((useValue, index) => ({ provide: `value ${index}`, useValue: useValue as unknown })),
    });

    expect(runner.queues).toEqual(['mail']);
  });

  it('keeps its `this` and its private fields', async () => {
    @Injectable()
    class Counter {
      #count = 0;

      @QueueProcessor('count')
      count() {
        return ++this.#count;
      }
    }
    const { get, ended } = await start({ providers: [Counter] });

    const first = await ended(await get(QueueProducer).enqueue('count', null));
    const second = await ended(await get(QueueProducer).enqueue('count', null));

    expect([first.result, second.result]).toEqual([1, 2]);
  });
});

describe('a class with @QueueProcessor', () => {
  it('handles jobs by name with its @JobHandler methods, and other jobs with the method without a name', async () => {
    @QueueProcessor('mail')
    class Mails {
      @JobHandler('welcome')
      welcome() {
        return 'welcome';
      }

      @JobHandler()
      other(job: JobContext) {
        return `other ${job.name}`;
      }

      notAHandler(): never {
        throw new Error('not decorated');
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    const results = await resultsOf({ get, ended }, 'mail', ['welcome', 'goodbye', undefined]);

    expect(results).toEqual(['welcome', 'other goodbye', 'other default']);
  });

  it('handles jobs with handle()', async () => {
    @QueueProcessor('mail', { concurrency: 3 })
    class Mails {
      handle(job: JobContext) {
        return job.name;
      }
    }
    const { get, ended, log } = await start({ providers: [Mails] });

    expect(await resultsOf({ get, ended }, 'mail', ['x', undefined])).toEqual(['x', 'default']);
    expect(log.at('log').filter((line) => line.startsWith('mail → '))).toEqual([
      expect.stringMatching(/^mail → Mails\.handle: concurrency 3,/),
    ]);
  });

  it('handles jobs with an inherited handle(), and each subclass handles its own queue', async () => {
    abstract class Base {
      handle(job: JobContext) {
        return `${this.constructor.name} ${job.queue}`;
      }
    }
    @QueueProcessor('a')
    class A extends Base {}
    @QueueProcessor('b')
    class B extends Base {}
    const { get, ended } = await start({ providers: [A, B] });

    expect(await resultsOf({ get, ended }, 'a', [undefined])).toEqual(['A a']);
    expect(await resultsOf({ get, ended }, 'b', [undefined])).toEqual(['B b']);
  });

  it('can have a method for another queue', async () => {
    @QueueProcessor('mail')
    class Mails {
      handle(job: JobContext) {
        return job.queue;
      }

      @QueueProcessor('reports')
      @JobHandler('weekly')
      weekly(job: JobContext) {
        return `${job.queue} ${job.name}`;
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    expect(await resultsOf({ get, ended }, 'mail', [undefined])).toEqual(['mail']);
    expect(await resultsOf({ get, ended }, 'reports', ['weekly'])).toEqual(['reports weekly']);
  });
});

async function resultsOf(
  { get, ended }: Pick<World, 'get' | 'ended'>,
  queue: string,
  names: (string | undefined)[],
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const name of names) {
    const job = await get(QueueProducer).enqueue(queue, null, name === undefined ? {} : { name });
    results.push((await ended(job)).result);
  }
  return results;
}

function tokenOf({ providers = [], controllers = [] }: { providers?: unknown[]; controllers?: unknown[] }) {
  const [first] = [...providers, ...controllers] as (typeof Mailer | { provide: string })[];
  return typeof first === 'object' ? first.provide : first!;
}
