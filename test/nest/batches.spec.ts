import {
  Catch,
  createParamDecorator,
  Inject,
  Injectable,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { map, of } from 'rxjs';
import {
  JobContext,
  JobCtx,
  JobHandler,
  JobHeader,
  JobPayload,
  JobSignal,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
} from 'nestjs-sql-queue';
import { IN_MEMORY, startError, startErrorOf, start } from './support/application.js';

const jobsOf = (...payloads: unknown[]) => payloads.map((payload) => ({ payload }));

describe('a handler with the option `batch`', () => {
  it('receives a list of jobs, and can end each job differently', async () => {
    const calls: unknown[] = [];
    class Clicks {
      readonly greeting = 'counted';

      @QueueProcessor('click', { batch: 10 })
      count(jobs: JobContext<string>[]) {
        calls.push(jobs.map((job) => [job instanceof JobContext, job.payload]));
        return Promise.allSettled(jobs.map((job) => this.one(job)));
      }

      async one({ payload }: JobContext<string>) {
        if (payload === 'bad') throw new Error('bad');
        return `${this.greeting} ${payload}`;
      }
    }
    const { get, ended } = await start({ providers: [Clicks] });

    const jobs = await get(QueueProducer).enqueueMany('click', jobsOf('a', 'bad', 'b'));

    expect(await Promise.all(jobs.map(ended))).toMatchObject([
      { state: 'completed', result: 'counted a' },
      { state: 'dead', error: { message: 'bad' } },
      { state: 'completed', result: 'counted b' },
    ]);
    expect(calls).toEqual([
      [
        [true, 'a'],
        [true, 'bad'],
        [true, 'b'],
      ],
    ]);
  });

  it('can return a promise or an observable, like other handlers', async () => {
    class Clicks {
      @QueueProcessor('promise', { batch: 10 })
      promise(jobs: JobContext[]) {
        return Promise.allSettled(jobs.map(({ payload }) => Promise.resolve(payload)));
      }

      @QueueProcessor('observable', { batch: 10 })
      observable(jobs: JobContext[]) {
        return of(jobs.map(({ payload }) => ({ status: 'fulfilled', value: payload })));
      }
    }
    const { get, ended } = await start({ providers: [Clicks] });

    for (const queue of ['promise', 'observable']) {
      const jobs = await get(QueueProducer).enqueueMany(queue, jobsOf(1, 2));
      expect(await Promise.all(jobs.map(ended))).toMatchObject([{ result: 1 }, { result: 2 }]);
    }
  });

  it('on a class receives lists in each of its @JobHandler() methods', async () => {
    const calls: unknown[] = [];
    @QueueProcessor('mail', { batch: 10 })
    class Mails {
      @JobHandler('welcome')
      welcome(jobs: JobContext[]) {
        calls.push(['welcome', jobs.map(({ payload }) => payload)]);
      }

      @JobHandler()
      others(jobs: JobContext[]) {
        calls.push(['others', jobs.map(({ name, payload }) => [name, payload])]);
      }
    }
    const { get, idle } = await start({ providers: [Mails] });

    await get(QueueProducer).enqueueMany('mail', [
      { payload: 1, options: { name: 'welcome' } },
      { payload: 2, options: { name: 'welcome' } },
      { payload: 3, options: { name: 'bye' } },
      { payload: 4, options: { name: 'bye' } },
      { payload: 5 },
    ]);
    await idle();

    expect(calls).toEqual([
      ['welcome', [1, 2]],
      [
        'others',
        [
          ['bye', 3],
          ['bye', 4],
        ],
      ],
      ['others', [['default', 5]]],
    ]);
  });

  it('on one method of a class does not change the other methods', async () => {
    const calls: unknown[] = [];
    @QueueProcessor('mail')
    class Mails {
      @JobHandler('single')
      single(job: JobContext) {
        calls.push(job.payload);
      }

      @QueueProcessor('mail', { batch: 10 })
      @JobHandler('many')
      many(jobs: JobContext[]) {
        calls.push(jobs.map(({ payload }) => payload));
      }
    }
    const { get, idle } = await start({ providers: [Mails] });

    await get(QueueProducer).enqueueMany('mail', [
      { payload: 1, options: { name: 'single' } },
      { payload: 2, options: { name: 'many' } },
      { payload: 3, options: { name: 'many' } },
    ]);
    await idle();

    expect(calls).toHaveLength(2);
    expect(calls).toEqual(expect.arrayContaining([1, [2, 3]]));
  });

  it('on a class receives lists in handle()', async () => {
    @QueueProcessor('mail', { batch: 10 })
    class Mails {
      handle(jobs: JobContext[]) {
        return Promise.allSettled(jobs.map(() => Promise.resolve(jobs.length)));
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    const [first] = await get(QueueProducer).enqueueMany('mail', jobsOf(1, 2, 3));

    expect(await ended(first!)).toMatchObject({ result: 3 });
  });
});

describe('the parameters of a batch handler', () => {
  it('are lists as their decorators define, in the order of the jobs', async () => {
    let got: unknown[] = [];
    const Tenants = createParamDecorator((_: unknown, context: ExecutionContext) => {
      const [jobs] = context.getArgs<[JobContext[]]>();
      return jobs.map(({ headers }) => headers.tenant ?? 'none');
    });
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      handle(
        @JobSignal() signals: AbortSignal[],
        @JobPayload() payloads: unknown[],
        @JobHeader('trace') traces: (string | undefined)[],
        @JobHeader() headers: Record<string, string>[],
        @JobCtx() jobs: JobContext[],
        @Tenants() tenants: string[],
      ) {
        const ids = jobs.map(({ id }) => id);
        got = [signals.map((signal, n) => signal === jobs[n]!.signal), payloads, traces, headers, ids, tenants];
      }
    }
    const { get, idle } = await start({ providers: [Handlers] });

    const jobs = await get(QueueProducer).enqueueMany('q', [
      { payload: { a: 1 }, options: { headers: { trace: 't', tenant: 'acme' } } },
      { payload: [2] },
    ]);
    await idle();

    expect(got).toEqual([
      [true, true],
      [{ a: 1 }, [2]],
      ['t', undefined],
      [{ trace: 't', tenant: 'acme' }, {}],
      jobs.map(({ id }) => id),
      ['acme', 'none'],
    ]);
  });

  it('pass through pipes as lists', async () => {
    @Injectable()
    class Units {
      readonly factor = 2;
    }
    @Injectable()
    class Times implements PipeTransform {
      constructor(private readonly units: Units) {}

      transform(values: number[]) {
        return values.map((value) => value * this.units.factor);
      }
    }
    const numeric: PipeTransform = { transform: (values: string[]) => values.map(Number) };
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      handle(@JobPayload(numeric, Times) numbers: number[]) {
        return numbers.map((value) => ({ status: 'fulfilled', value }));
      }
    }
    const { get, ended } = await start({ providers: [Handlers, Units] });

    const jobs = await get(QueueProducer).enqueueMany('q', jobsOf('1', '2', '3'));

    expect(await Promise.all(jobs.map(ended))).toMatchObject([{ result: 2 }, { result: 4 }, { result: 6 }]);
  });
});

describe('a request-scoped batch handler', () => {
  it('is created for each call, and its REQUEST is the list of jobs', async () => {
    const made: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Mails {
      constructor(@Inject(REQUEST) private readonly request: JobContext[]) {
        made.push(request.map(({ payload }) => payload));
      }

      @QueueProcessor('mail', { batch: 10 })
      send(jobs: JobContext[]) {
        return Promise.allSettled(jobs.map((job, n) => Promise.resolve(this.request[n] === job)));
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    const first = await get(QueueProducer).enqueueMany('mail', jobsOf('a', 'b'));
    expect(await Promise.all(first.map(ended))).toMatchObject([{ result: true }, { result: true }]);
    const second = await get(QueueProducer).enqueueMany('mail', jobsOf('c'));
    expect(await Promise.all(second.map(ended))).toMatchObject([{ result: true }]);

    expect(made).toEqual([['a', 'b'], ['c']]);
  });
});

describe('for a batch,', () => {
  it('a guard runs once, and all jobs fail if it rejects the call', async () => {
    const guarded: unknown[] = [];
    class Guard implements CanActivate {
      canActivate(context: ExecutionContext) {
        const jobs = context.getArgByIndex<JobContext[]>(0);
        guarded.push(jobs.map(({ payload }) => payload));
        return jobs.every(({ payload }) => payload !== 'forbidden');
      }
    }
    const handled: unknown[] = [];
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      @UseGuards(Guard)
      handle(@JobPayload() payloads: unknown[]) {
        handled.push(...payloads);
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const good = await get(QueueProducer).enqueueMany('q', jobsOf('a', 'b'));
    expect(await Promise.all(good.map(ended))).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
    const bad = await get(QueueProducer).enqueueMany('q', jobsOf('c', 'forbidden'));
    expect(await Promise.all(bad.map(ended))).toMatchObject(
      bad.map(() => ({ state: 'dead', attempt: 1, error: { name: 'ForbiddenException' } })),
    );

    expect(guarded).toEqual([
      ['a', 'b'],
      ['c', 'forbidden'],
    ]);
    expect(handled).toEqual(['a', 'b']);
  });

  it('an interceptor receives the list, and can change the outcome of each job', async () => {
    class Loud implements NestInterceptor {
      intercept(context: ExecutionContext, next: CallHandler<PromiseSettledResult<string>[]>) {
        const jobs = context.getArgByIndex<JobContext[]>(0);
        return next
          .handle()
          .pipe(
            map((outcomes) =>
              outcomes.map((outcome, n) =>
                outcome.status === 'fulfilled' ? { ...outcome, value: `${outcome.value} ${jobs[n]!.id}!` } : outcome,
              ),
            ),
          );
      }
    }
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      @UseInterceptors(Loud)
      handle(jobs: JobContext<string>[]) {
        return Promise.allSettled(jobs.map(({ payload }) => Promise.resolve(payload)));
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const jobs = await get(QueueProducer).enqueueMany('q', jobsOf('a', 'b'));

    expect(await Promise.all(jobs.map(ended))).toMatchObject([
      { result: `a ${jobs[0]!.id}!` },
      { result: `b ${jobs[1]!.id}!` },
    ]);
  });

  it('a filter receives the failure, and its result replaces the result of the handler', async () => {
    const caught: unknown[] = [];
    @Catch(TypeError)
    class Filter implements ExceptionFilter {
      catch(error: TypeError, host: ArgumentsHost) {
        const jobs = host.getArgByIndex<JobContext[]>(0);
        caught.push(error.message);
        return jobs.map(({ payload }) =>
          payload === 'lost' ? { status: 'rejected', reason: error } : { status: 'fulfilled', value: 'by the filter' },
        );
      }
    }
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      @UseFilters(Filter)
      handle(jobs: JobContext[]) {
        if (jobs.some(({ payload }) => payload === 'otherwise')) throw new RangeError('otherwise wrong');
        throw new TypeError('wrong');
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const jobs = await get(QueueProducer).enqueueMany('q', jobsOf('a', 'lost'));
    expect(await Promise.all(jobs.map(ended))).toMatchObject([
      { state: 'completed', result: 'by the filter' },
      { state: 'dead', error: { message: 'wrong' } },
    ]);
    const others = await get(QueueProducer).enqueueMany('q', jobsOf('otherwise', 'b'));
    expect(await Promise.all(others.map(ended))).toMatchObject([
      { state: 'dead', error: { message: 'otherwise wrong' } },
      { state: 'dead', error: { message: 'otherwise wrong' } },
    ]);

    expect(caught).toEqual(['wrong']);
  });

  it('a filter does not catch the outcome that a job gave itself', async () => {
    @Catch()
    class Filter implements ExceptionFilter {
      catch() {
        return 'by the filter';
      }
    }
    class Handlers {
      @QueueProcessor('q', { batch: 10 })
      @UseFilters(Filter)
      handle([first]: JobContext[]) {
        first!.discard('of no use');
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const jobs = await get(QueueProducer).enqueueMany('q', jobsOf('a', 'b'));

    expect(await Promise.all(jobs.map(ended))).toMatchObject([
      { state: 'dead', error: { message: 'of no use' } },
      { state: 'dead', error: { message: expect.stringContaining('Its batch ended early') as string } },
    ]);
  });
});

describe('the option `batch`', () => {
  it('is logged at boot for each handler with a batch', async () => {
    class Handlers {
      @QueueProcessor('click.count', { batch: 100, concurrency: 2 })
      count() {}

      @QueueProcessor('mail')
      send() {}
    }
    const { log } = await start({ providers: [Handlers] }, { defaults: { retry: 3 } });

    expect(log.at('log').filter((line) => line.includes('→'))).toEqual([
      'click.count → Handlers.count: concurrency 2, batches of 100, 3 attempts, lease 30 s',
      'mail → Handlers.send: concurrency 10, 3 attempts, lease 30 s',
    ]);
  });

  it('stops the boot in the options of the module, because only the handler can take batches', async () => {
    const options = {
      connection: IN_MEMORY,
      defaults: { batch: 10 },
      queues: { mail: { batch: 5, leese: '30s' }, 'report.*': { batch: 2 } },
    };

    const error = await startErrorOf({ imports: [SqlQueueModule.forRoot(options as never)] });

    const way = '"batch" belongs to the options of @QueueProcessor(), next to the handler';
    expect(error).toMatchObject({
      code: 'INVALID_OPTIONS',
      problems: [
        `defaults: ${way}`,
        `queues["mail"]: ${way}`,
        'queues["mail"]: unknown option "leese", did you mean "lease"?',
        `queues["report.*"]: ${way}`,
      ],
    });
  });

  it.each([0, 1_001, 2.5, -1, '10', null, NaN, true])('stops the boot if its value is %o', async (batch) => {
    class OnMethod {
      @QueueProcessor('mail', { batch: batch as never })
      send() {}
    }
    @QueueProcessor('letter', { batch: batch as never, concurrency: 0 })
    class OnClass {
      handle() {}
    }

    const error = (await startError({ providers: [OnMethod, OnClass] })) as Error & { problems: string[] };

    expect(error.problems).toEqual([
      expect.stringMatching(/^OnMethod\.send: expected batch to be a whole number from 1 to 1000, got /),
      expect.stringMatching(/^OnClass: expected batch to be a whole number from 1 to 1000, got /),
      expect.stringMatching(/^OnClass: expected concurrency to be /),
    ]);
  });

  it('can be set in another place than the other options of the queue', async () => {
    @QueueProcessor('mail', { concurrency: 3 })
    class Mails {
      @JobHandler('a')
      a() {}

      @QueueProcessor('mail', { batch: 7 })
      @JobHandler('b')
      b() {}
    }
    const { log } = await start({ providers: [Mails] });

    expect(log.at('log').filter((line) => line.includes('→'))).toEqual([
      expect.stringContaining('mail (a) → Mails.a: concurrency 3, 1 attempt'),
      expect.stringContaining('mail (b) → Mails.b: concurrency 3, batches of 7, 1 attempt'),
    ]);
  });
});
