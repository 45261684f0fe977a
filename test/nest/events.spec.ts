import { Controller } from '@nestjs/common';
import { join } from 'node:path';
import { JobContext, OnQueueEvent, QueueProcessor, QueueProducer, type QueueEvent } from 'nestjs-sql-queue';
import { gate, start, temporaryFolder } from './support/application.js';

class Work {
  @QueueProcessor('work', { retry: { attempts: 2, backoff: 0 } })
  work(job: JobContext<string>) {
    if (job.payload === 'fails') throw new Error('no luck');
    if (job.payload === 'fails once' && job.attempt === 1) throw new Error('no luck');
    return 'result';
  }

  @QueueProcessor('other')
  other() {}
}

class Listener {
  readonly received: QueueEvent[] = [];

  @OnQueueEvent('started')
  @OnQueueEvent('completed')
  @OnQueueEvent('failed')
  @OnQueueEvent('dead')
  @OnQueueEvent('snoozed')
  listen(event: QueueEvent) {
    this.received.push(event);
  }
}

describe('a listener', () => {
  it.each([
    ['succeeds', ['started 1', 'completed 1']],
    ['fails once', ['started 1', 'failed 1', 'started 2', 'completed 2']],
    ['fails', ['started 1', 'failed 1', 'started 2', 'failed 2', 'dead 2']],
  ])('receives each event of a job that %s once, on one method with several decorators', async (payload, events) => {
    const { get, ended } = await start({ providers: [Work, Listener] });

    await ended(await get(QueueProducer).enqueue('work', payload));

    expect(get(Listener).received.map(({ event, attempt }) => `${event} ${attempt}`)).toEqual(events);
  });

  it('receives the job, its duration, and its result or error', async () => {
    const { get, ended } = await start({ providers: [Work, Listener] });

    const good = await get(QueueProducer).enqueue('work', 'succeeds', { name: 'n' });
    await ended(good);
    const bad = await get(QueueProducer).enqueue('work', 'fails', { retry: 1 });
    await ended(bad);

    const about = { queue: 'work', ranMs: expect.any(Number) as number };
    expect(get(Listener).received.filter(({ event }) => event !== 'started')).toEqual([
      expect.objectContaining({ ...about, event: 'completed', jobId: good.id, name: 'n', result: 'result' }),
      expect.objectContaining({ ...about, event: 'failed', jobId: bad.id }),
      expect.objectContaining({
        ...{ ...about, event: 'dead', jobId: bad.id, name: 'default' },
        error: expect.objectContaining({ name: 'Error', message: 'no luck' }) as object,
      }),
    ]);
  });

  it('receives enqueues and admin changes of its process, and no event for a call without effect', async () => {
    const received: string[] = [];
    class Steered {
      @OnQueueEvent('enqueued')
      @OnQueueEvent('cancelled')
      @OnQueueEvent('retried')
      @OnQueueEvent('removed')
      listen({ event, jobId, queue, name, attempt }: QueueEvent) {
        received.push(`${event} ${jobId} ${queue} ${name} ${attempt}`);
      }
    }
    const { get, admin } = await start({ providers: [Work, Steered] });
    const producer = get(QueueProducer);

    const { id } = await producer.enqueue('work', 0, { delay: '1h', name: 'n' });
    await producer.cancel(id);
    await admin.retry(id);
    const other = await producer.enqueue('work', 0, { delay: '1h' });
    await admin.remove(other.id);
    await admin.remove(4_711);

    expect(received).toEqual([
      ...[`enqueued ${id} work n 0`, `cancelled ${id} work n 0`, `retried ${id} work n 0`],
      ...[`enqueued ${other.id} work default 0`, `removed ${other.id} work default 0`],
    ]);
  });

  it('with a queue receives only its events, and can be a method of a controller or a handler', async () => {
    const received: string[] = [];
    @Controller()
    class Listeners {
      @OnQueueEvent('completed', { queue: 'other' })
      @OnQueueEvent('dead', { queue: 'work' })
      listen({ queue, event }: QueueEvent) {
        received.push(`${queue} ${event}`);
      }
    }
    class HandlerToo extends Work {
      @OnQueueEvent('completed', { queue: 'work' })
      completed({ queue }: QueueEvent) {
        received.push(`${queue} itself`);
      }
    }
    const { get, idle } = await start({ controllers: [Listeners], providers: [HandlerToo] });

    for (const payload of ['succeeds', 'fails']) await get(QueueProducer).enqueue('work', payload);
    await get(QueueProducer).enqueue('other', null);
    await idle();

    expect(received.sort()).toEqual(['other completed', 'work dead', 'work itself']);
  });

  it('affects neither the job nor other listeners if it throws or rejects, and its error is logged', async () => {
    class Broken {
      @OnQueueEvent('completed')
      throws() {
        throw new Error('deaf');
      }

      @OnQueueEvent('completed')
      rejects() {
        return Promise.reject(new Error('deaf too'));
      }
    }
    const delivered = gate<QueueEvent>();
    class Fine {
      @OnQueueEvent('completed')
      listen(event: QueueEvent) {
        delivered.give(event);
      }
    }
    const { get, ended, log } = await start({ providers: [Work, Broken, Fine] });

    const job = await get(QueueProducer).enqueue('work', 'succeeds');

    expect(await ended(job)).toMatchObject({ state: 'completed' });
    expect(await delivered.given).toMatchObject({ jobId: job.id });
    expect(log.at('error')).toEqual([
      'A listener for "completed" threw: Error: deaf',
      'A listener for "completed" threw: Error: deaf too',
    ]);
  });

  it('runs after the commit, when the job already has the state of the event', async () => {
    const states: unknown[] = [];
    const both = gate();
    const { get, admin } = await start({
      providers: [
        Work,
        {
          provide: 'listener',
          useFactory: () => {
            class Reader {
              @OnQueueEvent('completed')
              async completed({ jobId }: QueueEvent) {
                states.push((await admin.get(jobId))?.state);
                both.give();
              }
            }
            return new Reader();
          },
        },
      ],
    });

    await get(QueueProducer).enqueue('work', 'succeeds');
    await both.given;

    expect(states).toEqual(['completed']);
  });
});

describe('a listener from anywhere', () => {
  it('receives events of another process once, in a process that runs no jobs', async () => {
    const file = join(await temporaryFolder(), 'queue.sqlite');
    const connection = { type: 'better-sqlite3', database: file } as const;
    const received: QueueEvent[] = [];
    const last = gate();
    class Everywhere {
      @OnQueueEvent('enqueued', { from: 'anywhere' })
      @OnQueueEvent('completed', { from: 'anywhere', queue: 'work' })
      listen(event: QueueEvent) {
        received.push(event);
        if (event.event === 'completed') last.give();
      }
    }
    class Here {
      @OnQueueEvent('completed')
      listen(event: QueueEvent) {
        received.push(event);
      }
    }
    const queues = { 'w*': { events: true } };
    const dashboard = await start({ providers: [Everywhere, Here] }, { connection, queues, worker: false });
    const worker = await start({ providers: [Work] }, { connection, queues });

    await worker.get(QueueProducer).enqueue('other', 0);
    const { id } = await worker.get(QueueProducer).enqueue('work', 'succeeds', { name: 'n' });
    await last.given;
    await dashboard.close();

    const about = { queue: 'work', jobId: id, name: 'n', owner: null, at: expect.any(Date) as Date };
    expect(received).toEqual([
      { ...about, event: 'enqueued', attempt: 0, ranMs: null },
      { ...about, event: 'completed', attempt: 1, ranMs: expect.any(Number) as number, result: 'result' },
    ]);
  });

  it('receives events of its own process if that only produces', async () => {
    const delivered = gate<QueueEvent>();
    class Everywhere {
      @OnQueueEvent('enqueued', { from: 'anywhere' })
      listen(event: QueueEvent) {
        delivered.give(event);
      }
    }
    const { get } = await start({ providers: [Everywhere] }, { worker: false, defaults: { events: true } });

    const { id } = await get(QueueProducer).enqueue('any', 0);

    expect(await delivered.given).toMatchObject({ jobId: id, queue: 'any' });
  });
});
