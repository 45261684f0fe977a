import { now, sleep } from '../core/clock.mjs';

/** The cost of an idle worker: statements that reach the server, and CPU time. */
export async function idle(trial, { queues, warmupSeconds, seconds }) {
  const names = Array.from({ length: queues }, (_, i) => (i === 0 ? 'bench' : `bench_${i}`));
  const producer = await trial.producer(names);
  await producer.call('close');
  await producer.kill();
  const worker = trial.worker({ queues: names, indexes: 1 });
  await worker.start();
  await sleep(warmupSeconds * 1_000);

  const meter = trial.meter();
  const { server, place } = trial;
  const before = await server.statements?.(place.name);
  const from = now();
  await sleep(seconds * 1_000);
  const until = now();
  const after = await server.statements?.(place.name);
  meter.stop();

  const cpu = meter.between(from, until);
  const percent = (used) => (used / ((until - from) / 1_000)) * 100;
  return {
    void: null,
    statementsPerSecond: server.statements ? (after - before - server.ownStatements) / ((until - from) / 1_000) : null,
    workerPercent: percent(cpu.workers),
    serverPercent: server.pids.length > 0 ? percent(cpu.server) : null,
  };
}
