import { Ledger } from '../core/ledger.mjs';
import { latencies } from '../core/statistics.mjs';
import { emptied } from './drain.mjs';

/** From the call of enqueue in one process to the beginning of the handler in another, with an idle queue between. */
export async function latency(trial, { samples, warmup, minMs, maxMs, bytes }) {
  const producer = await trial.producer();
  await trial.rest();
  const count = samples + warmup;
  const worker = trial.worker({ indexes: count });
  await worker.start();
  const calledAt = await producer.call('trickle', { count, minMs, maxMs, bytes });
  await emptied(producer);
  const counts = await worker.call('stop');

  const waits = calledAt.map((called, index) => counts.startedAt[index] - called).slice(warmup);
  return {
    void: new Ledger([counts], count).problem(await producer.call('left')),
    latency: latencies(waits),
  };
}
