import { archivedTo } from '../support/archives.js';
import { claimFrom, finalBatchOf, outcomes, rescueRules } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const archives = archivedTo('kept_reused');

/** Writes the history row of an earlier job with the same id. */
function insertOldHistory({ sql }: Pick<World, 'sql'>, id: number): Promise<unknown> {
  return sql(`INSERT INTO sql_queue_history (id, queue, name, state, priority, attempt, worker_id, created_at, finished_at,
                                             expires_at, payload)
              VALUES (${id}, 'old', 'old', 'completed', 0, 9, 'old', 1, 2, 9000000000000000, '"old"')`);
}

const later = { ...outcomes.complete, result: '"done"' };

describeStores('a job with the id of an earlier job', (setup) => {
  it.each([
    ['completes', outcomes.complete, 'completed'],
    ['completes with a result', later, 'completed'],
    ['dies', outcomes.dead, 'dead'],
    ['is cancelled while it runs', outcomes.cancel, 'cancelled'],
  ])('%s, and replaces the history row of the earlier job', async (_, outcome, state) => {
    const world = await setup();
    const { put, claim, jobs, admin } = world;
    const ids = await put(...Array.from({ length: 10 }, () => ({ payload: '"new"' })));
    for (const id of ids.slice(0, 4)) await insertOldHistory(world, id);

    const { lost } = await jobs.complete(finalBatchOf(await claim({ limit: 10 }), outcome));

    expect([...lost]).toEqual([]);
    const records = (await admin.find({}, { order: 'oldest', limit: 20 })).jobs;
    expect(records.map(({ id, queue, payload, ...job }) => [id, queue, payload, job.state])).toEqual(
      ids.map((id) => [id, 'q', 'new', state]),
    );
  });

  it('is cancelled while it waits', async () => {
    const world = await setup();
    const [id] = await world.put({ payload: '"new"' });
    await insertOldHistory(world, id!);

    const answer = await world.admin.cancel(id!, () => 60_000);

    expect(answer).toEqual({ state: 'cancelled' });
    expect(await world.admin.get(id!)).toMatchObject({ state: 'cancelled', payload: 'new' });
  });

  it('dies when its lease has expired, and makes a dead letter', async () => {
    const world = await setup();
    const [id] = await world.put({ payload: '"new"' });
    await insertOldHistory(world, id!);
    await world.claim({ leaseMs: 1_000, deadLetter: 'letters' });

    world.advance(1_001);
    await world.jobs.rescue(rescueRules({ decide: () => outcomes.dead }));

    expect(await world.admin.get(id!)).toMatchObject({ state: 'dead', payload: 'new' });
    expect(await world.admin.counts('letters')).toMatchObject({ waiting: 1 });
  });

  it('is completed by its owner', async () => {
    const world = await setup();
    const [id] = await world.put({ payload: '"new"' });
    await insertOldHistory(world, id!);
    const assignee = { workerId: 'w', owner: 'ann', leaseMs: null };
    await world.consumer.assign(id!, assignee, 'anyone', () => ({ maxAttempts: 3, deadLetter: false }));

    await world.consumer.end(id!, { owner: 'ann' }, () => ({ outcome: later, retentionMs: 60_000 }));

    expect(await world.admin.get(id!)).toMatchObject({ state: 'completed', payload: 'new', result: 'done' });
  });

  it('completes in its handler’s transaction', async () => {
    const world = await setup();
    const [id] = await world.put({ payload: '"new"' });
    await insertOldHistory(world, id!);
    const { completions } = finalBatchOf(await world.claim());

    await world.jobs.completeWith(() => Promise.resolve({ value: 1, completion: completions[0]! }));

    expect(await world.admin.get(id!)).toMatchObject({ state: 'completed', payload: 'new' });
  });

  it('is completed once: a second outcome is lost, and the history row stays', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();
    await jobs.complete(finalBatchOf(taken, outcomes.complete));

    const { lost } = await jobs.complete(finalBatchOf(taken, outcomes.dead));

    expect(lost.size).toBe(1);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('stays in the history if the archive contains the earlier job, without an effect on other jobs', async () => {
    const world = await setup();
    await world.sql('DROP TABLE IF EXISTS kept_reused');
    const { jobs } = await world.open({ archives });
    const [first, second] = await world.put({ payload: '"old"' }, {});
    await jobs.complete(finalBatchOf(await world.claim(), outcomes.complete, { retentionMs: 0 }));
    world.advance(1);
    await jobs.prune(10);
    await world.sql(`INSERT INTO sql_queue_jobs (id, queue, payload) VALUES (${first!}, 'q', '"new"')`);
    for (let taken = await world.claim({ limit: 2 }); taken.jobs.length > 0; taken = await world.claim({ limit: 2 }))
      await jobs.complete(finalBatchOf(taken, outcomes.complete, { retentionMs: 0 }));
    world.advance(1);

    await jobs.prune(10);
    const more = await jobs.prune(10);

    expect(more).toBe(0);
    expect(await world.admin.get(first!)).toMatchObject({ payload: 'new' });
    const kept = await world.sql<{ id: unknown; payload: string }>('SELECT id, payload FROM kept_reused ORDER BY id');
    expect(kept.map(({ id, payload }) => [Number(id), payload])).toEqual([
      [first, '"old"'],
      [second, 'null'],
    ]);
  });
});

describeStores('restarted ids', (setup, { server, inMemory }) => {
  const prefix = 'reused_';
  const tables = (name: string) => `${prefix}${name}`;

  /** Fills a queue with 20 jobs, then restarts its ids. */
  async function restarted(world: World, outcome: 'completed' | 'waiting' = 'completed') {
    for (const name of ['jobs', 'claims', 'history', 'progress', 'logs', 'stages', 'keys', 'waits'])
      await world.open({ prefix }).then(() => world.sql(`DELETE FROM ${tables(name)}`));
    const { jobs } = await world.open({ prefix });
    const ids = await jobs.enqueue(Array.from({ length: 20 }, () => plain));
    if (outcome === 'completed') {
      const taken = await claimFrom(jobs, {
        limit: 20,
        strategy: inMemory || server.name === 'sqlite' ? 'update' : 'skip-locked',
      });
      await jobs.complete(finalBatchOf(taken));
    }
    await startAgain(world);
    return ids.at(-1)!;
  }

  async function startAgain({ sql }: World) {
    if (server.name !== 'sqlite') return sql(`TRUNCATE TABLE ${tables('jobs')}`);
    await sql(`DELETE FROM ${tables('jobs')}`);
    return sql(`DELETE FROM sqlite_sequence WHERE name = '${tables('jobs')}'`);
  }

  const plain = {
    ...{ queue: 'q', name: 'default', payload: 'null', priority: 0, delayMs: null, runAtMs: null },
    ...{ maxAttempts: null, headers: null, overrides: null },
  };

  it.each(['run', 'check', 'off'] as const)('are raised at boot beyond the history (migrate: %s)', async (migrate) => {
    const world = await setup();
    const last = await restarted(world);

    const { jobs, notices } = await world.open({ prefix, migrate });

    const [id] = await jobs.enqueue([plain]);
    expect(id).toBeGreaterThan(last);
    expect(notices).toEqual([expect.stringMatching(new RegExp(`ids.*${tables('jobs')}.*${last}`, 's'))]);
  });

  it.each([
    ['progress', '(job_id, lines_logged, updated_at, expires_at) VALUES (500, 0, 1, 1)'],
    ['logs', `(job_id, number, logged_at, line) VALUES (500, 1, 1, 'x')`],
    ['stages', `(job_id, queue, stage, priority) VALUES (500, 'q', 'review', 0)`],
    ['keys', `(queue, key_hash, job_id, kept_until) VALUES ('q', 'x', 500, 1)`],
  ])('are raised at boot beyond the rows of %s', async (table, row) => {
    const world = await setup();
    await restarted(world, 'waiting');
    await world.sql(`INSERT INTO ${tables(table)} ${row}`);

    const { jobs } = await world.open({ prefix });

    expect((await jobs.enqueue([plain]))[0]).toBe(501);
  });

  it('are not raised beyond awaited ids, or ids near the safe integers', async () => {
    const world = await setup();
    const last = await restarted(world);
    await world.sql(`INSERT INTO ${tables('waits')} (waiter, job_id, expires_at) VALUES (1, 900, 1)`);
    await world.sql(`INSERT INTO ${tables('progress')} (job_id, lines_logged, updated_at, expires_at)
                     VALUES (9007199254740990, 0, 1, 1)`);

    const { jobs } = await world.open({ prefix });

    expect(await jobs.enqueue([plain])).toEqual([last + 1]);
  });

  it('are raised beyond every archive', async () => {
    const world = await setup();
    await restarted(world, 'waiting');
    for (const table of ['kept_reused', 'kept_elsewhere']) await world.sql(`DROP TABLE IF EXISTS ${table}`);
    const both = { tables: ['kept_reused', 'kept_elsewhere'], tableOf: () => undefined };
    await world.open({ prefix, archives: both });
    await world.sql(`INSERT INTO kept_elsewhere (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload)
                     VALUES (700, 'q', 'default', 'completed', 0, 1, 1, 1, 1, 'null')`);

    const { jobs } = await world.open({ prefix, archives: both });

    expect((await jobs.enqueue([plain]))[0]).toBe(701);
  });

  it('are raised once by any number of booting processes, and leave no extra job', async () => {
    const world = await setup();
    const last = await restarted(world);

    const opened = await Promise.all(Array.from({ length: 4 }, () => world.open({ prefix })));
    const ids = (await Promise.all(opened.map(({ jobs }) => jobs.enqueue([plain])))).flat();

    expect(Math.min(...ids)).toBeGreaterThan(last);
    expect(new Set(ids).size).toBe(4);
    expect(await world.sql(`SELECT id FROM ${tables('jobs')}`)).toHaveLength(4);
  });

  it('are unchanged if they are beyond all old ids', async () => {
    const world = await setup();
    const { jobs } = await world.open({ prefix });
    const [before] = await jobs.enqueue([plain]);

    const { jobs: again, notices } = await world.open({ prefix });
    const [after] = await again.enqueue([plain]);

    expect(notices).toEqual([]);
    expect(after).toBe(before! + 1);
  });
});
