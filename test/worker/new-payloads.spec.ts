import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, type World } from '../support/engines.js';

/** A payload, and the way in which its first run ends after its step. */
interface Order {
  readonly n: number;
  readonly end?: 'sleeps' | 'waits' | 'fails' | 'fans out';
}

const ENDS = ['sleeps', 'waits', 'fails', 'fans out'] as const;
const EVENTS = { sleeps: 'snoozed', waits: 'snoozed', fails: 'failed', 'fans out': 'blocked' } as const;
const TABLES = ['steps', 'logs', 'progress', 'stages'] as const;

/** Jobs that charge in a step, with what they have charged. */
async function setUpOrders(world: World) {
  const charged: { n: number; key: string }[] = [];
  const children: number[] = [];
  const engine = await world.start({
    defaults: { retry: { attempts: 3, backoff: '1h' } },
    handlers: {
      q: async (job: JobContext<Order>) => {
        const { n, end } = job.payload;
        await job.step('charge', () => void charged.push({ n, key: job.stepKey('charge') }));
        job.log(`charged ${n}`);
        job.progress(n);
        if (end === 'sleeps') await job.sleep('pause', '1h');
        if (end === 'waits') await job.waitFor('go', { key: 'k', timeout: '1h' });
        if (end === 'fails') throw new Error('later');
        if (end === 'fans out') await job.fanOut('child', [n]);
        for await (const child of job.children()) children.push(child.id);
        return n;
      },
    },
    queues: { q: { retention: { completed: '1h' } } },
  });
  const { producer, events } = engine;
  const first = async (end: keyof typeof EVENTS) => {
    const { id } = await producer.enqueue('q', { n: 1, end }, { key: 'k' });
    await events.until(EVENTS[end], { jobId: id });
    return id;
  };
  return { ...engine, charged, children, first };
}

async function rowsOf(world: World, table: (typeof TABLES)[number], id: number): Promise<number> {
  return (await world.sql(`SELECT job_id FROM sql_queue_${table} WHERE job_id = ${id}`)).length;
}

describeEngines('a job with a new payload', (setup) => {
  for (const how of ['replace', 'replace in a transaction', 'update'] as const) {
    const change = async (world: World, engine: Awaited<ReturnType<typeof setUpOrders>>, id: number) => {
      const replace = { key: 'k', onConflict: 'replace' } as const;
      const { producer, admin, dataSource } = { ...engine, dataSource: world.dataSource };
      if (how === 'update') {
        expect(await admin.update(id, { payload: { n: 2 } })).toBe(true);
        if ((await admin.get(id))!.state === 'scheduled') await admin.promote(id);
      } else if (how === 'replace') await producer.enqueue('q', { n: 2 }, replace);
      else await dataSource.transaction((manager) => producer.enqueue('q', { n: 2 }, { ...replace, manager }));
    };

    it.each(ENDS)(`starts anew after ${how}, if its old run %s`, async (end) => {
      const world = await setup();
      const orders = await setUpOrders(world);
      const { admin, events, charged, children, first } = orders;
      const id = await first(end);

      await change(world, orders, id);
      await events.until('completed', { jobId: id });

      expect(charged.map(({ n }) => n)).toEqual([1, 2]);
      expect(charged[0]!.key).not.toBe(charged[1]!.key);
      expect(children).toEqual([]);
      expect((await admin.logs(id)).lines.map(({ line }) => line)).toEqual(['charged 2']);
      expect(await admin.get(id)).toMatchObject({ state: 'completed', result: 2, attempt: 1, errors: [] });
    });

    it(`ends the flow of its old run after ${how}`, async () => {
      const world = await setup();
      const orders = await setUpOrders(world);
      const { admin, events, first } = orders;
      const id = await first('fans out');

      await change(world, orders, id);
      await events.until('completed', { jobId: id });

      expect((await admin.flows({ state: 'running' })).flows).toEqual([]);
    });
  }

  it('waits for its time after replace, although its old run has waited for a signal that comes', async () => {
    const world = await setup();
    const { producer, admin, first, charged } = await setUpOrders(world);
    const id = await first('waits');

    await producer.enqueue('q', { n: 2 }, { key: 'k', onConflict: 'replace', delay: '1h' });
    await producer.signal('go', 'k');

    expect(await admin.get(id)).toMatchObject({ state: 'scheduled' });
    expect(charged).toMatchObject([{ n: 1 }]);
  });

  it('keeps all of its old run if the transaction of replace rolls back', async () => {
    const world = await setup();
    const { producer, first } = await setUpOrders(world);
    const id = await first('waits');

    const replaced = world.dataSource.transaction(async (manager) => {
      await producer.enqueue('q', { n: 2 }, { key: 'k', onConflict: 'replace', manager });
      throw new Error('roll back');
    });

    await expect(replaced).rejects.toThrow('roll back');
    expect(await rowsOf(world, 'steps', id)).toBe(2);
    expect(await rowsOf(world, 'logs', id)).toBe(1);
  });

  it('is due after update, if its old run has slept, or has waited for a signal', async () => {
    const world = await setup();
    const { admin, events, first } = await setUpOrders(world);
    const id = await first('sleeps');

    await admin.update(id, { payload: { n: 2 } });

    await events.until('completed', { jobId: id });
  });

  it('goes on after its old steps after update with keepSteps', async () => {
    const world = await setup();
    const { admin, events, first, charged } = await setUpOrders(world);
    const id = await first('fails');

    await admin.update(id, { payload: { n: 2 }, keepSteps: true });
    await admin.promote(id);
    const { result, attempt } = await events.until('completed', { jobId: id });

    expect({ result, attempt }).toEqual({ result: 2, attempt: 2 });
    expect(charged).toMatchObject([{ n: 1 }]);
  });
});

// SQLite has one writer, so no job runs beside the transaction.
describeEngines(
  'a job with a new payload, which an update in a transaction has set,',
  (setup) => {
    it.each(['READ COMMITTED', 'REPEATABLE READ'] as const)(
      'starts anew although its old run came after the snapshot of the transaction (%s)',
      async (isolation) => {
        const world = await setup();
        const { admin, events, charged, first } = await setUpOrders(world);

        const id = await world.dataSource.transaction(isolation, async (manager) => {
          await manager.query('SELECT COUNT(*) FROM sql_queue_steps');
          const job = await first('sleeps');
          expect(await admin.update(job, { payload: { n: 2 } }, { manager })).toBe(true);
          return job;
        });
        const { result } = await events.until('completed', { jobId: id });

        expect(result).toBe(2);
        expect(charged.map(({ n }) => n)).toEqual([1, 2]);
        expect(charged[0]!.key).not.toBe(charged[1]!.key);
      },
    );
  },
  ['mysql', 'mariadb'],
);

describeEngines('a finished job', (setup) => {
  it('starts anew if it was completed: its steps run again, with other keys', async () => {
    const world = await setup();
    const { producer, admin, events, charged } = await setUpOrders(world);
    const { id } = await producer.enqueue('q', { n: 1 });
    await events.until('completed');

    expect(await admin.retry(id, { completed: true })).toBe(1);
    await events.untilCount(2, 'completed');

    expect(charged.map(({ n }) => n)).toEqual([1, 1]);
    expect(charged[0]!.key).not.toBe(charged[1]!.key);
    expect((await admin.logs(id)).lines).toHaveLength(1);
  });

  it('goes on after its last step if it is dead, but starts anew in another queue', async () => {
    const world = await setup();
    const runs: string[] = [];
    const handler = async (job: JobContext) => {
      await job.step('first', () => void runs.push(`first in ${job.queue}`));
      runs.push(`second in ${job.queue}`);
      if (runs.length < 4) job.discard('no');
    };
    const { producer, admin, events } = await world.start({ handlers: { q: handler, other: handler } });
    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    await admin.retry(id);
    await events.untilCount(2, 'dead');
    await admin.retry(id, { to: 'other', create: true });
    await events.until('completed');

    expect(runs).toEqual(['first in q', 'second in q', 'second in q', 'first in other', 'second in other']);
  });

  it('of a flow keeps the results that it needs, and has no children of its first run, when it starts anew', async () => {
    const world = await setup();
    const seen: unknown[] = [];
    const { producer, admin, events } = await world.start({
      handlers: {
        part: (job) => job.payload,
        whole: async (job) => {
          await job.fanOut('part', [`child ${seen.length}`]);
          const results: unknown[] = [];
          for await (const { result } of job.children()) results.push(result);
          seen.push(results);
        },
      },
    });
    const { jobs } = await producer.flow((flow) => {
      const whole = flow.add('whole', 0);
      // Added later than the job that needs it.
      whole.after(flow.add('part', 'needed'));
    });
    const { id } = jobs[0]!;
    await events.until('completed', { jobId: id });

    await admin.retry(id, { completed: true });
    await events.untilCount(2, 'completed', { jobId: id });

    expect(seen).toEqual([
      ['needed', 'child 0'],
      ['needed', 'child 1'],
    ]);
  });

  it('that is removed leaves no step, log line, progress or stage', async () => {
    const world = await setup();
    const { producer, admin, consumer, events, first } = await setUpOrders(world);
    const idle = await first('sleeps');
    const { id: finished } = await producer.enqueue('q', { n: 2 });
    await events.until('completed', { jobId: finished });
    const { id: staged } = await producer.enqueue('people', 0);
    await consumer.claim('people', { owner: 'ann' });
    await consumer.move(staged, { owner: 'ann', stage: 'review' });

    await admin.remove([idle, finished, staged]);

    for (const table of TABLES)
      for (const id of [idle, finished, staged]) expect(await rowsOf(world, table, id), table).toBe(0);
  });
});
