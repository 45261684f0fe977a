import type { EntityManager } from 'typeorm';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { MALFORMED_VALUES, columnsOf, isHarmless, VALID_ROWS, type Column } from '../support/malformed-rows.js';

const STANDINGS = ['waiting', 'scheduled', 'claimed', 'unlisted'] as const;
type Standing = (typeof STANDINGS)[number];

const VALID_JOBS = 3;
const LAST_ID = '9223372036854775807';

/** The columns of valid jobs with this standing, except their ids. */
function jobColumns(standing: Standing, claimId: number, now: number): Record<string, string | number> {
  const job = { queue: `'q'`, payload: `'null'`, created_at: now, max_attempts: 3 };
  switch (standing) {
    case 'waiting':
      return { ...job, state: `'waiting'`, runnable: 1 };
    case 'scheduled':
      return { ...job, state: `'scheduled'`, runnable: 0, run_at: now - 1_000 };
    default:
      return { ...job, state: `'active'`, runnable: 1, attempt: 1, claim_id: claimId };
  }
}

let nextId = 1;

/** Inserts jobs with this standing, malformed ones first, and returns their ids. */
async function put(
  manager: EntityManager,
  standing: Standing,
  now: number,
  count: number,
): Promise<{ ids: number[]; claimId: number }> {
  const ids = Array.from({ length: count }, () => nextId++);
  const claimId = nextId++;
  const columns = { id: 0, ...jobColumns(standing, claimId, now) };
  const rows = ids.map((id) => `(${Object.values({ ...columns, id }).join(', ')})`);
  await manager.query(`INSERT INTO sql_queue_jobs (${Object.keys(columns).join(', ')}) VALUES ${rows.join(', ')}`);
  if (standing === 'claimed' || standing === 'unlisted') {
    const listed = standing === 'claimed' ? JSON.stringify(ids) : '[';
    await manager.query(`INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at)
                         VALUES (${claimId}, 'gone', 'q', '${listed}', ${count}, 1000, ${now - 1}, ${now - 1_001})`);
  }
  return { ids, claimId };
}

/** Writes the value into the column, if the server accepts it there. */
async function write(
  manager: EntityManager,
  table: string,
  { name }: Column,
  value: string,
  where: string,
): Promise<boolean> {
  try {
    await manager.query(`UPDATE ${table} SET ${name} = ${value} WHERE ${where}`);
    return true;
  } catch {
    return false;
  }
}

/** The maximum number of checks. A condition that never holds then counts as a problem like any other. */
const MAX_CHECKS = 300;
/** For a check without a query. */
const MAX_FAST_CHECKS = 6_000;

async function becomesTrue(check: () => Promise<boolean> | boolean, maxChecks = MAX_CHECKS): Promise<boolean> {
  let checks = 0;
  let isTrue = false;
  await eventually(async () => (isTrue = await check()) || ++checks === maxChecks);
  return isTrue;
}

/** All reads of the admin and the consumer. */
async function readEverything(engine: Awaited<ReturnType<World['start']>>): Promise<void> {
  const { admin, consumer } = engine;
  for (const state of [undefined, 'waiting', 'scheduled', 'active', 'completed', 'dead', 'cancelled'] as const)
    await admin.find(state === undefined ? {} : { state }, { limit: 100 });
  await admin.find({ queue: 'q' });
  await Promise.all([admin.counts(), admin.counts('q'), admin.queues(), admin.workers(), admin.subscriptions()]);
  await Promise.all([consumer.unassigned('q'), consumer.inStage('q', 'review'), consumer.assigned('ann')]);
}

/** The periodic maintenance of a worker. */
async function upkeep({ store, queueStore }: Awaited<ReturnType<World['start']>>): Promise<void> {
  await store.prune(100);
  await store.cleanUp(100);
  await store.pruneKeys(100);
  await queueStore.expire();
}

describeEngines('a malformed row of a job', (setup, { name }) => {
  const strategies = name === 'sqlite' ? (['update'] as const) : (['skip-locked', 'update'] as const);
  it.each(strategies)(
    'is dead with an error that names its column, or is harmless, and affects no other job (claims by %s)',
    async (claim) => {
      const world = await setup();
      const done = new Set<number>();
      const handlers = { q: ({ id }: JobContext) => void done.add(id) };
      const engine = await world.start({ queues: { q: { claim } }, handlers });
      const unhandled: unknown[] = [];
      const onUnhandled = (error: unknown) => void unhandled.push(error);
      process.on('unhandledRejection', onUnhandled);
      world.afterTest(() => process.off('unhandledRejection', onUnhandled));
      const problems: string[] = [];

      for (const column of await columnsOf(world, 'sql_queue_jobs')) {
        const innocent: number[] = [];
        const malformed = new Map<number, { value: string; standing: Standing }>();
        const mustDie = (id: number) =>
          malformed.has(id) && !isHarmless(column.name, malformed.get(id)!.value, malformed.get(id)!.standing);
        const now = await world.now();
        for (const standing of STANDINGS) {
          await world.dataSource.transaction(async (manager) => {
            const values = MALFORMED_VALUES[column.kind];
            const { ids } = await put(manager, standing, now, values.length + VALID_JOBS);
            for (const [index, value] of values.entries()) {
              const id = ids[index]!;
              if (await write(manager, 'sql_queue_jobs', column, value, `id = ${id}`))
                malformed.set(id, { value, standing });
            }
            innocent.push(...ids.filter((id) => !malformed.has(id)));
          });
        }

        const late = () => innocent.filter((id) => !done.has(id));
        if (!(await becomesTrue(() => late().length === 0, MAX_FAST_CHECKS)))
          problems.push(`${column.name}: innocent jobs wait: ${late().join()}`);
        await becomesTrue(async () => {
          await upkeep(engine);
          const remaining = await world.sql<{ id: number }>('SELECT id FROM sql_queue_jobs');
          return remaining.every(({ id }) => malformed.has(Number(id)) && !mustDie(Number(id)));
        });
        await readEverything(engine);

        for (const [id, { value, standing }] of malformed) {
          if (!mustDie(id)) continue;
          const record = await engine.admin.get(id);
          const isDead = record?.state === 'dead' && record.error?.message.toLowerCase().includes(column.name);
          if (!isDead)
            problems.push(`${column.name} = ${value}, ${standing}: ${record?.state} ${record?.error?.message}`);
        }
        await world.sql('DELETE FROM sql_queue_jobs');
      }

      const warnings = engine.log.filter(
        (line) => /^(warn|error)/.test(line) && !/Rescued|lease of job|is dead after/.test(line),
      );
      expect([...problems, ...new Set(warnings)]).toEqual([]);
      expect(unhandled).toEqual([]);
    },
  );
});

describeEngines('a malformed row of any other table', (setup) => {
  it.each(Object.keys(VALID_ROWS))('(%s) affects no job, no call and no maintenance', async (table) => {
    const world = await setup();
    const done = new Set<number>();
    const queues = { q: { events: true } };
    const handle = (job: JobContext) => {
      job.progress(1);
      job.log('here');
      done.add(job.id);
    };
    const engine = await world.start({ queues, handlers: { q: handle, copies: handle } });
    await engine.listenAnywhere();
    const problems: string[] = [];
    let id = 1_000_000;

    for (const column of await columnsOf(world, `sql_queue_${table}`)) {
      const now = await world.now();
      for (const value of badValues(table, column)) {
        await world.dataSource
          .transaction((manager) => insert(manager, table, { ...VALID_ROWS[table]!(++id, now), [column.name]: value }))
          .catch(() => undefined);
      }

      try {
        await everyCall(engine, `${table}.${column.name}`);
        await upkeep(engine);
        await readEverything(engine);
      } catch (error) {
        problems.push(`${column.name}: ${String(error).slice(0, 300)}`);
      }
      await world.sql(`DELETE FROM sql_queue_${table} WHERE ${column.name} IS NOT NULL OR 1 = 1`);
    }

    const warnings = engine.log.filter((line) => /^(warn|error)/.test(line));
    expect([...problems, ...new Set(warnings)]).toEqual([]);
  });
});

// The last possible id exhausts the counter: the server then rejects every further INSERT.
function badValues(table: string, { name, kind }: Column): readonly string[] {
  return MALFORMED_VALUES[kind].filter((value) => !(table === 'events' && name === 'id' && value === LAST_ID));
}

async function insert(manager: EntityManager, table: string, row: Readonly<Record<string, string | number>>) {
  await manager.query(
    `INSERT INTO sql_queue_${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).join(', ')})`,
  );
}

/** Jobs that run, have keys, are copied and are assigned to people, beside these rows. */
async function everyCall({ producer, consumer, admin }: Awaited<ReturnType<World['start']>>, what: string) {
  await admin.subscribe('copies', { topic: 'topic.*' });
  const [plain, keyed, copies] = await Promise.all([
    producer.enqueue('q', 1),
    producer.enqueue('q', 2, { key: what }),
    producer.publish('topic.x', 3, { headers: { a: 'b' } }),
  ]);
  const copy = copies.find(({ queue }) => queue === 'copies')!;
  await Promise.all([plain, keyed, copy].map((job) => producer.waitFor(job.id)));
  await producer.enqueue('people', 1);
  const [held] = await consumer.claim('people', { owner: 'ann' });
  await consumer.complete(held!.id, { owner: 'ann' });
  await consumer.claim('q', { stage: 'review' });
}
