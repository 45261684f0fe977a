import { now } from '../core/clock.mjs';
import { latencies } from '../core/statistics.mjs';

/** Loops in one process that each enqueue a job and wait for the answer. */
export async function enqueue(trial, { loops, seconds, bytes, warmup }) {
  const producer = await trial.producer();
  await trial.untilAtRest();
  const meter = trial.meter();
  const { added, waits, ms } = await producer.call('loops', { loops, warmup, seconds, bytes });
  const until = now();
  meter.stop();
  return {
    void: missing(added, await producer.call('left')),
    ...rate(waits.length, ms, meter.between(until - ms, until)),
    latency: latencies(waits),
  };
}

/** Many jobs through the bulk interface. */
export async function bulk(trial, { jobs, bytes }) {
  const producer = await trial.producer();
  await trial.untilAtRest();
  const meter = trial.meter();
  const ms = await producer.call('bulk', { count: jobs, bytes });
  const until = now();
  meter.stop();
  return {
    void: missing(jobs, await producer.call('left')),
    ...rate(jobs, ms, meter.between(until - ms, until)),
  };
}

function rate(jobs, ms, cpu) {
  const cpuSeconds = cpu.producers + cpu.server;
  return {
    jobs,
    seconds: ms / 1_000,
    jobsPerSecond: jobs / (ms / 1_000),
    cpu,
    cpuPer100k: (cpuSeconds / jobs) * 100_000,
    jobsPerCpuSecond: jobs / cpuSeconds,
  };
}

function missing(added, left) {
  return added === left ? null : `${added} jobs were enqueued and ${left} are in the queue`;
}
