import { Ledger } from '../core/ledger.mjs';
import { untilEmpty, stretch } from './drain.mjs';

// More than any contestant reaches.
const MAX_JOBS_PER_SECOND = 100_000;

/** A producer and a worker run concurrently: the producer enqueues as fast as the worker handles jobs. */
export async function steady(trial, { seconds, warmupSeconds, backlog, loops, chunk, bytes }) {
  const producer = await trial.producer();
  await trial.untilAtRest();
  const indexes = MAX_JOBS_PER_SECOND * (seconds + warmupSeconds);
  const worker = trial.worker({ indexes });
  worker.on('progress', (count) => producer.call('handled', count).catch(() => {}));
  const meter = trial.meter();
  await worker.start();
  const added = await producer.call('feed', { seconds: seconds + warmupSeconds, backlog, loops, chunk, bytes });
  await untilEmpty(producer);
  const counts = await worker.call('stop');
  meter.stop();

  const ledger = new Ledger([counts], added);
  const from = ledger.startedAt[0] + warmupSeconds * 1_000;
  return {
    void: ledger.problem(await producer.call('left')),
    // Without the last second, in which the producer's loops end one by one.
    ...stretch(ledger, meter, { from, until: from + (seconds - 1) * 1_000 }),
  };
}
