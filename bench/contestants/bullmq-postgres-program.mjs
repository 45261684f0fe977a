import { Pool } from 'pg';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { openBullmqProducer, startBullmqWorker } from './bullmq-program.mjs';
import { cloneRow, payloadSql } from './postgres-rows.mjs';

export const startWorker = (given) =>
  startBullmqWorker({ ...given, connection: connection(given), backend: createPostgresBackend });

export async function openProducer(given) {
  await migrate(given.url);
  return openBullmqProducer({
    ...given,
    connection: connection(given),
    backend: createPostgresBackend,
    prefill: (queue) => ({
      waiting: (range) => clone(given.url, queue, range, {}),
      finished: (range) =>
        clone(given.url, queue, range, {
          state: `'completed'`,
          attempts_made: '1',
          return_value: `'null'`,
          processed_at_ms: String(Date.now()),
          finished_at_ms: String(Date.now()),
        }),
    }),
  });
}

function connection({ url, settings }) {
  return { connectionString: url, ...settings.pool };
}

async function migrate(connectionString) {
  const pool = new Pool({ connectionString });
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
  await pool.end();
}

async function clone(url, queue, { from, count, payload }, set) {
  const template = await queue.add('job', payload);
  await cloneRow(url, {
    ...{ schema: 'bullmq', table: 'job', where: `row.id = '${template.id}'`, from, count },
    set: { id: `'copy-' || n`, seq: `nextval('bullmq.job_seq')`, data: `${payloadSql(payload)}::jsonb`, ...set },
  });
}
