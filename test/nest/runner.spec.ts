import { JobContext, QueueAdmin, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { startError, gate, start } from './support/application.js';

class Mails {
  readonly sent: unknown[] = [];

  @QueueProcessor('mail')
  send(job: JobContext) {
    this.sent.push(job.payload);
  }

  @QueueProcessor('report')
  build() {}
}

describe('with worker: false', () => {
  it('the application only produces', async () => {
    const { get, runner, ended } = await start({ providers: [Mails] }, { worker: false });

    const job = await get(QueueProducer).enqueue('mail', 1);

    expect(runner.state).toBe('stopped');
    expect(await ended(job)).toMatchObject({ state: 'waiting' });
    expect(await get(QueueAdmin).workers()).toEqual([]);
  });

  it('invalid handlers stop the boot nevertheless', async () => {
    class Twice {
      @QueueProcessor('mail')
      again() {}
    }

    const error = await startError({ providers: [Mails, Twice] }, { worker: false });

    expect(error.message).toContain('two handlers');
  });
});

describe('with autoStart: false', () => {
  it('the worker starts with SqlQueueRunner.start(), stops with stop(), and can start again', async () => {
    const { get, runner, idle } = await start({ providers: [Mails] }, { worker: { autoStart: false } });
    const producer = get(QueueProducer);
    await producer.enqueue('mail', 1);
    await idle();
    expect([runner.state, get(Mails).sent]).toEqual(['stopped', []]);

    await runner.start();
    await idle();
    expect([runner.state, get(Mails).sent]).toEqual(['running', [1]]);

    await runner.stop();
    await producer.enqueue('mail', 2);
    expect([runner.state, get(Mails).sent]).toEqual(['stopped', [1]]);

    await runner.start();
    await idle();
    expect(get(Mails).sent).toEqual([1, 2]);
    await runner.stop();
    await runner.stop();
  });

  it('pause() and resume() may come before the start', async () => {
    const { get, runner, idle } = await start({ providers: [Mails] }, { worker: { autoStart: false } });
    await get(QueueProducer).enqueue('mail', 1);

    runner.pause('mail');
    await runner.start();
    await idle();
    expect(get(Mails).sent).toEqual([]);

    runner.resume('mail');
    await idle();
    expect(get(Mails).sent).toEqual([1]);
  });
});

describe('a queue with paused: true', () => {
  const paused = { queues: { mail: { paused: true } } };

  it('waits for resume(), even if that comes before the start', async () => {
    const started = await start({ providers: [Mails] }, paused);
    const early = await start({ providers: [Mails] }, { ...paused, worker: { autoStart: false } });
    for (const { get } of [started, early]) await get(QueueProducer).enqueue('mail', 1);
    await started.idle();
    expect(started.get(Mails).sent).toEqual([]);

    started.runner.resume('mail');
    early.runner.resume('mail');
    await early.runner.start();
    await Promise.all([started.idle(), early.idle()]);

    expect(started.get(Mails).sent).toEqual([1]);
    expect(early.get(Mails).sent).toEqual([1]);
  });
});

describe('SqlQueueRunner', () => {
  it('works the queues with handlers that `worker.queues` allows', async () => {
    const only = await start({ providers: [Mails] }, { worker: { queues: { include: ['rep*'] } } });
    const but = await start({ providers: [Mails] }, { worker: { queues: { exclude: ['report'] } } });
    const none = await start({}, {});

    expect(only.runner.queues).toEqual(['report']);
    expect(but.runner.queues).toEqual(['mail']);
    expect([none.runner.queues, none.runner.state]).toEqual([[], 'stopped']);
  });

  it('pauses and resumes one queue or all, and no other queue', async () => {
    const { get, runner, idle, ended } = await start({ providers: [Mails] });
    const producer = get(QueueProducer);

    runner.pause('mail');
    await producer.enqueue('mail', 1);
    const report = await producer.enqueue('report', null);
    expect(await ended(report)).toMatchObject({ state: 'completed' });
    expect(get(Mails).sent).toEqual([]);

    runner.pause();
    const waiting = await producer.enqueue('report', null);
    expect(await ended(waiting)).toMatchObject({ state: 'waiting' });

    runner.resume();
    await idle();
    expect(get(Mails).sent).toEqual([1]);
    expect(await ended(waiting)).toMatchObject({ state: 'completed' });
  });

  it('rejects a queue without a handler', async () => {
    const { runner } = await start({ providers: [Mails] });

    expect(() => runner.pause('male')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_QUEUE', message: expect.stringContaining('mail, report') as string }),
    );
  });

  it('rejects an invalid timeout', async () => {
    const { runner } = await start({ providers: [Mails] });

    expect(() => runner.stop({ timeout: 'soon' as never })).toThrow(/expected timeout to be a duration/);
  });

  it('stop() waits for running jobs in the state `stopping`', async () => {
    const started = gate();
    const go = gate();
    class Slow {
      @QueueProcessor('slow')
      async run() {
        started.give();
        await go.given;
        return 'done';
      }
    }
    const { get, runner } = await start({ providers: [Slow] });
    const job = await get(QueueProducer).enqueue('slow', null);
    await started.given;

    const stopped = runner.stop();
    await get(QueueAdmin).get(job.id);
    expect(runner.state).toBe('stopping');
    go.give();
    await stopped;

    expect(runner.state).toBe('stopped');
    expect(await get(QueueAdmin).get(job.id)).toMatchObject({ state: 'completed', result: 'done' });
  });

  it('stop() aborts running jobs after the timeout, and releases them without an attempt', async () => {
    const started = gate();
    class Endless {
      @QueueProcessor('endless')
      run(job: JobContext) {
        started.give();
        return new Promise((_resolve, reject) => {
          job.signal.addEventListener('abort', () => reject(job.signal.reason as Error));
        });
      }
    }
    const { get, runner } = await start({ providers: [Endless] });
    const job = await get(QueueProducer).enqueue('endless', null);
    await started.given;

    await runner.stop({ timeout: 0 });

    expect(await get(QueueAdmin).get(job.id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('whenIdle() also waits for jobs that handlers enqueue', async () => {
    class Chain {
      done = 0;

      constructor(private readonly enqueue: (remaining: number) => Promise<unknown>) {}

      @QueueProcessor('chain')
      async link(job: JobContext<number>) {
        this.done++;
        if (job.payload > 1) await this.enqueue(job.payload - 1);
      }
    }
    const { get, idle } = await start({
      providers: [
        {
          provide: Chain,
          useFactory: (producer: QueueProducer) => new Chain((remaining) => producer.enqueue('chain', remaining)),
          inject: [QueueProducer],
        },
      ],
    });

    await get(QueueProducer).enqueue('chain', 5);
    await idle();

    expect(get(Chain).done).toBe(5);
  });
});
