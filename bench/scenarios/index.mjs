import { bulk, enqueue } from './enqueue.mjs';
import { beside, openSnapshot } from './beside.mjs';
import { drain } from './drain.mjs';
import { idle } from './idle.mjs';
import { latency } from './latency.mjs';
import { steady } from './steady.mjs';
import { wait } from './wait.mjs';

// The size of a payload where a scenario is not about sizes.
const BYTES = 100;
const JOBS = 100_000;
const MILLION = 1_000_000;
// A contestant that needs longer is stopped, and what it did in that time is what counts.
const SECONDS = 10;

const CLAIMS =
  'Of ours also how long claims take that find jobs, timed in the worker process around the statements it sends: the ' +
  'driver that `connection.driver` hands to the library has a stopwatch. Ours drain each three times, in turns, and their ' +
  'claims of all turns are looked at together: some three hundred, of which the 99th percentile is the third longest.';

const withDefaults = ({ settings }) => 'default' in settings;
const withHistory = ({ settings }) => 'history' in settings;
// Where a run takes long, those that another contestant stands for are left out.
const inShort = ({ id }) => !['pgboss', 'graphile', 'bullmq-redis-everysec'].includes(id);
const onSqlServers = (contestant) => inShort(contestant) && !contestant.server.startsWith('redis');

/**
 * What is measured. `measure` gets `trial(profile, work)`, which gives `work` an empty database and cleans up after it,
 * and the numbers of `given`, those of `scaled` multiplied by --scale and those of `timed` shortened by --quick.
 */
export const scenarios = [
  {
    id: 'enqueue-one',
    title: 'Enqueue one by one',
    what: 'One process puts jobs in, one after the other, and waits for each to be stored.',
    profile: 'default',
    takes: withDefaults,
    repeats: 2,
    given: { loops: 1, warmup: 200, bytes: BYTES },
    timed: { seconds: 4 },
    measure: ({ trial, ...given }) => trial((its) => enqueue(its, given)),
    shows: ['rate', 'latency', 'cpu'],
  },
  {
    id: 'enqueue-50',
    title: 'Enqueue with 50 producers',
    what: '50 loops in one process, each of which puts a job in, waits until it is stored and goes on.',
    profile: 'default',
    takes: withDefaults,
    repeats: 3,
    given: { loops: 50, warmup: 1_000, bytes: BYTES },
    timed: { seconds: 4 },
    measure: ({ trial, ...given }) => trial((its) => enqueue(its, given)),
    shows: ['rate', 'latency', 'cpu'],
    chart: 'rate',
  },
  {
    id: 'bulk',
    title: 'Bulk insert',
    what: 'One process puts many jobs in through the bulk interface, one chunk after the other.',
    profile: 'default',
    takes: withDefaults,
    repeats: 2,
    given: { bytes: BYTES },
    scaled: { jobs: JOBS },
    measure: ({ trial, ...given }) => trial((its) => bulk(its, given)),
    shows: ['rate', 'cpu'],
    chart: 'rate',
  },
  drainScenario('drain-1', 'Drain, one worker', { workers: 1 }, 3),
  drainScenario('drain-2', 'Drain, two workers', { workers: 2 }, 2),
  {
    ...drainScenario('drain-c10', 'Drain, one job at a time, concurrency 10', { workers: 1 }, 3),
    what:
      'One worker process with default options empties the queue with an ordinary handler of one job, ten of which run ' +
      'at once.',
    profile: 'default',
    takes: withDefaults,
  },
  {
    id: 'latency-idle',
    title: 'Latency of an idle queue',
    what:
      'A producer process puts one job in after another, with random pauses between; a worker process waits for them. ' +
      'Measured from the call of enqueue to the beginning of the handler.',
    profile: 'quiet',
    orElse: 'default',
    takes: withDefaults,
    repeats: 1,
    given: { warmup: 10, minMs: 100, maxMs: 200, bytes: BYTES },
    timed: { samples: 200 },
    measure: ({ trial, ...given }) => trial((its) => latency(its, given)),
    shows: ['latency'],
    chart: 'latency',
  },
  {
    id: 'wait-idle',
    title: 'Waiting for a job',
    what:
      'A producer process puts one job in after another, with random pauses between, and awaits each with `waitFor`; a ' +
      'worker process has nothing else to do. Measured from the end of the handler to the answer: the completion and its ' +
      'commit lie between. Ours alone.',
    profile: 'waits',
    repeats: 1,
    given: { warmup: 10, minMs: 100, maxMs: 200, bytes: BYTES },
    timed: { samples: 200 },
    measure: ({ trial, ...given }) => trial((its) => wait(its, given)),
    shows: ['latency'],
  },
  {
    id: 'steady',
    title: 'Steady load',
    what:
      'A producer process and a worker process at the same time. The producer puts jobs in through the bulk interface, in ' +
      'small chunks, as long as no more than a bounded number are waiting or running.',
    profile: 'best',
    repeats: 1,
    given: { backlog: 2_000, loops: 4, chunk: 50, warmupSeconds: 2, bytes: BYTES },
    timed: { seconds: 20 },
    measure: ({ trial, ...given }) => trial((its) => steady(its, given)),
    shows: ['rate', 'cpu'],
    chart: 'rate',
  },
  {
    id: 'drain-1m-waiting',
    title: 'Drain from a long queue',
    what: `One worker process takes jobs from a queue that holds many more, against a queue that holds only these. ${CLAIMS}`,
    profile: 'best',
    takes: inShort,
    repeats: 1,
    given: { bytes: BYTES },
    scaled: { jobs: JOBS, rows: MILLION },
    timed: { seconds: SECONDS },
    measure: ({ rows, ...given }) => beside(given, { prefill: { what: 'waiting', count: rows - given.jobs } }),
    shows: ['pair'],
    pair: { alone: 'only these jobs', among: 'the long queue' },
  },
  {
    id: 'drain-1m-finished',
    title: 'Drain beside a long history',
    what:
      'One worker process empties the queue and keeps its finished jobs, beside a history of many more, against an empty ' +
      `history. Contestants that keep no history are left out. ${CLAIMS}`,
    profile: 'history',
    takes: withHistory,
    repeats: 1,
    given: { bytes: BYTES },
    scaled: { jobs: JOBS, rows: MILLION },
    timed: { seconds: SECONDS },
    measure: ({ rows, ...given }) => beside(given, { prefill: { what: 'finished', count: rows } }),
    shows: ['pair'],
    pair: { alone: 'an empty history', among: 'the long one' },
  },
  {
    id: 'long-snapshot',
    title: 'Drain beside a long transaction',
    what:
      'One worker process empties the queue while a transaction that began before it stays open on another connection, so ' +
      `that the database has to keep what is deleted; against the same without that transaction. ${CLAIMS}`,
    profile: 'best',
    takes: onSqlServers,
    repeats: 1,
    given: { bytes: BYTES },
    scaled: { jobs: 2 * JOBS },
    timed: { seconds: 2 * SECONDS },
    measure: (given) => beside(given, { before: openSnapshot }),
    shows: ['pair'],
    pair: { alone: 'no other transaction', among: 'the open one' },
  },
  payloadScenario('payload-2k', '2 kB', 2_000, JOBS / 2),
  payloadScenario('payload-50k', '50 kB', 50_000, JOBS / 20),
  idleScenario('idle-1', 1),
  idleScenario('idle-30', 30),
];

export function scenarioNamed(id) {
  return scenarios.find((scenario) => scenario.id === id);
}

function drainScenario(id, title, given, repeats) {
  const { workers } = given;
  const crew = workers === 1 ? 'One worker process empties' : 'Two worker processes empty';
  return {
    id,
    title,
    what: `${crew} a queue of jobs that do nothing, with the settings that each documents for throughput.`,
    profile: 'best',
    repeats,
    given: { bytes: BYTES, ...given },
    scaled: { jobs: JOBS },
    timed: { seconds: SECONDS },
    measure: ({ trial, ...all }) => trial((its) => drain(its, all)),
    shows: ['rate', 'cpu'],
    chart: 'rate',
  };
}

function payloadScenario(id, size, bytes, jobs) {
  return {
    ...drainScenario(id, `Drain, payloads of ${size}`, { workers: 1, bytes }, 1),
    takes: inShort,
    scaled: { jobs },
    shows: ['rate', 'cpu'],
    chart: undefined,
  };
}

function idleScenario(id, queues) {
  const count = queues === 1 ? 'one queue' : `${queues} queues`;
  return {
    id,
    title: `Idle, ${count}`,
    what:
      `One worker process with ${count} and nothing to do. Statements as the server counts them; PostgreSQL counts ` +
      'transactions instead, Redis commands, and SQLite, which has no server, nothing.' +
      (queues === 1
        ? ' What Nest and each server take by themselves stands below: the rest is what a queue costs.'
        : ''),
    profile: 'quiet',
    orElse: 'default',
    takes: withDefaults,
    repeats: 1,
    // Nobody is busy, so all are looked at together, each with a server of its own.
    together: true,
    given: { queues, warmupSeconds: 5 },
    timed: { seconds: 60 },
    measure: ({ trial, ...given }) => trial((its) => idle(its, given)),
    shows: ['idle'],
  };
}
