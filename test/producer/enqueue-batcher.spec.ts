import { describeEngines, gate, connectionThrough, type World } from '../support/engines.js';
import { interceptingDriver, type StatementListener } from '../support/intercepting-driver.js';
import { interfereOnce, WireProxy, type ProxyAction } from '../support/wire-proxy.js';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describeEngines('concurrent calls of enqueue()', (setup) => {
  it('return the ids of their own jobs', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });

    const jobs = await Promise.all(numbers(50).map((n) => producer.enqueue(`q${n % 3}`, { n }, { name: `n${n}` })));

    expect(new Set(jobs.map(({ id }) => id)).size).toBe(50);
    for (const [n, { id, queue, name }] of jobs.entries()) {
      expect(await admin.get(id)).toMatchObject({ queue, name, payload: { n }, state: 'waiting' });
      expect([queue, name]).toEqual([`q${n % 3}`, `n${n}`]);
    }
    expect(await stored(world)).toHaveLength(50);
  });

  it('return the ids in the order of the jobs if each call stores several', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });

    const calls = await Promise.all(
      numbers(20).map((caller) =>
        producer.enqueueMany(
          'q',
          numbers(30).map((n) => ({ payload: [caller, n] })),
        ),
      ),
    );

    const payloads = new Map((await stored(world)).map(({ id, payload }) => [Number(id), payload]));
    for (const [caller, jobs] of calls.entries()) {
      expect(jobs.map(({ id }) => payloads.get(id))).toEqual(numbers(30).map((n) => `[${caller},${n}]`));
      expect(jobs.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id).sort((a, b) => a - b));
    }
    expect(payloads.size).toBe(600);
  });

  it('keep the due time of each call', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    const runAt = new Date((await world.now()) + 3_600_000);

    const [now, later, at] = await Promise.all([
      producer.enqueue('q', 0),
      producer.enqueue('q', 0, { delay: '1h', priority: 3, retry: 7 }),
      producer.enqueue('q', 0, { runAt, headers: { trace: 't' } }),
    ]);

    expect(await admin.get(now.id)).toMatchObject({ state: 'waiting', runAt: null, priority: 0, maxAttempts: null });
    expect(await admin.get(later.id)).toMatchObject({ state: 'scheduled', priority: 3, maxAttempts: 7 });
    expect(await admin.get(at.id)).toMatchObject({ state: 'scheduled', runAt, headers: { trace: 't' } });
  });

  it('notify the workers of each of their queues', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { a: () => 'a', b: () => 'b' },
    });

    const jobs = await Promise.all(numbers(10).map((n) => producer.enqueue(n % 2 ? 'a' : 'b', n)));
    await events.untilCount(10, 'completed');

    expect(new Set(events.jobs('completed'))).toEqual(new Set(jobs.map(({ id }) => id)));
  });

  it('fail alone: a call that the database rejects fails none of the others', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await refuse(world, 'refused');

    const single = numbers(30).map((n) => producer.enqueue('q', n === 11 ? 'refused' : n));
    const many = producer.enqueueMany('q', [{ payload: 'with it' }, { payload: 'refused' }, { payload: 'with it' }]);
    const answers = await Promise.allSettled([...single, many]);

    const failed = answers.flatMap((answer, n) => (answer.status === 'rejected' ? [n] : []));
    expect(failed).toEqual([11, 30]);
    for (const n of failed) {
      expect(answers[n]).toMatchObject({
        reason: { message: expect.stringContaining('refused by the test') as string },
      });
    }
    for (const [n, answer] of answers.slice(0, 30).entries()) {
      if (answer.status === 'fulfilled')
        expect(await admin.get((answer.value as { id: number }).id)).toMatchObject({ payload: n });
    }
    expect((await stored(world)).map(({ payload }) => payload).sort()).toEqual(
      numbers(30)
        .filter((n) => n !== 11)
        .map(String)
        .sort(),
    );
    expect(await producer.enqueue('q', 'and on it goes')).toMatchObject({ queue: 'q' });
  });

  it('fail alone before any SQL if their options or payload are invalid', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });

    const answers = await Promise.allSettled([
      producer.enqueue('q', 'fine'),
      producer.enqueue('q', 0, { priority: 0.5 }),
      producer.enqueue('q', () => 'no JSON'),
      producer.enqueue('no name', 0),
      producer.enqueueMany('q', [{ payload: 'not alone' }, { payload: 1n }]),
      producer.enqueue('q', 'fine, too'),
    ]);

    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, false, false, true]);
    expect((await stored(world)).map(({ payload }) => payload)).toEqual(['"fine"', '"fine, too"']);
  });

  it('do not include calls in a transaction, which roll back with it', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    let others: Promise<unknown> | undefined;

    const work = world.dataSource.transaction(async (manager) => {
      const own = [producer.enqueue('q', 'in it', { manager }), producer.withManager(manager).enqueue('q', 'in it')];
      others = Promise.all(numbers(10).map((n) => producer.enqueue('q', n)));
      await Promise.all(own);
      throw new Error('roll back');
    });

    await expect(work).rejects.toThrow('roll back');
    await others;
    expect((await stored(world)).map(({ payload }) => Number(payload)).sort((a, b) => a - b)).toEqual(numbers(10));
  });

  it('include calls in a transaction that commits, each stored once', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    const others: Promise<unknown>[] = [];

    await world.dataSource.transaction(async (manager) => {
      const ofIt = producer.withManager(manager);
      others.push(...numbers(5).map((n) => producer.enqueue('q', n)));
      for (const n of numbers(5)) await ofIt.enqueue('q', 5 + n);
    });
    await Promise.all(others);

    expect((await stored(world)).map(({ payload }) => Number(payload)).sort((a, b) => a - b)).toEqual(numbers(10));
  });
});

describeEngines(
  'calls of enqueue() on a server',
  (setup) => {
    it('share one or two statements and commits if they are concurrent', async () => {
      // The first check for listeners commits a transaction of its own.
      const storing = new Set<unknown>();
      let commits = 0;
      const { world, sent, producer } = await recorded(await setup(), async (sql, _ask, connection) => {
        if (isInsert(sql)) storing.add(connection);
        else if (sql.startsWith('COMMIT') && storing.delete(connection)) commits++;
      });

      await Promise.all(numbers(50).map((n) => producer.enqueue('q', n)));

      expect(sent.filter(isInsert).length).toBeLessThanOrEqual(2);
      expect([1, 2]).toContain(commits);
      expect(await stored(world)).toHaveLength(50);
    });

    it('wait for the flush under way, and share the next one', async () => {
      const holding = gate();
      const { open, opened } = gate();
      let isFirst = true;
      const { sent, producer } = await recorded(await setup(), async (sql) => {
        if (!isInsert(sql) || !isFirst) return;
        isFirst = false;
        holding.open();
        await opened;
      });

      const first = producer.enqueue('q', 'first');
      await holding.opened;
      const others = numbers(15).map((n) => producer.enqueue('q', n));
      open();
      await Promise.all([first, ...others]);

      expect(sent.filter(isInsert).map(jobsIn)).toEqual([1, 15]);
    });

    it('share statements of limited size if they have many jobs, or large ones', async () => {
      const { world, sent, producer } = await recorded(await setup());
      const large = 'x'.repeat(100_000);

      await Promise.all([
        ...numbers(6).map(() => producer.enqueue('q', large)),
        producer.enqueueMany(
          'q',
          numbers(501).map((n) => ({ payload: `many ${n}` })),
        ),
        ...numbers(4).map(() =>
          producer.enqueueMany(
            'q',
            numbers(200).map((n) => ({ payload: `some ${n}` })),
          ),
        ),
        producer.enqueue('q', large.repeat(4)),
      ]);

      const inserts = sent.filter(isInsert);
      expect(inserts.filter((sql) => sql.includes('"many ')).map((sql) => /some |xxx/.test(sql))).toEqual([false]);
      expect(Math.max(...inserts.map(jobsIn))).toBe(501);
      const lengths = inserts.map(({ length }) => length).sort((a, b) => b - a);
      expect(lengths[0]).toBeLessThan(500_000);
      expect(lengths[1]).toBeLessThan(350_000);
      expect(await stored(world)).toHaveLength(6 + 501 + 800 + 1);
    });

    it.each<ProxyAction>(['unanswered', 'cut'])(
      'take effect once if the answer to their statement is lost (%s)',
      async (fate) => {
        const world = await setup();
        const proxy = await WireProxy.open((world.connection as { url: string }).url);
        const dataSource = await world.connect(connectionThrough(world.connection, proxy.port));
        world.afterTest(() => proxy.close());
        const { producer } = await world.start({ dataSource, autoStart: false });
        const writing = interfereOnce(proxy, fate, ({ sql }) => isInsert(sql));

        const jobs = await Promise.all(numbers(10).map((n) => producer.enqueue('q', n)));
        await writing.interfered;

        expect(jobs).toHaveLength(10);
        expect(await stored(world)).toHaveLength(10);
      },
    );

    it('all reject during an outage of the database, and later calls are stored', async () => {
      const world = await setup();
      const away = await WireProxy.open((world.connection as { url: string }).url);
      const dataSource = await world.connect(connectionThrough(world.connection, away.port));
      world.afterTest(() => away.close());
      const { producer } = await world.start({ dataSource, autoStart: false });

      away.onStatement(() => 'cut');
      const answers = await Promise.allSettled(numbers(10).map((n) => producer.enqueue('q', n)));
      away.onStatement(() => 'pass');
      await producer.enqueue('q', 'back');

      expect(answers.map(({ status }) => status)).toEqual(numbers(10).map(() => 'rejected'));
      expect((await stored(world)).map(({ payload }) => payload)).toEqual(['"back"']);
    });
  },
  ['mysql', 'mariadb'],
);

function isInsert(sql: string): boolean {
  return sql.includes('INSERT INTO sql_queue_jobs');
}

/** Returns how many rows the statement stores in queue `q`. */
function jobsIn(sql: string): number {
  return sql.match(/\('q', /g)!.length;
}

async function recorded(world: World, listen: StatementListener = () => Promise.resolve()) {
  const sent: string[] = [];
  const driver = interceptingDriver(async (sql, ask, connection) => {
    sent.push(sql);
    await listen(sql, ask, connection);
  });
  const dataSource = await world.connect({ driver });
  const { producer } = await world.start({ dataSource, autoStart: false });
  // Statements of the start do not count.
  sent.length = 0;
  return { world, sent, producer };
}

function stored({ sql }: World): Promise<{ id: number; payload: string }[]> {
  return sql('SELECT id, payload FROM sql_queue_jobs ORDER BY id');
}

async function refuse({ sql, server }: World, payload: string): Promise<void> {
  const refused = `NEW.payload = '"${payload}"'`;
  await sql(
    server.name === 'sqlite'
      ? `CREATE TRIGGER refuse BEFORE INSERT ON sql_queue_jobs WHEN ${refused}
         BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`
      : `CREATE TRIGGER refuse BEFORE INSERT ON sql_queue_jobs FOR EACH ROW
         IF ${refused} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused by the test'; END IF`,
  );
}
