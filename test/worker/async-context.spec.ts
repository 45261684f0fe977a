import { AsyncLocalStorage } from 'node:async_hooks';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, plainJobs, untilAborted } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

/** What a request keeps: its user, or the transaction of typeorm-transactional. */
const requests = new AsyncLocalStorage<string>();

describeEngines('a worker that a request wakes', (setup, server) => {
  it('runs all handlers and listeners outside of the async context of the request', async () => {
    const world = await setup();
    const seen: [what: string, request: string | undefined][] = [];
    const see = (what: string) => void seen.push([what, requests.getStore()]);
    const { producer, runner, bus } = await world.start({
      subscriptions: { published: { topic: 'news' } },
      queues: { failing: { retry: { attempts: 1 } } },
      handlers: {
        one: () => see('one'),
        many: { handle: () => see('many'), batch: 10 },
        keyed: () => see('keyed'),
        published: () => see('published'),
        flow: () => see('flow'),
        later: () => see('later'),
        failing: () => {
          see('failing');
          throw new Error('expected');
        },
      },
    });
    for (const event of ['enqueued', 'claimed', 'started', 'completed', 'dead'] as const)
      bus.on(event, undefined, ({ queue }) => see(`${event} ${queue}`));

    await requests.run('Ann', async () => {
      await producer.enqueue('one', 0);
      await producer.enqueueMany('many', plainJobs(3));
      await producer.enqueue('keyed', 0, { key: 'k' });
      await producer.publish('news', 0);
      await producer.flow((flow) => flow.add('flow', 0));
      await producer.enqueue('later', 0, { delay: 1 });
      await producer.enqueue('failing', 0);
    });
    await runner.whenIdle();
    await eventually(() => seen.some(([what]) => what === 'completed later'));

    const names = ['one', 'many', 'keyed', 'published', 'flow', 'later', 'failing'];
    expect(new Set(seen.map(([what]) => what))).toEqual(
      new Set(names.flatMap((name) => [name, ...lifeOf(name).map((event) => `${event} ${name}`)])),
    );
    expect(seen.filter(([, request]) => request !== undefined)).toEqual([]);
  });

  it('runs the jobs of others outside of the async context of the request that started, resumed or extended it', async () => {
    const world = await setup();
    const seen: (string | undefined)[] = [];
    const handle = () => void seen.push(requests.getStore());
    const { producer, runner } = await world.start({ autoStart: false, handlers: { q: handle } });

    await requests.run('Ann', () => runner.start());
    await producer.enqueue('q', 1);
    await runner.whenIdle();
    runner.pause('q');
    await producer.enqueue('q', 2);
    requests.run('Ann', () => runner.resume('q'));
    await runner.whenIdle();
    await requests.run('Ann', () => runner.handle('added', {}, handle));
    await producer.enqueue('added', 3);
    await runner.whenIdle();
    await producer.enqueueMany('q', plainJobs(2));
    requests.run('Ann', () => runner.setConcurrency('q', 5));
    await runner.whenIdle();

    expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  if (server.name !== 'sqlite')
    it('stores a new concurrency outside of the async context of the request that sets it', async () => {
      const world = await setup();
      const seen = gate<string | undefined>();
      const driver = interceptingDriver(async (sql) => {
        if (sql.includes('UPDATE sql_queue_workers') && sql.includes('SET queues')) seen.open(requests.getStore());
        await Promise.resolve();
      });
      const dataSource = await world.connect({ driver });
      const { runner } = await world.start({ dataSource, handlers: { q: () => 'done' } });

      requests.run('Ann', () => runner.setConcurrency('q', 5));

      expect(await seen.opened).toBeUndefined();
    });

  it('keeps the async context that one handler enters from the next jobs', async () => {
    const world = await setup();
    const seen: (string | undefined)[] = [];
    const { producer, runner } = await world.start({
      autoStart: false,
      queues: { q: { concurrency: 3 } },
      handlers: {
        q: async ({ id }: JobContext) => {
          seen.push(requests.getStore());
          requests.enterWith(`job ${id}`);
          await Promise.resolve();
          expect(requests.getStore()).toBe(`job ${id}`);
        },
      },
    });
    const jobs = await producer.enqueueMany('q', plainJobs(6));

    await runner.start();
    for (const { id } of jobs) await producer.waitFor(id);

    expect(seen).toEqual(Array.from({ length: 6 }, () => undefined));
    expect(requests.getStore()).toBeUndefined();
  });

  it('aborts the signal of a job outside of the async context of the request that cancels it', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const seen: (string | undefined)[] = [];
    const { producer, admin } = await world.start({
      handlers: {
        q: async ({ signal }: JobContext) => {
          signal.addEventListener('abort', () => seen.push(requests.getStore()));
          open();
          await untilAborted(signal);
          signal.throwIfAborted();
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);
    await opened;

    await requests.run('Ann', () => admin.cancel(id));

    await eventually(() => seen.length > 0);
    expect(seen).toEqual([undefined]);
  });
});

describeEngines('a call of the library', (setup) => {
  it('returns to the async context of its caller, although all callers share a statement', async () => {
    const world = await setup();
    const { producer, runner } = await world.start({ handlers: { q: () => 'done' } });
    const call = (user: string) =>
      requests.run(user, async () => {
        const { id } = await producer.enqueue('q', user);
        const afterEnqueue = requests.getStore();
        await producer.waitFor(id);
        return [afterEnqueue, requests.getStore()];
      });

    const seen = await Promise.all(['Ann', 'Bob', 'Eve'].map(call));
    await runner.whenIdle();

    expect(seen).toEqual(['Ann', 'Bob', 'Eve'].map((user) => [user, user]));
  });

  it('calls onProgress in the async context of the call that waits, not of another one', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const seen: (string | undefined)[] = [];
    const { producer } = await world.start({
      handlers: {
        waiting: () => opened,
        q: (job: JobContext) => {
          job.progress(1);
          return opened;
        },
      },
    });
    const first = await producer.enqueue('waiting', 0);
    const second = await producer.enqueue('q', 0);

    const others = requests.run('Ann', () => producer.waitFor(first.id));
    const own = requests.run('Bob', () =>
      producer.waitFor(second.id, {
        onProgress: () => {
          seen.push(requests.getStore());
          open();
        },
      }),
    );
    await Promise.all([others, own]);

    expect(seen).toEqual(['Bob']);
  });

  it('calls the hook of the audit outside of the async context of the request', async () => {
    const world = await setup();
    const seen: (string | undefined)[] = [];
    const { admin } = await world.start({ handlers: { q: () => {} }, audit: () => seen.push(requests.getStore()) });

    await requests.run('Ann', () => admin.pause('q'));

    await eventually(() => seen.length > 0);
    expect(seen).toEqual([undefined]);
  });
});

function lifeOf(name: string): string[] {
  return ['enqueued', 'claimed', 'started', name === 'failing' ? 'dead' : 'completed'];
}
