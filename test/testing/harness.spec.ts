import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  JobContext,
  QueueAdmin,
  QueueConsumer,
  QueueProcessor,
  QueueProducer,
  QueueSchedules,
  Schedule,
  SqlQueueModule,
  UnknownQueueError,
  type HandedOffJob,
} from 'nestjs-sql-queue';
import { QueueHarness } from 'nestjs-sql-queue/testing';
import { limitPages } from '../../lib/common/lists.js';

@Injectable()
class Emails {
  readonly sent: string[] = [];

  constructor(private readonly producer: QueueProducer) {}

  @QueueProcessor('mail.greeting', { retry: { attempts: 2, backoff: '1m' } })
  async welcome(job: JobContext<{ to: string }>) {
    if (job.payload.to === 'unknown' || (job.payload.to === 'shy' && job.attempt === 1)) throw new Error('refused');
    this.sent.push(job.payload.to);
    if (job.payload.to === 'ada') await this.producer.enqueue('mail.greeting', { to: 'friend of ada' });
    return { messageId: 7 };
  }
}

async function setup(...more: (new () => object)[]) {
  @Module({
    imports: [
      SqlQueueModule.forRoot({
        connection: { type: 'better-sqlite3', database: ':memory:' },
        worker: { autoStart: false },
      }),
    ],
    providers: [Emails, ...more],
  })
  class App {}

  const app = await (await Test.createTestingModule({ imports: [App] }).compile()).init();
  const harness = QueueHarness.of(app);
  return { app, harness, producer: app.get(QueueProducer), emails: app.get(Emails), close: () => app.close() };
}

describe('QueueHarness', () => {
  it('runs one job at a time until its outcome', async () => {
    const { harness, producer, close } = await setup();
    const { id } = await producer.enqueue('mail.greeting', { to: 'grace' });

    const ran = await harness.runNext();

    expect(ran).toMatchObject({ id, attempt: 1, outcome: 'complete', result: { messageId: 7 } });
    expect(await harness.runNext()).toBeNull();
    await close();
  });

  it('also drains jobs that handlers enqueue', async () => {
    const { harness, producer, emails, close } = await setup();
    await producer.enqueue('mail.greeting', { to: 'ada' });

    const ran = await harness.drain();

    expect(ran.map(({ outcome }) => outcome)).toEqual(['complete', 'complete']);
    expect(emails.sent).toEqual(['ada', 'friend of ada']);
    await close();
  });

  it('gives a batch handler a list of one job, and uses the outcome of that job', async () => {
    class Clicks {
      @QueueProcessor('click', { batch: 10 })
      count(jobs: JobContext<string>[]) {
        return Promise.allSettled(
          jobs.map(async ({ payload }) => {
            if (payload === 'bad') throw new Error('bad');
            return jobs.length;
          }),
        );
      }
    }
    const { harness, producer, close } = await setup(Clicks);
    await producer.enqueueMany('click', [{ payload: 'good' }, { payload: 'bad' }]);

    const ran = await harness.drain();

    expect(ran).toMatchObject([
      { outcome: 'complete', result: 1, attempt: 1 },
      { outcome: 'retry', error: { message: 'bad' }, attempt: 1 },
    ]);
    await close();
  });

  it('leaves a handed-off job open until its claim holder ends it', async () => {
    class Prints {
      readonly open: HandedOffJob[] = [];

      @QueueProcessor('print')
      async print(job: JobContext) {
        this.open.push(await job.handOff({ lease: '2h' }));
      }
    }
    const { app, harness, producer, close } = await setup(Prints);
    const { id } = await producer.enqueue('print', 0);

    const ran = await harness.runNext('print');
    await app.get(QueueConsumer).complete(id, { token: app.get(Prints).open[0]!.token });

    expect(ran).toMatchObject({ id, outcome: 'hand-off', error: undefined });
    expect(await app.get(QueueAdmin).get(id)).toMatchObject({ state: 'completed' });
    await close();
  });

  it('makes retries and delayed jobs due by advancing the clock', async () => {
    const { harness, producer, emails, close } = await setup();
    await producer.enqueue('mail.greeting', { to: 'shy' });
    await producer.enqueue('mail.greeting', { to: 'later' }, { delay: '1h' });
    await harness.drain();
    expect(emails.sent).toEqual([]);

    await harness.advance('1m');
    await harness.drain();
    expect(emails.sent).toEqual(['shy']);

    await harness.advance('1h');
    await harness.drain();
    expect(emails.sent).toEqual(['shy', 'later']);
    await close();
  });

  it('returns the error of a retry, and of a dead job', async () => {
    const { harness, producer, close } = await setup();
    await producer.enqueue('mail.greeting', { to: 'unknown' });

    const first = await harness.runNext('mail.greeting');
    await harness.advance('1m');
    const second = await harness.runNext('mail.greeting');

    expect(first).toMatchObject({ outcome: 'retry', error: { message: 'refused' } });
    expect(second).toMatchObject({ outcome: 'dead', attempt: 2 });
    await close();
  });

  it('rejects a queue without a handler', async () => {
    const { harness, close } = await setup();

    await expect(harness.runNext('email.welcom')).rejects.toThrow(UnknownQueueError);
    await close();
  });

  it('rejects an application with started workers', async () => {
    const { app, close } = await setup();
    const { SqlQueueRunner } = await import('nestjs-sql-queue');
    await app.get(SqlQueueRunner).start();

    expect(() => QueueHarness.of(app)).toThrow(/autoStart: false/);
    await close();
  });
});

describe('QueueHarness.advance() with schedules', () => {
  it('runs each tick at its time, and the jobs that are due then', async () => {
    const seen: Date[] = [];
    // Half an hour from now, so that no tick is due while the application starts.
    const cron = `${(new Date().getMinutes() + 30) % 60} * * * *`;
    class Reports {
      @QueueProcessor('report')
      @Schedule('hourly', { cron, overlap: 'skip' })
      build(job: JobContext) {
        seen.push(job.schedule!.at);
      }
    }
    const { harness, close } = await setup(Reports);

    const ran = await harness.advance('1d');

    expect(ran).toHaveLength(24);
    expect(ran.every(({ queue, outcome }) => queue === 'report' && outcome === 'complete')).toBe(true);
    expect(seen.map((at, hour) => at.getTime() - seen[0]!.getTime() - hour * 3_600_000)).toEqual(seen.map(() => 0));
    expect(await harness.drain()).toEqual([]);
    await close();
  });

  it('runs each tick in order if a job takes longer than the time between two ticks', async () => {
    const seen: number[] = [];
    class Reports {
      @QueueProcessor('report')
      @Schedule('frequent', { every: '100ms', missed: { all: 1_000 } })
      async build(job: JobContext) {
        if (seen.push(job.schedule!.at.getTime()) === 1) await sleep(150);
      }
    }
    const { harness, close } = await setup(Reports);

    await harness.advance('10s');

    // The hundredth may be due at the very end, which the clocks of the process and of the database see differently.
    expect(seen.length).toBeGreaterThanOrEqual(99);
    expect(seen).toEqual(seen.map((_, index) => seen[0]! + index * 100));
    await close();
  });

  it('runs the ticks of all schedules, also if most of them skip theirs', async () => {
    limitPages(2);
    onTestFinished(() => limitPages(Infinity));
    class Reports {
      @QueueProcessor('report')
      build() {}
    }
    const { app, harness, close } = await setup(Reports);
    const schedules = app.get(QueueSchedules);
    // No handler ends the jobs of these.
    for (const name of 'abcdefghijkl') await schedules.upsert(name, { queue: 'people', every: '1h', overlap: 'skip' });
    await schedules.upsert('z', { queue: 'report', every: '1h' });

    const ran = await harness.advance('10h');

    expect(ran).toHaveLength(10);
    await close();
  });

  it('lets a queue rest after rateLimit(), until the time has advanced', async () => {
    @Injectable()
    class Limited {
      calls = 0;

      @QueueProcessor('crm.push')
      push(job: JobContext) {
        if (this.calls++ === 0) job.rateLimit('30s');
      }
    }
    const { harness, producer, close } = await setup(Limited);
    await producer.enqueueMany('crm.push', [{ payload: 1 }, { payload: 2 }]);

    const first = await harness.runNext();
    const resting = await harness.runNext();
    await harness.advance('30s');
    const afterwards = await harness.drain();

    expect(first).toMatchObject({ attempt: 1, outcome: 'release' });
    expect(resting).toBeNull();
    expect(afterwards).toMatchObject([
      { id: first!.id, attempt: 1, outcome: 'complete' },
      { attempt: 1, outcome: 'complete' },
    ]);
    await close();
  });

  it('runs the jobs of a flow after those that they need, and a job again after its children', async () => {
    @Injectable()
    class Videos {
      @QueueProcessor('video.part')
      part(job: JobContext<number>): number {
        return job.payload * 10;
      }

      @QueueProcessor('video.all')
      async all(job: JobContext): Promise<number> {
        await job.fanOut('video.part', [1, 2]);
        let sum = 0;
        for await (const child of job.children<number>()) sum += child.result!;
        return sum;
      }
    }
    const { harness, producer, close } = await setup(Videos);
    await producer.flow((flow) => flow.add('video.all', 0, { after: flow.add('video.part', 3) }));

    const ran = await harness.drain();

    expect(ran.map(({ queue, outcome, result }) => [queue, outcome, result])).toEqual([
      ['video.part', 'complete', 30],
      ['video.all', 'block', undefined],
      ['video.part', 'complete', 10],
      ['video.part', 'complete', 20],
      ['video.all', 'complete', 60],
    ]);
    await close();
  });
});
