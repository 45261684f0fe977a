// The program of a producer process: enqueues one contestant's jobs in the ways of the scenarios.
import { contestantNamed } from '../contestants/index.mjs';
import { now, sleep } from '../core/clock.mjs';
import { payloadOf } from '../core/payload.mjs';
import { spoiled } from './fault.mjs';
import { serve } from './serve.mjs';

// Of the payloads of one bulk call. No contestant recommends longer ones.
const MAX_CALL_BYTES = 5_000_000;

let producer;
let bulkChunk;
let handled = 0;

serve({
  async open({ contestant, profile, url, queues }) {
    const { settings, program } = contestantNamed(contestant);
    const { openProducer } = await program();
    bulkChunk = settings[profile].bulkChunk;
    producer = await openProducer({ url, queues, settings: settings[profile] });
  },

  /** Enqueues `count` jobs through the bulk interface, with indexes from `from`. Resolves with the milliseconds. */
  async bulk({ from = 0, count, bytes }) {
    const started = now();
    const chunk = Math.min(bulkChunk, Math.ceil(MAX_CALL_BYTES / bytes));
    for (let done = 0; done < count; done += chunk) {
      await producer.addMany(payloads(from + done, Math.min(chunk, count - done), bytes));
    }
    return now() - started;
  },

  /** Runs loops that each enqueue one job after the other. Resolves with the latency of each call. */
  async loops({ loops, warmup, seconds, bytes }) {
    let index = 0;
    const one = async () => {
      const started = now();
      await producer.add(payloadOf(index++, bytes));
      return now() - started;
    };
    const all = (work) => Promise.all(Array.from({ length: loops }, work));

    await all(async () => {
      for (let done = 0; done < warmup / loops; done++) await one();
    });
    const waits = [];
    const started = now();
    await all(async () => {
      while (now() < started + seconds * 1_000) waits.push(await one());
    });
    return { added: index, waits: Float64Array.from(waits), ms: now() - started };
  },

  /** Enqueues one job at a time, with pauses in between. Resolves with the time of each call. */
  async trickle({ count, minMs, maxMs, bytes }) {
    const calledAt = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      await sleep(minMs + Math.random() * (maxMs - minMs));
      calledAt[index] = now();
      await producer.add(payloadOf(index, bytes));
    }
    return calledAt;
  },

  /** Enqueues one job at a time and waits for its end. Resolves with the time of each answer. */
  async await({ count, minMs, maxMs, bytes }) {
    const answeredAt = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      await sleep(minMs + Math.random() * (maxMs - minMs));
      await producer.enqueueAndWait(payloadOf(index, bytes));
      answeredAt[index] = now();
    }
    return answeredAt;
  },

  /** Enqueues for some seconds, while at most `backlog` jobs are enqueued and not yet handled. */
  async feed({ seconds, backlog, loops, chunk, bytes }) {
    let added = 0;
    const until = now() + seconds * 1_000;
    const loop = async () => {
      while (now() < until) {
        if (added - handled + chunk > backlog) {
          await sleep(1);
          continue;
        }
        const from = added;
        added += chunk;
        await producer.addMany(payloads(from, chunk, bytes));
      }
    };
    await Promise.all(Array.from({ length: loops }, loop));
    return added;
  },

  /** Sets the number of jobs that the workers have handled. */
  handled(count) {
    handled = count;
  },

  /** The number of jobs in the queue that have not ended. */
  left: () => producer.left(),

  /** Inserts earlier rows with statements of the database: `waiting` jobs, or `finished` ones in the history. */
  prefill: ({ state, from = 0, count, bytes }) =>
    producer.prefill[state]({ from, count, payload: payloadOf(-1, bytes) }),

  close: () => producer.close(),
});

function payloads(from, count, bytes) {
  return spoiled(Array.from({ length: count }, (_, i) => payloadOf(from + i, bytes)));
}
