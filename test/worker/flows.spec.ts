import { isTurnLong } from '../../lib/common/turn.js';
import type { FlowChild } from '../../lib/job/flows/flow-record.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

describeEngines('flows', (setup) => {
  it('run a job after those that it needs, which gives it their results', async () => {
    const world = await setup();
    const order: string[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        part: (job) => {
          order.push('part');
          return { square: (job.payload as number) ** 2 };
        },
        sum: async (job) => {
          order.push('sum');
          return sumOf(await childrenOf(job));
        },
      },
    });

    const flow = await producer.flow((f) => {
      const parts = f.addMany('part', [1, 2, 3]);
      f.add('sum', null, { after: parts });
    });

    expect(await events.until('completed', { queue: 'sum' })).toMatchObject({ result: 14 });
    expect(order).toEqual(['part', 'part', 'part', 'sum']);
    expect(await admin.flow(flow.id)).toMatchObject({
      id: flow.id,
      jobs: [
        ...flow.jobs.slice(0, 3).map(({ id }) => ({ id, queue: 'part', state: 'completed', needs: [] })),
        {
          id: flow.jobs[3]!.id,
          state: 'completed',
          needs: flow.jobs.slice(0, 3).map(({ id }) => ({ id, onFailure: 'cancel', state: 'completed' })),
        },
      ],
    });
  });

  it('let the event loop run while a long fan-out builds its children', async () => {
    const world = await setup();
    const [longPayload, payload, wasNextTurn] = afterLongTurn();
    const { producer, events } = await world.start({
      handlers: { parent: (job) => job.fanOut('part', [longPayload, payload]), part: () => undefined },
    });

    await producer.enqueue('parent', null);
    await events.until('completed', { queue: 'parent' });

    expect(wasNextTurn()).toBe(true);
  });

  it('block a job until then', async () => {
    const world = await setup();
    const { producer, admin } = await world.start();

    const flow = await producer.flow((f) => {
      const first = f.add('q', 1);
      const second = f.add('q', 2, { after: first });
      f.add('q', 3, { after: second });
    });

    const blocked = flow.jobs[2]!.id;
    expect(await admin.counts('q')).toMatchObject({ waiting: 1, blocked: 2 });
    expect(await admin.get(blocked)).toMatchObject({ state: 'blocked' });
    expect((await admin.find({ queue: 'q', state: 'blocked' })).jobs.map(({ id }) => id)).toEqual(
      flow.jobs.slice(1).map(({ id }) => id),
    );
    expect((await admin.find({ state: 'waiting' })).jobs).toHaveLength(1);
  });

  it('run a blocked job whose time is the earliest one', async () => {
    const world = await setup();
    const { producer, events } = await world.start({ handlers: { q: () => undefined } });

    const flow = await producer.flow((f) => {
      const first = f.add('q', 1);
      const second = f.add('q', 2, { after: first, runAt: new Date(0) });
      f.add('q', 3, { after: second });
    });

    await events.until('completed', { jobId: flow.jobs[2]!.id });
  });

  it('of any shape run each job once, after all that it needs', async () => {
    const world = await setup();
    const done: number[] = [];
    const early: number[] = [];
    const needs = (n: number) => [n - 1, n - 2, n - 7].filter((each) => each >= 0 && (each * n) % 3 !== 1);
    const { producer, runner } = await world.start({
      handlers: {
        q: (job) => {
          const n = job.payload as number;
          if (needs(n).some((each) => !done.includes(each))) early.push(n);
          done.push(n);
        },
      },
      queues: { q: { concurrency: 10 } },
    });

    await producer.flow((f) => {
      const jobs: ReturnType<typeof f.add>[] = [];
      for (let n = 0; n < 60; n++) jobs.push(f.add('q', n, { after: needs(n).map((each) => jobs[each]!) }));
    });
    await eventually(() => done.length >= 60);
    await runner.whenIdle();

    expect(early).toEqual([]);
    expect([...done].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  });

  it('cancel the jobs that need a failed one, and run those that may run nevertheless', async () => {
    const world = await setup();
    const seen: unknown[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        bad: () => {
          throw new Error('no');
        },
        after: async (job) => void seen.push(await childrenOf(job)),
      },
      queues: { bad: { retry: 1 } },
    });

    const flow = await producer.flow((f) => {
      const bad = f.add('bad', 0);
      const cancelled = f.add('after', 1, { after: bad });
      const last = f.add('after', 2, { after: cancelled });
      f.add('after', 3, { after: [bad, last], onFailure: 'run' });
    });

    await events.until('completed', { queue: 'after' });
    const [bad, cancelled, last] = flow.jobs.map(({ id }) => id);
    expect(await admin.get(cancelled!)).toMatchObject({
      state: 'cancelled',
      error: { code: 'PREREQUISITE_FAILED', message: expect.stringContaining(`job ${bad}`) },
    });
    expect(seen).toMatchObject([
      [
        { id: bad, queue: 'bad', state: 'dead', result: null, error: { message: 'no' } },
        { id: last, queue: 'after', state: 'cancelled', error: { code: 'PREREQUISITE_FAILED' } },
      ],
    ]);
  });

  it('keep a job blocked until the failed job that it waits for was retried', async () => {
    const world = await setup();
    let isFixed = false;
    const { producer, events, admin, runner } = await world.start({
      handlers: {
        bad: () => {
          if (!isFixed) throw new Error('no');
          return 7;
        },
        after: async (job) => (await childrenOf(job))[0]!.result,
      },
      queues: { bad: { retry: 1 } },
    });
    const flow = await producer.flow((f) => {
      const bad = f.add('bad', 0);
      f.add('after', 1, { after: bad, onFailure: 'wait' });
    });
    await events.until('dead');
    await runner.whenIdle();
    const before = await admin.get(flow.jobs[1]!.id);
    isFixed = true;

    await admin.retry(flow.jobs[0]!.id);

    expect(before).toMatchObject({ state: 'blocked' });
    expect(await events.until('completed', { queue: 'after' })).toMatchObject({ result: 7 });
  });

  it('are retried from the failed jobs on, in their order', async () => {
    const world = await setup();
    let isFixed = false;
    const ran: string[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        first: () => void ran.push('first'),
        bad: () => {
          ran.push('bad');
          if (!isFixed) throw new Error('no');
        },
        last: () => void ran.push('last'),
      },
      queues: { bad: { retry: 1 } },
    });
    const flow = await producer.flow((f) => {
      const bad = f.add('bad', 0, { after: f.add('first', 0) });
      f.add('last', 0, { after: bad });
    });
    await events.until('cancelled', { queue: 'last' });
    isFixed = true;

    const retried = await admin.retryFlow(flow.id);

    await events.until('completed', { queue: 'last' });
    expect(retried).toBe(2);
    expect(ran).toEqual(['first', 'bad', 'bad', 'last']);
  });

  it('are cancelled with all that is not finished, or below one job', async () => {
    const world = await setup();
    const { producer, admin } = await world.start();
    const build = () =>
      producer.flow((f) => {
        const [a, b] = f.addMany('q', [1, 2]);
        const c = f.add('q', 3, { after: a! });
        f.add('q', 4, { after: [b!, c], onFailure: 'run' });
      });
    const [whole, part] = [await build(), await build()];

    const counts = [
      await admin.cancelFlow(whole.id),
      await admin.cancelFlow(part.id, { below: part.jobs[2]!.id }),
      await admin.cancelFlow(whole.id),
    ];

    expect(counts).toEqual([4, 2, 0]);
    expect((await admin.flow(part.id))!.jobs.map(({ state }) => state).sort()).toEqual([
      'cancelled',
      'cancelled',
      'waiting',
      'waiting',
    ]);
    await expect(admin.cancelFlow(part.id, { below: 1_000_000 })).rejects.toThrow(
      'below to be the id of a job of flow',
    );
    expect(await admin.flow(1_000_000)).toBeNull();
  });

  it('delay a job from the end of those that it needs', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ handlers: { q: () => undefined } });

    const flow = await producer.flow((f) => {
      f.add('q', 2, { after: f.add('q', 1), delay: '1h' });
    });

    const job = await eventually(async () => {
      const found = await admin.get(flow.jobs[1]!.id);
      return found?.state === 'scheduled' && found;
    });
    expect(job.runAt!.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  });

  it('belong to the transaction of the caller', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({ handlers: { q: () => undefined } });
    const build = (f: Parameters<Parameters<typeof producer.flow>[0]>[0]) => f.add('q', 2, { after: f.add('q', 1) });

    await expect(
      world.dataSource.transaction(async (manager) => {
        await producer.flow(build, { manager });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await admin.counts('q')).toMatchObject({ waiting: 0, blocked: 0 });
    const flow = await world.dataSource.transaction((manager) => producer.withManager(manager).flow(build));

    const completed = await events.untilCount(2, 'completed');
    expect(completed.map(({ jobId }) => jobId)).toEqual(flow.jobs.map(({ id }) => id));
  });

  it('free a job if the job that it needs was removed', async () => {
    const world = await setup();
    const { producer, admin } = await world.start();
    const flow = await producer.flow((f) => {
      f.add('q', 2, { after: f.add('q', 1), onFailure: 'run' });
    });

    await admin.remove(flow.jobs[0]!.id);

    expect(await admin.get(flow.jobs[1]!.id)).toMatchObject({ state: 'waiting' });
    expect((await admin.flow(flow.id))!.jobs).toMatchObject([{ state: 'cancelled' }, { state: 'waiting' }]);
  });

  it('let a job fan out, and go on when its children have ended', async () => {
    const world = await setup();
    const runs: number[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        part: (job) => (job.payload as number) * 10,
        all: async (job) => {
          runs.push(job.attempt);
          const first = await job.step('first', () => runs.length);
          await job.fanOut('part', [1, 2, 3]);
          await job.fanOut('part', [4]);
          return { first, sum: sumOf(await childrenOf(job)) };
        },
      },
    });

    const { id } = await producer.enqueue('all', 0);

    expect(await events.until('completed', { queue: 'all' })).toMatchObject({ result: { first: 1, sum: 100 } });
    expect(runs).toEqual([1, 1, 1]);
    expect(events.jobs('blocked')).toEqual([id, id]);
    expect(await admin.counts('part')).toMatchObject({ completed: 4 });
  });

  it.each([
    ['dead', 'cancelled'],
    ['completed', 'completed'],
  ] as const)('block a job whose child is %s before the fan-out resolves', async (childState, state) => {
    const world = await setup();
    const runs: number[] = [];
    const { producer, events, admin, flows } = await world.start({
      handlers: {
        part: () => {
          if (childState === 'dead') throw new Error('no');
        },
        all: async (job) => {
          runs.push(job.attempt);
          await job.fanOut('part', [1]);
        },
      },
      queues: { part: { retry: 1 } },
    });
    const { fanOut } = flows;
    flows.fanOut = async (...given) => {
      const stored = await fanOut(...given);
      await events.until(childState, { queue: 'part' });
      return stored;
    };

    const { id } = await producer.enqueue('all', 0);
    await events.until(state, { queue: 'all' });

    expect(events.jobs('blocked')).toEqual([id]);
    expect(runs).toEqual(state === 'cancelled' ? [1] : [1, 1]);
    const [flow] = await world.sql<{ id: number }>('SELECT id FROM sql_queue_flows');
    const states = (await admin.flow(Number(flow!.id)))!.jobs.map((job) => job.state);
    expect(states).toEqual([childState, state]);
  });

  it('end with a job that an administrator cancels while it fans out, and let it run again', async () => {
    const world = await setup();
    const failing = gate();
    const { producer, events, admin, flows } = await world.start({
      handlers: { part: () => failing.opened.then(fail), all: (job) => job.fanOut('part', [1]) },
      queues: { part: { retry: 1 } },
    });
    const { fanOut } = flows;
    flows.fanOut = async (...given) => {
      const stored = await fanOut(...given);
      await admin.cancel(given[0].jobId);
      return stored;
    };
    const { id } = await producer.enqueue('all', 0);
    await events.until('cancelled', { jobId: id });

    const ended = await endsOfFlows(world);
    failing.open();
    await events.until('dead', { queue: 'part' });
    await admin.retry(id);
    await events.until('completed', { jobId: id });

    expect(ended).toEqual([{ needs: id, outcome: 'cancelled' }]);
    expect(events.jobs('cancelled')).toEqual([id]);
    await eventually(async () => (await endsOfFlows(world))[0]!.outcome === 'completed');
  });

  it('end with a job that times out while it fans out', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events, flows } = await world.start({
      clock,
      handlers: { all: (job) => job.fanOut('part', [1]) },
      queues: { all: { retry: 1, timeout: '5s' } },
    });
    const { fanOut } = flows;
    flows.fanOut = async (...given) => {
      const stored = await fanOut(...given);
      await clock.advance(5_000);
      return stored;
    };

    const { id } = await producer.enqueue('all', 0);
    const dead = await events.until('dead', { jobId: id });

    expect(dead).toMatchObject({ error: { code: 'JOB_TIMEOUT' } });
    expect(await endsOfFlows(world)).toEqual([{ needs: id, outcome: 'dead' }]);
  });

  it('do not begin after the timeout of a run that still prepares its children', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const calls: Promise<void>[] = [];
    const payload = {
      toJSON() {
        void clock.advance(5_000);
        return 1;
      },
    };
    const { producer, events } = await world.start({
      clock,
      handlers: { all: (job) => calls[calls.push(job.fanOut('part', [payload])) - 1] },
      queues: { all: { retry: 1, timeout: '5s' } },
    });

    await producer.enqueue('all', 0);
    await events.until('dead');

    await expect(calls[0]).rejects.toMatchObject({ code: 'STEP_NOT_ALLOWED' });
    expect(await world.sql('SELECT id FROM sql_queue_flows')).toEqual([]);
  });

  it('let a job without payloads to fan out go on at once', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: { all: (job) => job.fanOut('part', []).then(() => 'done') },
    });

    await producer.enqueue('all', 0);

    expect(await events.until('completed')).toMatchObject({ result: 'done' });
  });

  it('let a job that fans out within a flow keep those waiting that need it', async () => {
    const world = await setup();
    const order: string[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        part: () => void order.push('part'),
        all: async (job) => {
          await job.fanOut('part', [1, 2]);
          order.push('all');
        },
        last: () => void order.push('last'),
      },
    });

    const flow = await producer.flow((f) => {
      f.add('last', 0, { after: f.add('all', 0) });
    });

    await events.until('completed', { queue: 'last' });
    expect(order).toEqual(['part', 'part', 'all', 'last']);
    expect((await admin.flow(flow.id))!.jobs.map(({ queue }) => queue)).toEqual(['part', 'part', 'all', 'last']);
  });

  it('cancel a job whose child has failed, unless it may run nevertheless', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: {
        part: () => {
          throw new Error('no');
        },
        strict: (job) => job.fanOut('part', [1]),
        tolerant: async (job) => {
          await job.fanOut('part', [1], { onFailure: 'run' });
          return (await childrenOf(job))[0]!.error!.message;
        },
      },
      queues: { part: { retry: 1 } },
    });

    await producer.enqueue('strict', 0);
    await events.until('cancelled', { queue: 'strict' });
    await producer.enqueue('tolerant', 0);

    expect(await events.until('completed', { queue: 'tolerant' })).toMatchObject({ result: 'no' });
  });

  it('answer each call of children() the same in every run, also after a second fan-out', async () => {
    const world = await setup();
    const first: unknown[] = [];
    const { producer, events } = await world.start({
      handlers: {
        part: (job) => job.payload,
        all: async (job) => {
          const none = await resultsOf(job);
          await job.fanOut('part', [1, 2]);
          first.push([none, await resultsOf(job)]);
          await job.fanOut('part', [3]);
          return resultsOf(job);
        },
      },
    });

    await producer.enqueue('all', 0);

    expect(await events.until('completed', { queue: 'all' })).toMatchObject({ result: [1, 2, 3] });
    expect(first).toEqual([
      [[], [1, 2]],
      [[], [1, 2]],
    ]);
  });

  it('keep for a job that runs the end that it has waited for, while the other job runs again', async () => {
    const world = await setup();
    const [started, retried] = [gate(), gate()];
    let hasStarted = false;
    const { producer, events, admin, flows } = await world.start({
      handlers: {
        first: (job) => {
          if (hasStarted) return 'second end';
          throw new Error(`attempt ${job.attempt}`);
        },
        after: async (job) => {
          hasStarted = true;
          started.open();
          await retried.opened;
          return (await childrenOf(job)).map(({ state, error }) => [state, error?.message]);
        },
      },
      queues: { first: { retry: 1 } },
    });
    const flow = await producer.flow((f) => {
      f.add('after', 0, { after: f.add('first', 0), onFailure: 'run' });
    });
    const [first, after] = flow.jobs.map(({ id }) => id);
    await started.opened;

    await admin.retry(first!);
    const during = await flows.children(after!, 0, 10);
    await events.until('completed', { queue: 'first' });
    retried.open();

    expect(during).toMatchObject([{ state: 'dead', error: { message: 'attempt 1' } }]);
    expect(await events.until('completed', { queue: 'after' })).toMatchObject({ result: [['dead', 'attempt 1']] });
  });

  it('let a job that waits in a later fan-out go on while a child of an earlier one runs again', async () => {
    const world = await setup();
    const [again, second] = [gate(), gate()];
    let isRetry = false;
    const { producer, events, admin } = await world.start({
      handlers: {
        first: async () => {
          if (!isRetry) throw new Error('no');
          await again.opened;
        },
        second: () => second.opened,
        all: async (job) => {
          await job.fanOut('first', [1], { onFailure: 'run' });
          const [child] = await childrenOf(job);
          await job.fanOut('second', [1]);
          return child!.state;
        },
      },
      queues: { first: { retry: 1 } },
    });
    await producer.enqueue('all', 0);
    await events.until('started', { queue: 'second' });
    isRetry = true;

    await admin.retry(events.jobs('dead')[0]!);
    second.open();
    const completed = await events.until('completed', { queue: 'all' });
    again.open();

    expect(completed).toMatchObject({ result: 'dead' });
  });
});

describeEngines(
  'a blocked job that an open transaction has locked',
  (setup) => {
    it('keeps no other job blocked, and is unblocked soon after that transaction', async () => {
      const world = await setup();
      const [held, done] = [gate(), gate()];
      const { producer, events, runner, flows, admin } = await world.start({
        handlers: { first: () => undefined, after: () => undefined },
        autoStart: false,
      });
      flows.sweep = () => Promise.resolve({ unblocked: [], cancelled: [] });
      const flow = await producer.flow((f) => {
        for (const part of f.addMany('first', [1, 2, 3])) f.add('after', 0, { after: part });
      });
      const [locked, ...others] = flow.jobs.filter(({ queue }) => queue === 'after').map(({ id }) => id);
      const holding = world.dataSource.transaction('READ COMMITTED', async (manager) => {
        await manager.query(`SELECT id FROM sql_queue_jobs FORCE INDEX (PRIMARY) WHERE id = ${locked} FOR UPDATE`);
        held.open();
        await done.opened;
      });
      await held.opened;

      await runner.start();
      await events.untilCount(2, 'completed', { queue: 'after' });
      const whileLocked = { states: await admin.get(locked!), completed: events.jobs('completed') };
      done.open();
      await holding;
      await events.untilCount(3, 'completed', { queue: 'after' });

      expect(whileLocked.completed).toEqual(expect.arrayContaining(others));
      expect(whileLocked.states).toMatchObject({ state: 'blocked' });
    });
  },
  ['mysql', 'mariadb'],
);

function fail(): never {
  throw new Error('no');
}

/** The jobs for which flows wait, and their outcomes. */
async function endsOfFlows(world: World) {
  const edges = await world.sql<{ needs: number; outcome: string }>(
    'SELECT needs, outcome FROM sql_queue_edges WHERE job_id < 0 ORDER BY needs',
  );
  return edges.map(({ needs, outcome }) => ({ needs: Number(needs), outcome }));
}

async function resultsOf(job: JobContext): Promise<unknown[]> {
  return (await childrenOf(job)).map(({ result }) => result);
}

async function childrenOf(job: JobContext): Promise<FlowChild[]> {
  const all: FlowChild[] = [];
  for await (const child of job.children()) all.push(child);
  return all;
}

function sumOf(children: readonly FlowChild[]): number {
  return children.reduce((sum, { result }) => sum + ((result as { square?: number })?.square ?? (result as number)), 0);
}

/** A payload that takes a long turn to encode, and one that notes whether it is encoded in a later turn. */
function afterLongTurn() {
  let [isNextTurn, wasNextTurn] = [false, false];
  const long = {
    toJSON() {
      setImmediate(() => (isNextTurn = true));
      while (!isTurnLong());
      return 1;
    },
  };
  const next = {
    toJSON() {
      wasNextTurn = isNextTurn;
      return 2;
    },
  };
  return [long, next, () => wasNextTurn] as const;
}
