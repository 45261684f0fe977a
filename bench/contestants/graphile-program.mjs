import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { cloneRow, payloadSql, withPostgres } from './postgres-rows.mjs';

// Without it Graphile Worker logs a line per job.
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

export async function startWorker({ url, queues, settings, handle }) {
  const task = async (payload) => handle(payload);
  const runner = await run({
    taskList: Object.fromEntries(queues.map((queue) => [queue, task])),
    crontab: '',
    noHandleSignals: true,
    preset: { worker: { connectionString: url, logger, ...settings.worker } },
  });
  return { close: () => runner.stop() };
}

export async function openProducer({ url, queues: [queue], settings }) {
  const { maxPoolSize } = settings.worker;
  const worker = { connectionString: url, logger, ...(maxPoolSize ? { maxPoolSize } : {}) };
  const utils = await makeWorkerUtils({ preset: { worker } });
  await utils.migrate();
  const left = 'SELECT count(*) AS n FROM graphile_worker._private_jobs';
  return {
    add: (payload) => utils.addJob(queue, payload),
    addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: queue, payload }))),
    left: () => withPostgres(url, (query) => query(left)).then(([{ n }]) => Number(n)),
    prefill: { waiting: (range) => clone(url, utils, queue, range) },
    close: () => utils.release(),
  };
}

async function clone(url, utils, queue, { from, count, payload }) {
  const { id } = await utils.addJob(queue, payload);
  await cloneRow(url, {
    ...{ schema: 'graphile_worker', table: '_private_jobs', where: `row.id = ${id}`, from, count },
    set: { payload: `${payloadSql(payload)}::json` },
  });
}
