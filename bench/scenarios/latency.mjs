import { Ledger } from '../core/ledger.mjs';
import { latencies } from '../core/statistics.mjs';
import { untilEmpty } from './drain.mjs';

/** From the call of enqueue in one process to the start of the handler in another, with an idle queue. */
export async function latency(trial, { samples, warmup, minMs, maxMs, bytes }) {
  const producer = await trial.producer();
  await trial.untilAtRest();
  const count = samples + warmup;
  const worker = trial.worker({ indexes: count });
  await worker.start();
  const calledAt = await producer.call('trickle', { count, minMs, maxMs, bytes });
  await untilEmpty(producer);
  const counts = await worker.call('stop');

  const waits = calledAt.map((called, index) => counts.startedAt[index] - called).slice(warmup);
  return {
    void: new Ledger([counts], count).problem(await producer.call('left')),
    latency: latencies(waits),
  };
}
