import {
  Controller,
  Get,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  JobContext,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  SqlQueueRunner,
  type EnqueuedJob,
} from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { join } from 'node:path';
import {
  afterTest,
  compile,
  FAST_POLL,
  queueModule,
  startErrorOf,
  gate,
  start,
  temporaryFolder,
} from './support/application.js';

class Mails {
  readonly sent: unknown[] = [];

  @QueueProcessor('mail')
  send(job: JobContext) {
    this.sent.push(job.payload);
  }
}

describe('during the start of the application', () => {
  it('the producer works from onModuleInit on, and workers start in onApplicationBootstrap', async () => {
    const states: [string, string, number][] = [];
    @Injectable()
    class Early implements OnModuleInit, OnApplicationBootstrap {
      constructor(
        private readonly producer: QueueProducer,
        private readonly runner: SqlQueueRunner,
        private readonly mails: Mails,
      ) {}

      async onModuleInit() {
        await this.producer.enqueue('mail', 'early');
        await this.runner.whenIdle();
        states.push(['init', this.runner.state, this.mails.sent.length]);
      }

      onApplicationBootstrap() {
        states.push(['bootstrap', this.runner.state, this.mails.sent.length]);
      }
    }
    const { app, get, idle } = await compile({ imports: [queueModule()], providers: [Early, Mails] });

    await app.init();
    await idle();

    expect(states[0]).toEqual(['init', 'stopped', 0]);
    expect(states.map(([hook]) => hook)).toEqual(['init', 'bootstrap']);
    expect(get(Mails).sent).toEqual(['early']);
  });

  it('the producer already works in factories of other providers', async () => {
    const { ended, get } = await start({
      providers: [
        Mails,
        {
          provide: 'job',
          useFactory: (producer: QueueProducer) => producer.enqueue('mail', 'made'),
          inject: [QueueProducer],
        },
      ],
    });

    expect(await ended(get<EnqueuedJob>('job'))).toMatchObject({ state: 'completed' });
  });
});

describe('during the shutdown of the application', () => {
  it('running jobs may end, no other job starts, and the producer works until the end', async () => {
    const started = gate();
    const go = gate();
    const order: string[] = [];
    class Slow {
      @QueueProcessor('slow', { concurrency: 1, prefetch: 0 })
      async run(job: JobContext<string>) {
        started.give();
        await go.given;
        order.push(`ran ${job.payload}`);
      }
    }
    @Injectable()
    class Late implements OnModuleDestroy, BeforeApplicationShutdown {
      constructor(
        private readonly producer: QueueProducer,
        private readonly runner: SqlQueueRunner,
      ) {}

      async onModuleDestroy() {
        await this.producer.enqueue('slow', 'on destroy');
        order.push('destroy');
        go.give();
      }

      async beforeApplicationShutdown() {
        await this.producer.enqueue('slow', 'before shutdown');
        order.push(`before shutdown`);
      }
    }
    const folder = await temporaryFolder();
    const connection = { type: 'better-sqlite3', database: join(folder, 'q.sqlite') } as const;
    const { close, get } = await start({ providers: [Slow, Late] }, { connection });
    await get(QueueProducer).enqueueMany('slow', [{ payload: 'first' }, { payload: 'second' }]);
    await started.given;

    await close();

    expect(order.filter((line) => line.startsWith('ran'))).toEqual(['ran first']);
    expect(get(SqlQueueRunner).state).toBe('stopped');
    const dataSource = await new DataSource(connection).initialize();
    afterTest(() => dataSource.destroy());
    expect(await dataSource.query('SELECT payload, state, attempt FROM sql_queue_jobs ORDER BY id')).toEqual([
      { payload: '"second"', state: 'waiting', attempt: 0 },
      { payload: '"on destroy"', state: 'waiting', attempt: 0 },
      { payload: '"before shutdown"', state: 'waiting', attempt: 0 },
    ]);
  });

  it('a handler and a request that wait for a job learn at once that it cannot end here', async () => {
    const waits = [gate(), gate()];
    const codeOf = (error: { code?: string }) => error.code ?? error;
    @Controller()
    class Waiting {
      constructor(private readonly producer: QueueProducer) {}

      @Get()
      report() {
        return this.#wait(0);
      }

      @QueueProcessor('waiting')
      run() {
        return this.#wait(1);
      }

      async #wait(index: number) {
        const { id } = await this.producer.enqueue('elsewhere', null);
        const waiting = this.producer.waitFor(id).catch(codeOf);
        waits[index]!.give();
        return { code: await waiting };
      }
    }
    const connection = { type: 'better-sqlite3', database: join(await temporaryFolder(), 'q.sqlite') } as const;
    const module = await Test.createTestingModule({
      imports: [queueModule({ connection })],
      controllers: [Waiting],
    }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    const { id } = await app.get(QueueProducer).enqueue('waiting', null);
    const answer = fetch(await app.getUrl()).then((response) => response.json());
    await Promise.all(waits.map(({ given }) => given));

    await app.close();

    expect(await answer).toEqual({ code: 'STORE_UNAVAILABLE' });
    const dataSource = await new DataSource(connection).initialize();
    afterTest(() => dataSource.destroy());
    expect(await dataSource.query('SELECT result FROM sql_queue_history WHERE id = ?', [id])).toEqual([
      { result: '{"code":"STORE_UNAVAILABLE"}' },
    ]);
  });

  it('the worker stops before the connections of the application close', async () => {
    const started = gate();
    let usable: unknown;
    @Injectable()
    class Slow {
      constructor(private readonly dataSource: DataSource) {}

      @QueueProcessor('slow')
      async run(job: JobContext) {
        started.give();
        await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
        usable = await this.dataSource.query('SELECT 1 AS one');
        return 'ended';
      }
    }
    const folder = await temporaryFolder();
    const { app, close, get } = await compile({
      imports: [
        TypeOrmModule.forRoot({ type: 'better-sqlite3', database: join(folder, 'app.sqlite') }),
        SqlQueueModule.forRoot({ worker: { ...FAST_POLL, shutdown: { timeout: 0 } } }),
      ],
      providers: [Slow],
    });
    await app.init();
    await get(QueueProducer).enqueue('slow', null);
    await started.given;

    await close();

    expect(usable).toEqual([{ one: 1 }]);
    expect(get(DataSource).isInitialized).toBe(false);
  });

  it('no job runs after the close, and the producer rejects calls', async () => {
    const folder = await temporaryFolder();
    const connection = { type: 'better-sqlite3', database: join(folder, 'q.sqlite') } as const;
    const { close, get } = await start({ providers: [Mails] }, { connection });

    await close();

    await expect(get(QueueProducer).enqueue('mail', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(get(Mails).sent).toEqual([]);
  });

  it('a second close and a close before the start are safe', async () => {
    const twice = await start({ providers: [Mails] });
    const never = await compile({ imports: [queueModule()], providers: [Mails] });

    await twice.app.close();
    await twice.app.close();
    await never.close();

    expect(twice.runner.state).toBe('stopped');
  });

  it('other providers can still read the queue in their last hook before the connections close', async () => {
    let counts: unknown;
    @Injectable()
    class Report implements BeforeApplicationShutdown, OnApplicationShutdown {
      constructor(private readonly admin: QueueAdmin) {}

      async beforeApplicationShutdown() {
        counts = await this.admin.counts('mail');
      }

      onApplicationShutdown() {}
    }
    @Module({ providers: [Report] })
    class ReportModule {}
    const { close, get, ended } = await start({ imports: [ReportModule], providers: [Mails] });
    await ended(await get(QueueProducer).enqueue('mail', 1));

    await close();

    expect(counts).toMatchObject({ completed: 1 });
  });
});

describe('an application with a failed start', () => {
  it.each([
    ['its handlers contradict one another', [class A extends Mails {}, class B extends Mails {}]],
    ['a handler names an instance that does not exist', [Mails, unknownInstance()]],
  ])('closes the connections of the queue: %s', async (_why, providers) => {
    const opened = [new DataSource(inMemory()), new DataSource(inMemory())] as const;

    await startErrorOf({
      imports: [
        queueModule({ connection: undefined, dataSource: opened[0] }),
        queueModule({ connection: undefined, dataSource: opened[1], name: 'other' }),
      ],
      providers,
    });

    expect(opened.map(({ isInitialized }) => isInitialized)).toEqual([false, false]);
  });

  it('closes connections and stops started workers if the worker of another instance cannot start', async () => {
    const opened = [new DataSource(inMemory()), new DataSource(inMemory())] as const;
    const runners: SqlQueueRunner[] = [];
    class Handlers extends Mails {
      @QueueProcessor('mail', { instance: 'other' })
      other() {}
    }
    @Injectable()
    class Saboteur implements OnApplicationBootstrap, OnModuleInit {
      constructor(private readonly runner: SqlQueueRunner) {}

      async onModuleInit() {
        runners.push(this.runner);
        await opened[1].query('DROP TABLE sql_queue_workers');
      }

      onApplicationBootstrap() {}
    }

    const error = await startErrorOf({
      imports: [
        queueModule({ connection: undefined, dataSource: opened[0] }),
        queueModule({ connection: undefined, dataSource: opened[1], name: 'other' }),
      ],
      providers: [Handlers, Saboteur],
    });

    expect(error.message).toContain('sql_queue_workers');
    expect(opened.map(({ isInitialized }) => isInitialized)).toEqual([false, false]);
    expect(runners[0]!.state).toBe('stopped');
  });
});

function inMemory() {
  return { type: 'better-sqlite3', database: ':memory:' } as const;
}

function unknownInstance() {
  class Typo {
    @QueueProcessor('q', { instance: 'typo' })
    handle() {}
  }
  return Typo;
}
