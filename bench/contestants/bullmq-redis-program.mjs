import { Redis } from 'ioredis';
import { openBullmqProducer, startBullmqWorker } from './bullmq-program.mjs';

export const startWorker = (given) => startBullmqWorker({ ...given, connection: connection(given.url) });

export const openProducer = (given) =>
  openBullmqProducer({
    ...given,
    connection: connection(given.url),
    prefill: (queue) => ({
      waiting: (range) => clone(given.url, queue, WAITING, range),
      finished: (range) => clone(given.url, queue, FINISHED, range),
    }),
  });

function connection(url) {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}

const CHUNK = 5_000;

// Copies a job that BullMQ itself has enqueued, under new ids. KEYS: the id counter, the job, its list.
// ARGV: the number of copies, the payload's text before and after the index, the first index, the time.
const WAITING = `
  local fields = redis.call('HGETALL', KEYS[2])
  local prefix = string.match(KEYS[2], '^(.*:)')
  for n = 0, ARGV[1] - 1 do
    local id = redis.call('INCR', KEYS[1])
    redis.call('HSET', prefix .. id, unpack(fields))
    redis.call('HSET', prefix .. id, 'data', ARGV[2] .. (ARGV[4] + n) .. ARGV[3])
    redis.call('LPUSH', KEYS[3], id)
  end`;

const FINISHED = `
  local fields = redis.call('HGETALL', KEYS[2])
  local prefix = string.match(KEYS[2], '^(.*:)')
  for n = 0, ARGV[1] - 1 do
    local id = redis.call('INCR', KEYS[1])
    redis.call('HSET', prefix .. id, unpack(fields))
    redis.call('HSET', prefix .. id, 'processedOn', ARGV[5], 'finishedOn', ARGV[5], 'returnvalue', 'null', 'atm', 1)
    redis.call('ZADD', KEYS[3], ARGV[5], id)
  end`;

async function clone(url, queue, script, { from, count, payload }) {
  const redis = new Redis(url);
  const template = await queue.add('job', payload);
  const [head, tail] = JSON.stringify(payload).split(':-1,');
  const key = (name) => queue.toKey(name);
  for (let done = 0; done < count; done += CHUNK) {
    const keys = [key('id'), key(template.id), key(script === WAITING ? 'wait' : 'completed')];
    const rows = Math.min(CHUNK, count - done);
    await redis.eval(script, keys.length, ...keys, rows, `${head}:`, `,${tail}`, from + done, Date.now());
  }
  await template.remove();
  await redis.quit();
}
