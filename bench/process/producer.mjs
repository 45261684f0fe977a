// The program of a producer process: puts one contestant's jobs in, in the ways that the scenarios ask for.
import { contestantNamed } from '../contestants/index.mjs';
import { now, sleep } from '../core/clock.mjs';
import { payloadOf } from '../core/payload.mjs';
import { spoiled } from './fault.mjs';
import { serve } from './serve.mjs';

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

  /** Puts `count` jobs in through the bulk interface; their indexes begin at `from`. Resolves with the milliseconds. */
  async bulk({ from = 0, count, bytes }) {
    const started = now();
    for (let done = 0; done < count; done += bulkChunk) {
      await producer.addMany(payloads(from + done, Math.min(bulkChunk, count - done), bytes));
    }
    return now() - started;
  },

  /** Loops that each put one job in, wait for the answer and go on. Resolves with how long each answer took. */
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

  /** One job at a time, with pauses between. Resolves with the moment of each call. */
  async trickle({ count, minMs, maxMs, bytes }) {
    const calledAt = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      await sleep(minMs + Math.random() * (maxMs - minMs));
      calledAt[index] = now();
      await producer.add(payloadOf(index, bytes));
    }
    return calledAt;
  },

  /** The same, and each is waited for. Resolves with the moment of each answer. */
  async await({ count, minMs, maxMs, bytes }) {
    const answeredAt = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      await sleep(minMs + Math.random() * (maxMs - minMs));
      await producer.answerTo(payloadOf(index, bytes));
      answeredAt[index] = now();
    }
    return answeredAt;
  },

  /** Keeps the queue fed for some seconds: never more than `backlog` jobs that are put in and not yet handled. */
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

  /** What the workers have handled by now, as the scenario heard it. */
  handled(count) {
    handled = count;
  },

  /** How many jobs the queue still has to run or is running. */
  left: () => producer.left(),

  /** Rows that were there before: `waiting` jobs, or `finished` ones in the history. By short cuts of the database. */
  prefill: ({ what, from = 0, count, bytes }) => producer.prefill[what]({ from, count, payload: payloadOf(-1, bytes) }),

  close: () => producer.close(),
});

function payloads(from, count, bytes) {
  return spoiled(Array.from({ length: count }, (_, i) => payloadOf(from + i, bytes)));
}
