import mysql2 from 'mysql2/promise';
import type { EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import type { EnqueueStatement } from '../../lib/producer/enqueued-job.js';
import { openProducer } from '../support/open-producer.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

const OPTIONS: [title: string, options: EnqueueOptions, queue?: QueueOptions][] = [
  ['no option', {}],
  ['a name', { name: 'welcome' }],
  ['a priority', { priority: -7 }],
  ['a delay', { delay: '90s' }],
  ['a time', { runAt: new Date(4e12) }],
  ['attempts', { retry: 7 }],
  ['a backoff', { retry: { attempts: 2, backoff: { type: 'exponential', delay: '1s', max: '1m' } } }],
  ['a timeout, an expiry and a lease', { timeout: '5s', expiresIn: '1h', lease: '2m' }],
  ['a retention', { retention: { completed: false, dead: '1d' } }],
  ['headers', { headers: { trace: `it's "é" \\ ?` } }],
  ['a group', { group: `tenant's 7 \\ ? é` }],
  ['a group and a delay', { group: 'a', delay: '1h' }],
  ['the defaults of its queue', {}, { jobDefaults: { priority: 3, delay: '1m', headers: { a: 'b' } } }],
  ['all options', { name: 'n', priority: 9, delay: 1, retry: 2, timeout: '1s', headers: { a: 'b' }, group: 'g' }],
];

const HOSTILE = [
  `', '{}'); DELETE FROM victim; -- `,
  `\\', '{}'); DELETE FROM victim; -- `,
  `" \\" \\\\" ); DELETE FROM victim; -- `,
  `? ?? :now {jobs} $1 @p1 \`jobs\` /* # -- \n\t\u0000\u001a`,
  ...['い', 'é', '日', '汁', 'ス', '😀', 'ā'].map((odd) => `${odd}'); DELETE FROM victim; -- `),
];

const GROUPS = { groups: {} } as const;

describeStores('the statement of a job', (setup) => {
  it.each(OPTIONS)('stores the row that enqueue() stores, with %s', async (_title, options, queueOptions = {}) => {
    const world = await setup();
    const producer = openProducer(world, () => ({ ...GROUPS, ...queueOptions }));
    const payload = { text: `it's "é" \\ ? 😀` };

    await producer.enqueue('q', payload, options);
    await send(world, await producer.enqueueStatement('q', payload, options));

    const [expected, stored] = await rowsOf(world);
    expect(stored).toEqual(expected);
    expect(expected).toMatchObject({ queue: 'q', payload: JSON.stringify(payload) });
  });

  it('stores one job when the transaction commits, and none when it rolls back', async () => {
    const world = await setup();
    const producer = openProducer(world);
    const committed = await producer.enqueueStatement('q', 'committed');
    const rolledBack = await producer.enqueueStatement('q', 'rolled back', { delay: 1 });

    await world.dataSource.transaction((manager) => manager.query(committed.sql, committed.values));
    const failed = world.dataSource.transaction(async (manager) => {
      await manager.query(rolledBack.sql, rolledBack.values);
      throw new Error('no');
    });

    await expect(failed).rejects.toThrow('no');
    expect((await world.claim({ limit: 9 })).jobs.map(({ payload }) => payload)).toEqual(['"committed"']);
    await world.jobs.promote(9);
    expect((await world.claim({ limit: 9 })).jobs).toEqual([]);
  });

  it('stores nothing until the caller sends it', async () => {
    const world = await setup();

    const { notify } = await openProducer(world).enqueueStatement('q', 0);
    notify();

    expect(await rowsOf(world)).toEqual([]);
  });

  it('makes a delayed job wait for its time', async () => {
    const world = await setup();
    await send(world, await openProducer(world).enqueueStatement('q', 0, { delay: '1h' }));

    world.advance(3_500_000);
    const early = await world.jobs.promote(9);
    world.advance(200_000);
    const due = await world.jobs.promote(9);

    expect([early.length, due.length]).toEqual([0, 1]);
    expect((await world.claim()).jobs).toHaveLength(1);
  });

  it('has one question mark for each value', async () => {
    const producer = openProducer(await setup(), () => GROUPS);

    for (const [, options] of OPTIONS) {
      const { sql, values } = await producer.enqueueStatement('q', HOSTILE, options);
      expect(sql.split('?')).toHaveLength(values.length + 1);
    }
  });

  it.each(HOSTILE)('stores %j unchanged, without other effects, as payload, header and group', async (text) => {
    const world = await setup();
    await recreateVictim(world);
    const producer = openProducer(world, () => GROUPS);
    const group = text.trim().slice(0, 100);

    await send(world, await producer.enqueueStatement('q', { [text]: text }, { headers: { text }, group }));

    const [row] = await rowsOf(world);
    expect(row).toMatchObject({ payload: JSON.stringify({ [text]: text }), headers: JSON.stringify({ text }) });
    expect(row).toMatchObject({ group_key: group });
    expect(await world.sql('SELECT id FROM victim')).toHaveLength(2);
  });

  it('is refused with a hostile name of a queue, a job or a header', async () => {
    const producer = openProducer(await setup());

    for (const text of HOSTILE) {
      const refused = { code: 'INVALID_OPTIONS' };
      await expect(producer.enqueueStatement(text as 'q', 0)).rejects.toMatchObject(refused);
      await expect(producer.enqueueStatement('q', 0, { name: text })).rejects.toMatchObject(refused);
      await expect(producer.enqueueStatement('q', 0, { headers: { [text]: '1' } })).rejects.toMatchObject(refused);
    }
  });

  it.each([
    ['a key', { key: 'k' }, 'expected no key, got one: an INSERT cannot find the owner of a key'],
    ['a key with a conflict rule', { key: 'k', onConflict: 'replace' }, 'expected no key, got one'],
    ['a subject', { subject: 'user:1' }, 'expected no subject, got one: a subject has a row of its own'],
    ['a manager', { manager: {} }, 'expected no manager, got one: enqueue() stores the job in its transaction'],
    ['a misspelt option', { prio: 1 }, 'unknown option'],
    ['a priority that no row can store', { priority: 40_000 }, 'expected priority'],
    ['a group in a queue without groups', { group: 'g' }, 'queue "q" has no groups'],
  ])('is refused with %s', async (_title, options, problem) => {
    const producer = openProducer(await setup());

    const error = await producer.enqueueStatement('q', 0, options as never).catch((each: unknown) => each);

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringContaining(problem) as string });
  });

  it('names the way out if a key or a subject is refused', async () => {
    const producer = openProducer(await setup());

    for (const options of [{ key: 'k' }, { subject: 's' }]) {
      await expect(producer.enqueueStatement('q', 0, options as never)).rejects.toThrow(
        /Store a job without it by the statement, and let its handler call enqueue\(\) with the (key|subject)/,
      );
    }
  });

  it('is refused by a producer with a manager', async () => {
    const world = await setup();
    const producer = openProducer(world);

    const refused = await world.dataSource.transaction((manager) =>
      producer
        .withManager(manager)
        .enqueueStatement('q', 0)
        .catch((error: unknown) => error),
    );

    expect(refused).toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('is refused with a payload that enqueue() refuses', async () => {
    const producer = openProducer(await setup(), () => ({ maxPayloadBytes: 100 }));

    await expect(producer.enqueueStatement('q', new Map())).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' });
    await expect(producer.enqueueStatement('q', 'x'.repeat(99))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('is refused while maxWaiting jobs wait, and counts as one of them', async () => {
    const world = await setup();
    await world.put({}, {});
    const producer = openProducer(world, () => ({ maxWaiting: 3 }));

    await send(world, await producer.enqueueStatement('q', 0));

    await expect(producer.enqueueStatement('q', 0)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(await producer.enqueueStatement('q', 0, { delay: '1h' })).toMatchObject({ notify: expect.any(Function) });
  });
});

describeStoresOf(['mysql', 'mariadb'], 'the statement of a job', (setup) => {
  it.each(OPTIONS)('stores the row that enqueue() stores if the server prepares it, with %s', async (_, options) => {
    const world = await setup();
    const producer = openProducer(world, () => GROUPS);
    const connection = await mysql2.createConnection((world.dataSource.options as { url: string }).url);

    await producer.enqueue('q', HOSTILE, options);
    const { sql, values } = await producer.enqueueStatement('q', HOSTILE, options);
    try {
      await connection.execute(sql, values);
    } finally {
      await connection.end();
    }

    const [expected, stored] = await rowsOf(world);
    expect(stored).toEqual(expected);
  });

  it.each([
    ...['gbk', 'sjis', 'big5', 'cp932', 'latin1', 'utf8mb3'].map((charset) => `SET NAMES ${charset}`),
    `SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'`,
    `SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'`,
  ])('is stored unchanged, without other effects, in a session after %s', async (setting) => {
    const world = await setup();
    await recreateVictim(world);
    const producer = openProducer(world, () => GROUPS);
    const texts = HOSTILE.map((text) => [text, text.trim().slice(0, 100)] as const);

    const connection = await mysql2.createConnection({
      uri: (world.dataSource.options as { url: string }).url,
      multipleStatements: true,
    });
    try {
      await connection.query(setting);
      for (const [text, group] of texts) {
        const { sql, values } = await producer.enqueueStatement('q', text, { headers: { text }, group });
        await connection.query(sql, values);
      }
    } finally {
      await connection.end();
    }

    expect(await rowsOf(world)).toMatchObject(
      texts.map(([text, group]) => ({
        ...{ payload: JSON.stringify(text), headers: JSON.stringify({ text }), group_key: group },
      })),
    );
    expect(await world.sql('SELECT id FROM victim')).toHaveLength(2);
  });
});

function send({ sql: run }: World, { sql, values }: EnqueueStatement): Promise<unknown> {
  return run(sql, values);
}

/** All columns but the id and the times, in the order of the ids; a delay in place of the due time. */
async function rowsOf({ sql }: World): Promise<Record<string, unknown>[]> {
  const rows = await sql<Record<string, unknown>>('SELECT * FROM sql_queue_jobs ORDER BY id');
  return rows.map(({ id: _id, created_at: createdAt, run_at: runAt, ...rest }) => {
    const delay = runAt === null ? null : Number(runAt) - Number(createdAt);
    // An absolute time is compared as it is stored.
    return { ...rest, due: delay !== null && delay > 1e10 ? Number(runAt) : delay };
  });
}

async function recreateVictim({ sql }: World): Promise<void> {
  await sql('DROP TABLE IF EXISTS victim');
  await sql('CREATE TABLE victim (id INT)');
  await sql('INSERT INTO victim VALUES (1), (2)');
}
