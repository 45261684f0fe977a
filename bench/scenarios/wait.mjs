import { Ledger } from '../core/ledger.mjs';
import { latencies } from '../core/statistics.mjs';

/** From the end of the handler in one process to the answer in another, which enqueued the job and waits for it. */
export async function wait(trial, { samples, warmup, minMs, maxMs, bytes }) {
  const producer = await trial.producer();
  await trial.untilAtRest();
  const count = samples + warmup;
  const worker = trial.worker({ indexes: count });
  await worker.start();
  const answeredAt = await producer.call('await', { count, minMs, maxMs, bytes });
  const counts = await worker.call('stop');

  // The handler counts a job immediately before it returns.
  const waits = answeredAt.map((answered, index) => answered - counts.startedAt[index]).slice(warmup);
  return {
    void: new Ledger([counts], count).problem(await producer.call('left')),
    latency: latencies(waits),
  };
}
