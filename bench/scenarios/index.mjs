import { bulk, enqueue } from './enqueue.mjs';
import { beside, openSnapshot } from './beside.mjs';
import { drain } from './drain.mjs';
import { idle } from './idle.mjs';
import { latency } from './latency.mjs';
import { steady } from './steady.mjs';
import { wait } from './wait.mjs';

// The size of a payload unless a scenario is about sizes.
const BYTES = 100;
const JOBS = 100_000;
const MILLION = 1_000_000;
// A contestant that needs longer is stopped, and only the jobs of that time count.
const SECONDS = 10;

const CLAIMS =
  'For nestjs-sql-queue also the time of claims that find jobs. A stopwatch in the driver (`connection.driver`) ' +
  'measures it around the statements of the worker process. It drains three times with and without the burden, in ' +
  'turns. The claims of all turns are some three hundred, of which the 99th percentile is the third longest.';

const withDefaults = ({ settings }) => 'default' in settings;
const withHistory = ({ settings }) => 'history' in settings;
const inBatches = ({ id }) => /^ours-(mysql|mariadb|sqlite)$|^graphile-tuned$|^pgboss-batch$/.test(id);
// Long scenarios omit contestants that a similar one represents.
const inShort = ({ id }) => !['pgboss', 'graphile', 'bullmq-redis-everysec'].includes(id);
const observed = ({ id }) => id === 'ours-mysql' || id.startsWith('ours-mysql-');
const onSqlServers = (contestant) => inShort(contestant) && !contestant.server.startsWith('redis');

/**
 * The scenarios. `measure` receives `trial(work)`, which gives `work` an empty database and cleans up after it. It also
 * receives the numbers of `given`, of `scaled` (multiplied by --scale) and of `timed` (shortened by --quick).
 */
export const scenarios = [
  {
    id: 'enqueue-one',
    title: 'Enqueue one by one',
    what: 'One process enqueues jobs one after the other and waits until each is stored.',
    profile: 'default',
    takes: withDefaults,
    repeats: 2,
    given: { loops: 1, warmup: 200, bytes: BYTES },
    timed: { seconds: 4 },
    measure: ({ trial, ...given }) => trial((run) => enqueue(run, given)),
    shows: ['rate', 'latency', 'cpu'],
  },
  {
    id: 'enqueue-50',
    title: 'Enqueue with 50 producers',
    what: '50 loops in one process each enqueue one job after the other and wait until each is stored.',
    profile: 'default',
    takes: withDefaults,
    repeats: 3,
    given: { loops: 50, warmup: 1_000, bytes: BYTES },
    timed: { seconds: 4 },
    measure: ({ trial, ...given }) => trial((run) => enqueue(run, given)),
    shows: ['rate', 'latency', 'cpu'],
    chart: 'rate',
  },
  { ...bulkScenario('bulk', 'Bulk insert', BYTES, JOBS), repeats: 2, chart: 'rate' },
  drainScenario('drain-1', 'Drain, one worker', { workers: 1 }, 3),
  drainScenario('drain-2', 'Drain, two workers', { workers: 2 }, 2),
  ...[4, 8, 16].map((workers) => ({
    ...drainScenario(`drain-${workers}`, `Drain, ${workers} workers`, { workers }, 2),
    takes: inBatches,
    // With fewer jobs for each process, the figure would be that of processes that have just started.
    scaled: { jobs: (workers * JOBS) / 2 },
    timed: { seconds: (workers * SECONDS) / 4 },
    chart: undefined,
  })),
  {
    ...drainScenario('drain-c10', 'Drain, one job at a time, concurrency 10', { workers: 1 }, 3),
    what:
      'One worker process with default options empties the queue with an ordinary handler of one job. Ten calls run ' +
      'concurrently.',
    profile: 'default',
    takes: withDefaults,
  },
  {
    id: 'latency-idle',
    title: 'Latency of an idle queue',
    what:
      'A producer process enqueues one job after another, with random pauses in between; a worker process is idle. ' +
      'Measured from the call of enqueue to the start of the handler.',
    profile: 'quiet',
    orElse: 'default',
    takes: withDefaults,
    repeats: 1,
    given: { warmup: 10, minMs: 100, maxMs: 200, bytes: BYTES },
    timed: { samples: 200 },
    measure: ({ trial, ...given }) => trial((run) => latency(run, given)),
    shows: ['latency'],
    chart: 'latency',
  },
  {
    id: 'wait-idle',
    title: 'Waiting for a job',
    what:
      'A producer process enqueues one job after another, with random pauses in between, and waits for each with ' +
      '`waitFor`. A worker process is otherwise idle. Measured from the end of the handler to the answer, which ' +
      'includes the completion and its commit. Only nestjs-sql-queue takes part.',
    profile: 'waits',
    repeats: 1,
    given: { warmup: 10, minMs: 100, maxMs: 200, bytes: BYTES },
    timed: { samples: 200 },
    measure: ({ trial, ...given }) => trial((run) => wait(run, given)),
    shows: ['latency'],
  },
  {
    id: 'steady',
    title: 'Steady load',
    what:
      'A producer process and a worker process run at the same time. The producer enqueues small chunks through the ' +
      'bulk interface while no more than a fixed number of jobs wait or run.',
    profile: 'best',
    repeats: 1,
    given: { backlog: 2_000, loops: 4, chunk: 50, warmupSeconds: 2, bytes: BYTES },
    timed: { seconds: 20 },
    measure: ({ trial, ...given }) => trial((run) => steady(run, given)),
    shows: ['rate', 'cpu'],
    chart: 'rate',
  },
  {
    id: 'drain-1m-waiting',
    title: 'Drain from a long queue',
    what: `One worker process runs jobs of a queue with many more, compared with a queue of only these. ${CLAIMS}`,
    profile: 'best',
    takes: inShort,
    repeats: 1,
    given: { bytes: BYTES },
    scaled: { jobs: JOBS, rows: MILLION },
    timed: { seconds: SECONDS },
    measure: ({ rows, ...given }) => beside(given, { prefill: { state: 'waiting', count: rows - given.jobs } }),
    shows: ['pair'],
    pair: { alone: 'only these jobs', among: 'the long queue' },
  },
  {
    id: 'drain-1m-finished',
    title: 'Drain beside a long history',
    what:
      'One worker process empties the queue and keeps its finished jobs in a long history, compared with an empty ' +
      `history. Contestants without a history do not take part. ${CLAIMS}`,
    profile: 'history',
    takes: withHistory,
    repeats: 1,
    given: { bytes: BYTES },
    scaled: { jobs: JOBS, rows: MILLION },
    timed: { seconds: SECONDS },
    measure: ({ rows, ...given }) => beside(given, { prefill: { state: 'finished', count: rows } }),
    shows: ['pair'],
    pair: { alone: 'an empty history', among: 'the long one' },
  },
  {
    id: 'long-snapshot',
    title: 'Drain beside a long transaction',
    what:
      'One worker process empties the queue while an earlier transaction stays open on another connection, so that ' +
      `the database must keep deleted rows. This is compared with a drain without that transaction. ${CLAIMS}`,
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
  {
    ...drainScenario('observation', 'Drain, observed', { workers: 1 }, 10),
    what:
      'One worker process empties the queue plain, with metrics for Prometheus, and with everything: those metrics, ' +
      'traces and metrics of OpenTelemetry with its SDK, and JSON logs. Scrapes, exports and log lines go nowhere. Only ' +
      'nestjs-sql-queue takes part.',
    takes: observed,
    scaled: { jobs: 2 * JOBS },
    shows: ['rate', 'quartiles', 'client'],
    chart: undefined,
  },
  payloadScenario('payload-2k', '2 kB', 2_000, JOBS / 2),
  payloadScenario('payload-10k', '10 kB', 10_000, JOBS / 5),
  payloadScenario('payload-50k', '50 kB', 50_000, JOBS / 10),
  {
    ...payloadScenario('payload-1m', '1 MB', MILLION, JOBS / 250),
    what:
      'One worker process with default options empties the queue with an ordinary handler of one job. Contestants that ' +
      'claim a thousand jobs at a time would have all of them in memory.',
    profile: 'default',
    takes: withDefaults,
  },
  bulkScenario('bulk-50k', 'Bulk insert, payloads of 50 kB', 50_000, JOBS / 50),
  idleScenario('idle-1', 1),
  idleScenario('idle-30', 30),
];

export function scenarioNamed(id) {
  return scenarios.find((scenario) => scenario.id === id);
}

function bulkScenario(id, title, bytes, jobs) {
  return {
    id,
    title,
    what: 'One process enqueues many jobs through the bulk interface, one chunk after the other.',
    profile: 'default',
    takes: withDefaults,
    repeats: 1,
    given: { bytes },
    scaled: { jobs },
    measure: ({ trial, ...given }) => trial((run) => bulk(run, given)),
    shows: ['rate', 'cpu'],
  };
}

function drainScenario(id, title, given, repeats) {
  const { workers } = given;
  const subject = workers === 1 ? 'One worker process empties' : `${workers} worker processes empty`;
  return {
    id,
    title,
    what: `${subject} a queue of no-op jobs, with the settings that each contestant documents for throughput.`,
    profile: 'best',
    repeats,
    given: { bytes: BYTES, ...given },
    scaled: { jobs: JOBS },
    timed: { seconds: SECONDS },
    measure: ({ trial, ...all }) => trial((run) => drain(run, all)),
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
      `One idle worker process with ${count}. The server counts the statements. PostgreSQL counts transactions ` +
      'instead, Redis commands, and SQLite has no server that counts.' +
      (queues === 1
        ? ' The last rows show Nest and each server without a queue: the difference is the cost of the queue.'
        : ''),
    profile: 'quiet',
    orElse: 'default',
    takes: withDefaults,
    repeats: 1,
    // All contestants are idle, so they are measured together, each with its own server.
    together: true,
    given: { queues, warmupSeconds: 5 },
    timed: { seconds: 60 },
    measure: ({ trial, ...given }) => trial((run) => idle(run, given)),
    shows: ['idle'],
  };
}
