import { resolveEnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { ProcessorOptions } from '../../lib/job/processor-options.js';
import { processorOptionProblems } from '../../lib/job/processor-options.js';
import { queueOptionProblems, resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { SubscriptionOptions } from '../../lib/job/topics.js';
import { checkModuleOptions, checkStaticOptions } from '../../lib/nest/module-options.js';
import { describeEngines } from '../support/engines.js';
import { fuzzedOptions, fuzzedText, fuzzedValue } from '../support/fuzz.js';
import { Random } from '../support/random.js';

const ROUNDS = 1_000;
const REFUSALS = ['INVALID_OPTIONS', 'PAYLOAD_INVALID', 'PAYLOAD_TOO_LARGE', 'QUEUE_NOT_FOUND'];

const DURATIONS = [0, 1, '1s', '5m', '1d', -1, '1w', ''];
const ENQUEUE = {
  name: ['default', 'welcome', 'Welcome'],
  delay: DURATIONS,
  runAt: [new Date(2e12), new Date(NaN)],
  priority: [0, 1, -5, 40_000],
  retry: [1, 3, 0, { backoff: '1s' }, { backoff: { type: 'fixed', delay: -1 } }, { attempts: 2, retryIf: null }],
  timeout: DURATIONS,
  headers: [{}, { tenant: 'a' }, { __proto__: 'x' }, { 'x:y': '' }],
};
const TOPICS = ['a', 'a.*', '*', ['a', 'b*'], [], '', null];
const FILTERS = [{}, { tenant: 'a' }, { tenant: ['a', 'b'] }, JSON.parse('{"__proto__":"x"}'), { tenant: 1n }, null];
const QUEUE = {
  concurrency: [1, 10, 0],
  retry: [3, { attempts: 3, backoff: '1s' }, null],
  lease: DURATIONS,
  timeout: DURATIONS,
  order: ['fifo', 'lifo', 'FIFO'],
  claim: ['auto', 'skip-locked'],
  prefetch: [0, 'auto', 7],
  retention: [{ completed: false }, { dead: '1d' }, null, 7],
  schema: [{ '~standard': { validate: () => ({}) } }, {}, null],
  deadLetter: [false, 'graves', 'a b', ''],
  paused: [true, false],
  enabled: [() => true, true],
  maxPayloadBytes: [1, 100, 1e9],
  maxWaiting: [false, 10, 0],
  maxRunning: [false, 1, 0, 1e9],
  rate: [
    false,
    { limit: 1, per: '1s' },
    { limit: 0, per: '1s', burst: -1 },
    { limit: 5, per: '1d', window: 'fixed' },
    null,
  ],
  groups: [false, {}, { concurrency: 1, quantum: 0 }, { rate: { limit: 1, per: '1s' }, onRetry: 'pass' }, null],
  events: [true, false],
  logFailures: [true, false],
  expectWorker: [true, false],
  jobDefaults: [{}, { priority: 1, delay: '1s' }, { headers: { a: '1' } }, { name: 'x' }, null],
  batch: [1, 100],
  topic: TOPICS,
  where: FILTERS,
  expiresAfter: [...DURATIONS, false],
} satisfies Record<keyof ProcessorOptions, unknown>;
const WORKER = {
  autoStart: [true],
  queues: [{ include: ['a'] }, null, { exclude: 'x' }],
  concurrency: [1],
  poll: [{ min: 1 }, null, 5],
  notify: ['auto', false],
  shutdown: [{ timeout: '1s' }, null],
  heartbeat: ['main', 'thread'],
  maxBlocked: DURATIONS,
};
const MODULE = {
  connection: [{ type: 'mysql' }, null],
  hosts: [['db-1:3306'], [], ['a b'], null],
  defaults: [{}, { lease: '1s' }, null],
  queues: [{ a: {} }, { 'a.*': { lease: '5s' } }, null, JSON.parse('{"__proto__":{"lease":"1s"}}')],
  worker: [true, false, {}, null],
  enhancers: ['all', 'none'],
  schema: [{ migrate: 'off' }, null],
};
const STATIC = { name: ['a', 'a b'], dataSource: ['x', {}], isGlobal: [true], prefix: ['x_', "x'; --", ''] };

describeEngines('a thousand fuzzed jobs', (setup) => {
  it('are stored unchanged, or rejected with a typed error, without other effects', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    const random = new Random(7);
    let taken = 0;

    for (let round = 0; round < ROUNDS; round++) {
      const queue = random.next() < 0.7 ? random.pick(['q', 'Q', 'a.b:c-d_e']) : fuzzedText(random);
      const payload = fuzzedValue(random);
      const options = random.next() < 0.5 ? {} : (fuzzedOptions(random, ENQUEUE) as object);
      const id = await producer.enqueue(queue, payload, options).then(
        (job) => job.id,
        (error: unknown) => refusal(error, { queue, payload, options }),
      );
      if (id === undefined) continue;
      taken++;
      const {
        name = 'default',
        headers = {},
        priority = 0,
      } = options as { name?: string; headers?: object; priority?: number };
      expect(await admin.get(id)).toMatchObject({ queue, name, priority });
      const record = (await admin.get(id))!;
      expect(JSON.stringify(record.payload)).toBe(JSON.stringify(payload));
      expect(JSON.stringify(record.headers)).toBe(JSON.stringify(headers));
    }

    expect(taken).toBeGreaterThan(ROUNDS / 10);
    expect(taken).toBeLessThan(ROUNDS);
    const counted = Object.values(await admin.counts()).reduce((sum, count) => sum + count, 0);
    expect(counted).toBe(taken);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('are handled without a change of any prototype', async () => {
    const world = await setup();
    const handled: unknown[] = [];
    const { producer, events } = await world.start({
      handlers: {
        q: ({ payload, headers }) => {
          handled.push({ ...(payload as object), ...headers });
          return payload;
        },
      },
    });

    await producer.enqueue('q', JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'), {
      headers: JSON.parse('{"__proto__":"x"}') as Record<string, string>,
    });
    await events.until('completed');

    expect(handled).toHaveLength(1);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('are found by valid filters, and invalid filters are rejected', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 1);
    const random = new Random(11);

    for (let round = 0; round < ROUNDS / 4; round++) {
      const filter = fuzzedOptions(random, { queue: ['q', 'x'], state: ['waiting', 'dead'], name: ['default', 'x'] });
      const page = fuzzedOptions(random, { after: [0, 'W10', 'x'], limit: [1, 100], order: ['oldest', 'newest'] });
      const found = await admin.find(filter as object, page as object).catch((error: unknown) => {
        refusal(error, { filter, page });
        return { jobs: [] };
      });
      for (const job of found.jobs) expect(job).toMatchObject({ queue: 'q', name: 'default' });
      const id = fuzzedValue(random) as number;
      await admin.get(id).catch((error: unknown) => refusal(error, { id }));
      await admin.cancel(id).catch((error: unknown) => refusal(error, { id }));
      await admin.pause(fuzzedText(random)).catch((error: unknown) => refusal(error, {}));
    }
  });
});

describeEngines('fuzzed subscriptions and messages', (setup) => {
  it('are stored unchanged and delivered, or rejected with a typed error', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await admin.subscribe('all', { topic: '*' });
    const random = new Random(19);
    let subscribed = 0;
    let published = 0;

    for (let round = 0; round < ROUNDS / 4; round++) {
      const queue = random.next() < 0.7 ? random.pick(['q', 'Q']) : fuzzedText(random);
      const subscription = fuzzedOptions(random, { topic: TOPICS, where: FILTERS }) as SubscriptionOptions;
      await admin.subscribe(queue, subscription).then(
        () => subscribed++,
        (error: unknown) => refusal(error, { queue, subscription }),
      );
      const topic = random.next() < 0.7 ? random.pick(['a', 'a.b', 'b']) : fuzzedText(random);
      const payload = fuzzedValue(random);
      const headers = random.pick([{}, { tenant: 'a' }, JSON.parse('{"__proto__":"x"}') as Record<string, string>]);
      const copies = await producer
        .publish(topic, payload, { headers })
        .catch((error: unknown) => refusal(error, { topic, payload }));
      if (copies === undefined) continue;
      published++;
      expect(copies.map(({ queue }) => queue)).toContain('all');
      const record = (await admin.get(copies[0]!.id))!;
      expect(JSON.stringify(record.headers)).toBe(JSON.stringify({ ...headers, topic }));
    }

    expect(subscribed).toBeGreaterThan(10);
    expect(published).toBeGreaterThan(10);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('a thousand fuzzed options', () => {
  it.each<[string, (random: Random) => unknown]>([
    ['of the module', (random) => checkModuleOptions(fuzzedOptions(random, MODULE) as object)],
    ['of its worker', (random) => checkModuleOptions({ worker: fuzzedOptions(random, WORKER) as object })],
    [
      'of its queues',
      (random) => checkModuleOptions({ queues: { [fuzzedText(random)]: fuzzedOptions(random, QUEUE) as object } }),
    ],
    ['of its tokens', (random) => checkStaticOptions(fuzzedOptions(random, STATIC) as object)],
    ['of one enqueue', (random) => resolveEnqueueOptions('q', fuzzedOptions(random, ENQUEUE) as object)],
  ])('%s are accepted, or rejected with a typed error', (_, check) => {
    const random = new Random(13);
    let refused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      try {
        check(random);
      } catch (error) {
        refused++;
        refusal(error, { round });
      }
    }

    expect(refused).toBeGreaterThan(ROUNDS / 20);
    expect(refused).toBeLessThan(ROUNDS);
  });

  it('of a queue are usable if they are accepted', () => {
    const random = new Random(17);
    for (let round = 0; round < ROUNDS; round++) {
      const options = fuzzedOptions(random, QUEUE);
      processorOptionProblems(options);
      if (queueOptionProblems(options).length > 0) continue;
      const { leaseMs, concurrency, retention } = resolveQueueOptions(options as object);
      for (const number of [leaseMs, concurrency]) expect(Number.isFinite(number)).toBe(true);
      for (const ms of Object.values(retention)) expect(ms === false || Number.isFinite(ms)).toBe(true);
    }
  });
});

/** A rejection must have a typed error. Any other error is a defect of the library. */
function refusal(error: unknown, given: object): undefined {
  const { code, message } = error as { code?: string; message?: string };
  if (!REFUSALS.includes(code ?? ''))
    throw new Error(`not a typed refusal: ${String(error)}`, { cause: { error, given } });
  expect(message!.length).toBeLessThan(100_000);
  return undefined;
}
