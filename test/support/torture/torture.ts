import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { openEngine, type Engine } from '../engine.js';
import { Journal, readJournals } from '../journal.js';
import { connectToWritableNode, findWritableNodes } from '../own-cluster.js';
import { ProgramProcess } from '../programs.js';
import { WireProxy } from '../wire-proxy.js';
import { ProcessGroup } from './process-group.js';
import type { ClaimStrategy } from '../../../lib/job/claim-strategy.js';
import { FAULTS, type FaultTarget } from './faults.js';
import { Random } from '../random.js';
import { checkRun } from './check-run.js';
import { watchLimits } from './limit-watch.js';
import { addClock, SHIFTABLE_CLOCK, shiftDatabaseClock } from './shiftable-clock.js';
import { GROUPED_QUEUE, LIMITED_QUEUE, MAX_RUNNING, SIGNAL } from './torture-job.js';
import { recordTimeouts } from './timeouts.js';
import { watchWaits } from './wait-watch.js';

const ACCOUNT = 'torture';
const DATABASE = 'torture';
const LEASE_MS = 2_000;
// Long enough that only the lock shows the end of a worker.
const LEASE_UNDER_LOCK_MS = 20_000;
// Long enough that no outage uses up the attempts of a job.
const BACKOFF = { type: 'exponential', delay: 50, max: '2s' };
// A connection of a handler may stay silent forever.
const TIMEOUT_MS = 4_000;
// Per worker, for all its queues.
const CONCURRENCY = 20;
const WORKERS = 3;
const PRODUCERS = 2;
// The maximum time for the remaining jobs after the last fault. One fault blocks an event loop for a minute.
// A sweep finds within two minutes the blocked jobs that a killed process has left behind.
const DRAIN_TIMEOUT_MS = 240_000;
// The longest time that a job which could run waits: two minutes until the sweep, and a minute of a blocked event loop.
const MAX_WAIT_MS = 180_000;
// Times that were stored while the clock was ahead are over by then.
const DRAIN_CLOCK_MS = 2 * 3_600_000;
// The exit code of a worker that could not start because the database was unavailable.
const DATABASE_AWAY_EXIT_CODE = 3;

export interface TortureSettings {
  /** The server, or the nodes of a cluster, exclusively for this run: anything may happen to them. */
  readonly urls: readonly string[];
  readonly seconds: number;
  /** The time before the first fault. */
  readonly faultFreeMs: number;
  readonly seed: number;
  readonly isMariadb: boolean;
  /** One queue per strategy, with its name. A repeated strategy gets more jobs. */
  readonly strategies: readonly ClaimStrategy[];
  /** Kills and restarts the server or that node. */
  readonly restart: (node: number) => Promise<void>;
  /** The average pause between two jobs of one producer loop. */
  readonly pauseMs: number;
  readonly faults: readonly string[];
  /** Receives progress messages. */
  readonly log: (line: string) => void;
}

export interface TortureReport {
  readonly jobs: Readonly<Record<string, number>>;
  /** The number of completed jobs per queue. */
  readonly completed: Readonly<Record<string, number>>;
  /** Per fault: its count, and the longest time in milliseconds until jobs completed again. */
  readonly faults: Readonly<Record<string, { times: number; slowestMs: number }>>;
  readonly violations: readonly string[];
}

/** Runs workers and producers under faults, and reports the result. */
export async function torture(settings: TortureSettings): Promise<TortureReport> {
  const { urls, seed, strategies } = settings;
  const random = new Random(seed);
  const journals = await mkdtemp(join(tmpdir(), 'sql-queue-torture-'));
  const nemesis = new Journal(journals, 'nemesis');
  await prepare(urls);
  const proxies = await Promise.all(urls.map((url) => WireProxy.open(url)));
  // Each process prefers one node, and can switch to the others.
  const chooseNode = async () => {
    const able = await findWritableNodes(urls);
    const first = able.length === 0 ? 0 : random.pick(able);
    const hosts = [...proxies.slice(first), ...proxies.slice(0, first)].map(({ port }) => `127.0.0.1:${port}`);
    return { connection: { type: 'mysql', url: `mysql://${ACCOUNT}@${hosts[0]}/${DATABASE}` }, hosts };
  };
  let hasPassed = false;
  const crashes: string[] = [];
  const died = (kind: string) => (program: ProgramProcess) => {
    nemesis.appendFor(`${kind}-${program.pid}`, 'died');
    if (program.exitCode !== null && program.exitCode !== DATABASE_AWAY_EXIT_CODE)
      crashes.push(`a ${kind} ended with ${program.exitCode}`);
  };
  const queue = {
    lease: LEASE_MS,
    concurrency: CONCURRENCY,
    timeout: TIMEOUT_MS,
    retry: { attempts: 30, backoff: BACKOFF },
  };
  const ofStrategy = { lock: { lease: LEASE_UNDER_LOCK_MS } } as Partial<Record<ClaimStrategy, object>>;
  const queues = {
    ...Object.fromEntries(strategies.map((claim) => [claim, { ...queue, claim, ...ofStrategy[claim] }])),
    [LIMITED_QUEUE]: { ...queue, maxRunning: MAX_RUNNING },
    [GROUPED_QUEUE]: { ...queue, groups: { concurrency: 1 } },
  };
  const queueNames = [...strategies, LIMITED_QUEUE, GROUPED_QUEUE];
  const workers = new ProcessGroup(
    WORKERS,
    async () => {
      const worker = { heartbeat: random.pick(['main', 'thread']), concurrency: CONCURRENCY };
      const clockOffsetMs = random.pick([0, 3_600_000, -3_600_000]);
      const given = { ...(await chooseNode()), journals, seed: random.between(1, 1e9), queues, worker, clockOffsetMs };
      return ProgramProcess.start('torture-worker', given, SHIFTABLE_CLOCK);
    },
    died('worker'),
  );
  const producers = new ProcessGroup(
    PRODUCERS,
    async () =>
      ProgramProcess.start(
        'torture-producer',
        {
          ...{ ...(await chooseNode()), journals, seed: random.between(1, 1e9), queues: queueNames },
          ...{ lease: LEASE_MS, pauseMs: settings.pauseMs },
        },
        SHIFTABLE_CLOCK,
      ),
    died('producer'),
  );
  const field: FaultTarget = {
    ...{ random, workers, producers, proxies, account: ACCOUNT, database: DATABASE, leaseMs: LEASE_MS },
    isMariadb: settings.isMariadb,
    admin: () => connectToWritableNode(urls),
    restart: () => settings.restart(random.between(0, urls.length - 1)),
    pauseQueue: async () => {
      const queue = random.pick(queueNames);
      await withEngine(urls, ({ admin }) => admin.pause(queue));
      return () => withEngine(urls, ({ admin }) => admin.resume(queue));
    },
    jumps: [],
  };
  const limits = watchLimits(() => connectAdmin(urls));
  const waits = watchWaits(() => connectAdmin(urls), MAX_WAIT_MS);
  try {
    const faults = await injectFaults(field, nemesis, settings);
    settings.log('no more faults: the remaining jobs are run');
    await producers.stop();
    // Without this, all connections of an application's pool may stay silent for as long as the process lives.
    for (const proxy of proxies) proxy.breakSilent();
    await sendMissingSignals(urls, journals);
    const unfinished = await untilDrained(urls);
    settings.log('no job remains');
    await workers.stop();
    settings.log('reading the history');
    const admin = await connectAdmin(urls);
    const { jobs, completed, found } = await checkRun(admin, journals, field.jumps);
    await admin.end();
    const all = [...crashes, ...unfinished, ...found, ...(await limits.end()), ...(await waits.end())];
    hasPassed = all.length === 0;
    return { jobs, completed, faults, violations: all };
  } finally {
    await Promise.all([producers.stop(), workers.stop(), limits.end(), waits.end()]);
    await Promise.all(proxies.map((proxy) => proxy.close()));
    if (hasPassed) await rm(journals, { recursive: true, force: true });
    else settings.log(`the journals of the processes are in ${journals}`);
  }
}

/** Injects one fault after the other, each after the recovery from the one before. */
async function injectFaults(
  field: FaultTarget,
  nemesis: Journal,
  { faults: names, seconds, faultFreeMs, log, urls }: TortureSettings,
) {
  const faults: Record<string, { times: number; slowestMs: number }> = {};
  // Independent of the start time of the processes.
  await untilProgress(field);
  const admin = await connectAdmin(urls);
  await recordTimeouts(admin);
  await admin.end();
  const until = Date.now() + seconds * 1_000;
  await sleep(faultFreeMs);
  nemesis.append('broken');
  // Each fault once before any is repeated, and two at least.
  let remaining: string[] = [];
  while (Date.now() < until || Object.keys(faults).length < Math.min(2, new Set(names).size)) {
    if (remaining.length === 0) remaining = [...names];
    const [name] = remaining.splice(field.random.between(0, remaining.length - 1), 1) as [string];
    const from = Date.now();
    await FAULTS[name]!(field);
    const lastedMs = Date.now() - from;
    const tookMs = await untilProgress(field);
    log(`${name}: ${lastedMs} ms, jobs completed again after ${tookMs} ms`);
    const known = (faults[name] ??= { times: 0, slowestMs: 0 });
    known.times++;
    known.slowestMs = Math.max(known.slowestMs, tookMs);
    await sleep(field.random.between(0, 1_000));
  }
  return faults;
}

/** Returns the time in milliseconds until jobs complete again. */
async function untilProgress({ workers }: FaultTarget): Promise<number> {
  const from = Date.now();
  const before = workers.completed;
  while (workers.completed <= before && Date.now() - from < DRAIN_TIMEOUT_MS) await sleep(20);
  return Date.now() - from;
}

/** Sends the signals that killed producers have left out, and none for the second time: workers must not need it. */
async function sendMissingSignals(urls: readonly string[], journals: string): Promise<void> {
  const sent = new Set(readJournals(journals).flatMap(({ kind, token }) => (kind === 'signalled' ? [token] : [])));
  const admin = await connectAdmin(urls);
  await shiftDatabaseClock(admin, DRAIN_CLOCK_MS);
  const [jobs] = await admin.query<RowDataPacket[]>('SELECT payload FROM sql_queue_jobs');
  await admin.end();
  const tokens = jobs.map(({ payload }) => (JSON.parse(payload as string) as { token: string }).token);
  await withEngine(urls, async ({ producer }) => {
    for (const token of tokens) if (!sent.has(token)) await producer.signal(SIGNAL, token, 'late');
  });
}

/** An engine past the proxies. */
async function withEngine(urls: readonly string[], act: (engine: Engine) => Promise<unknown>): Promise<void> {
  const [node] = await findWritableNodes(urls);
  const url = new URL(urls[node ?? 0]!);
  url.pathname = `/${DATABASE}`;
  const dataSource = await new DataSource({ type: 'mysql', url: url.href }).initialize();
  const engine = await openEngine({ dataSource });
  try {
    await act(engine);
  } finally {
    await engine.close();
    await dataSource.destroy();
  }
}

/** Waits until no job remains. Returns the jobs that do not end. */
async function untilDrained(urls: readonly string[]): Promise<string[]> {
  const until = Date.now() + DRAIN_TIMEOUT_MS;
  const admin = await connectAdmin(urls);
  try {
    for (;;) {
      const [jobs] = await admin.query<RowDataPacket[]>('SELECT id, state, attempt, error FROM sql_queue_jobs LIMIT 5');
      const [claims] = await admin.query<RowDataPacket[]>('SELECT * FROM sql_queue_claims LIMIT 5');
      if (jobs.length + claims.length === 0) return [];
      if (Date.now() > until) return [`left unfinished: ${JSON.stringify({ jobs, claims })}`];
      await sleep(100);
    }
  } finally {
    await admin.end();
  }
}

/** Creates the database, and an account with privileges on that database only, like that of an application. */
async function prepare(urls: readonly string[]): Promise<void> {
  const admin = await connectToWritableNode(urls);
  await admin.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.query(`CREATE USER IF NOT EXISTS ${ACCOUNT}@'%'`);
  await admin.query(`GRANT ALL ON ${DATABASE}.* TO ${ACCOUNT}@'%'`);
  await admin.query(`CREATE TABLE ${DATABASE}.orders (token VARCHAR(100) PRIMARY KEY)`);
  await admin.query(
    `CREATE TABLE ${DATABASE}.step_effects (id BIGINT AUTO_INCREMENT PRIMARY KEY, token VARCHAR(100) NOT NULL)`,
  );
  await admin.query(`CREATE TABLE ${DATABASE}.effects (id BIGINT AUTO_INCREMENT PRIMARY KEY, job_id BIGINT NOT NULL)`);
  await admin.query(`USE ${DATABASE}`);
  await addClock(admin);
  await admin.end();
}

async function connectAdmin(urls: readonly string[]): Promise<Connection> {
  const admin = await connectToWritableNode(urls);
  await admin.query(`USE ${DATABASE}`);
  return admin;
}
