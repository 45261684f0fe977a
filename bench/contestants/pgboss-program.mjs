import { PgBoss } from 'pg-boss';
import { cloneRow, payloadSql, withPostgres } from './postgres-rows.mjs';

export async function startWorker({ url, queues, settings, handle }) {
  const boss = await start(url, settings, queues);
  for (const queue of queues) {
    await boss.work(queue, settings.work, async (jobs) => jobs.forEach(({ data }) => handle(data)));
  }
  return { close: () => boss.stop({ graceful: true, timeout: 10_000 }) };
}

export async function openProducer({ url, queues, settings }) {
  const [queue] = queues;
  const boss = await start(url, settings, queues);
  const left = `SELECT count(*) AS n FROM pgboss.job WHERE name = $1 AND state < 'completed'`;
  return {
    add: (payload) => boss.send(queue, payload),
    addMany: (payloads) =>
      boss.insert(
        queue,
        payloads.map((data) => ({ data })),
      ),
    left: () => withPostgres(url, (query) => query(left, [queue])).then(([{ n }]) => Number(n)),
    prefill: {
      waiting: (range) => clone(url, boss, queue, range, {}),
      finished: (range) =>
        clone(url, boss, queue, range, { state: `'completed'`, started_on: 'now()', completed_on: 'now()' }),
    },
    close: () => boss.stop({ graceful: false }),
  };
}

async function start(connectionString, settings, queues) {
  const boss = new PgBoss({ connectionString, ...settings.boss });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  for (const queue of queues) await boss.createQueue(queue, settings.queue);
  return boss;
}

async function clone(url, boss, queue, { from, count, payload }, set) {
  const id = await boss.send(queue, payload);
  const where = `row.name = '${queue}' AND row.id = '${id}'`;
  const changed = { id: 'gen_random_uuid()', data: `${payloadSql(payload)}::jsonb`, ...set };
  await cloneRow(url, { schema: 'pgboss', table: 'job', where, set: changed, from, count });
}
