import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { Journal } from '../journal.js';
import { writable, writableNodes } from '../own-cluster.js';
import { ProgramProcess } from '../programs.js';
import { WireProxy } from '../wire-proxy.js';
import { Crew } from './crew.js';
import type { ClaimStrategy } from '../../../lib/job/claim-strategy.js';
import { FAULTS, type Battlefield } from './faults.js';
import { Random } from '../random.js';
import { judge } from './judge.js';
import { noteTimeouts } from './timeouts.js';

const ACCOUNT = 'torture';
const DATABASE = 'torture';
const LEASE_MS = 2_000;
// So that it is the lock that tells of a worker's end.
const LEASE_UNDER_LOCK_MS = 20_000;
// So patient that no outage uses up its attempts.
const BACKOFF = { type: 'exponential', delay: 50, max: '2s' };
// A handler's own connection may fall silent for good.
const TIMEOUT_MS = 4_000;
// Of a worker, whatever queues it has.
const CONCURRENCY = 20;
const WORKERS = 3;
const PRODUCERS = 2;
// How long what is left may take at the end, when no fault is on any more; a minute of it may be one that blocks the event loop.
const SETTLE_MS = 90_000;
// A worker that ends by itself has to say why: it could not begin, since the database was away.
const AWAY = 3;

export interface TortureSettings {
  /** Of a server, or of the nodes of a cluster, that nothing else is on: everything may happen to them. */
  readonly urls: readonly string[];
  readonly seconds: number;
  /** So much of it before the first fault. */
  readonly calmMs: number;
  readonly seed: number;
  readonly isMariadb: boolean;
  /** Of each a queue, which has its name. One that is there more often gets more jobs. */
  readonly strategies: readonly ClaimStrategy[];
  /** Kills the server, or that node, and has it back. */
  readonly restart: (node: number) => Promise<void>;
  /** Between two jobs of each of a producer's loops, on average. */
  readonly pauseMs: number;
  readonly faults: readonly string[];
  /** Told what goes on. */
  readonly say: (line: string) => void;
}

export interface TortureReport {
  readonly jobs: Readonly<Record<string, number>>;
  /** How many jobs of each queue were completed. */
  readonly completed: Readonly<Record<string, number>>;
  /** Of each kind: how often, and the longest that no job was completed after its end, in milliseconds. */
  readonly faults: Readonly<Record<string, { times: number; slowestMs: number }>>;
  readonly violations: readonly string[];
}

/** Lets processes work while everything breaks that can, and says what came of it. */
export async function torture(settings: TortureSettings): Promise<TortureReport> {
  const { urls, seed, strategies } = settings;
  const random = new Random(seed);
  const journals = await mkdtemp(join(tmpdir(), 'sql-queue-torture-'));
  const nemesis = new Journal(journals, 'nemesis');
  await prepare(urls);
  const proxies = await Promise.all(urls.map((url) => WireProxy.open(url)));
  // Each process prefers one node, and has the others to go to.
  const site = async () => {
    const able = await writableNodes(urls);
    const first = able.length === 0 ? 0 : random.pick(able);
    const hosts = [...proxies.slice(first), ...proxies.slice(0, first)].map(({ port }) => `127.0.0.1:${port}`);
    return { connection: { type: 'mysql', url: `mysql://${ACCOUNT}@${hosts[0]}/${DATABASE}` }, hosts };
  };
  let isRight = false;
  const crashes: string[] = [];
  const died = (kind: string) => (program: ProgramProcess) => {
    nemesis.noteFor(`${kind}-${program.pid}`, 'died');
    if (program.exitCode !== null && program.exitCode !== AWAY)
      crashes.push(`a ${kind} ended with ${program.exitCode}`);
  };
  const queue = {
    lease: LEASE_MS,
    concurrency: CONCURRENCY,
    timeout: TIMEOUT_MS,
    retry: { attempts: 30, backoff: BACKOFF },
  };
  const ofStrategy = { lock: { lease: LEASE_UNDER_LOCK_MS } } as Partial<Record<ClaimStrategy, object>>;
  const queues = Object.fromEntries(strategies.map((claim) => [claim, { ...queue, claim, ...ofStrategy[claim] }]));
  const workers = new Crew(
    WORKERS,
    async () => {
      const worker = { heartbeat: random.pick(['main', 'thread']), concurrency: CONCURRENCY };
      const clockOffsetMs = random.pick([0, 3_600_000, -3_600_000]);
      const given = { ...(await site()), journals, seed: random.between(1, 1e9), queues, worker, clockOffsetMs };
      return ProgramProcess.start('torture-worker', given);
    },
    died('worker'),
  );
  const producers = new Crew(
    PRODUCERS,
    async () =>
      ProgramProcess.start('torture-producer', {
        ...{ ...(await site()), journals, seed: random.between(1, 1e9), queues: strategies },
        ...{ lease: LEASE_MS, pauseMs: settings.pauseMs },
      }),
    died('producer'),
  );
  const field: Battlefield = {
    ...{ random, workers, producers, proxies, account: ACCOUNT, database: DATABASE, leaseMs: LEASE_MS },
    isMariadb: settings.isMariadb,
    admin: () => writable(urls),
    restart: () => settings.restart(random.between(0, urls.length - 1)),
  };
  try {
    const faults = await haunt(field, nemesis, settings);
    settings.say('no more faults: what is left is done');
    await producers.stop();
    const unfinished = await settle(urls);
    settings.say('nothing is left');
    await workers.stop();
    settings.say('the history is read');
    const admin = await connected(urls);
    const { jobs, completed, found } = await judge(admin, journals);
    await admin.end();
    const all = [...crashes, ...unfinished, ...found];
    isRight = all.length === 0;
    return { jobs, completed, faults, violations: all };
  } finally {
    await Promise.all([producers.stop(), workers.stop()]);
    await Promise.all(proxies.map((proxy) => proxy.close()));
    if (isRight) await rm(journals, { recursive: true, force: true });
    else settings.say(`all that the processes noted is in ${journals}`);
  }
}

/** One fault after the other, each after the one before has been got over. */
async function haunt(
  field: Battlefield,
  nemesis: Journal,
  { faults: names, seconds, calmMs, say, urls }: TortureSettings,
) {
  const faults: Record<string, { times: number; slowestMs: number }> = {};
  // However long the processes take to start.
  await progress(field);
  const admin = await connected(urls);
  await noteTimeouts(admin);
  await admin.end();
  const until = Date.now() + seconds * 1_000;
  await sleep(calmMs);
  nemesis.note('broken');
  // Each once before any comes again.
  let left: string[] = [];
  while (Date.now() < until) {
    if (left.length === 0) left = [...names];
    const [name] = left.splice(field.random.between(0, left.length - 1), 1) as [string];
    const from = Date.now();
    await FAULTS[name]!(field);
    const lastedMs = Date.now() - from;
    const tookMs = await progress(field);
    say(`${name}: ${lastedMs} ms, jobs completed again after ${tookMs} ms`);
    const known = (faults[name] ??= { times: 0, slowestMs: 0 });
    known.times++;
    known.slowestMs = Math.max(known.slowestMs, tookMs);
    await sleep(field.random.between(0, 1_000));
  }
  return faults;
}

/** How long it takes until jobs complete again. */
async function progress({ workers }: Battlefield): Promise<number> {
  const from = Date.now();
  const before = workers.completed;
  while (workers.completed <= before && Date.now() - from < SETTLE_MS) await sleep(20);
  return Date.now() - from;
}

/** Waits until nothing is left to do; names what does not end. */
async function settle(urls: readonly string[]): Promise<string[]> {
  const until = Date.now() + SETTLE_MS;
  const admin = await connected(urls);
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

/** An account without any privilege but on its own database, as an application's should be. */
async function prepare(urls: readonly string[]): Promise<void> {
  const admin = await writable(urls);
  await admin.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.query(`CREATE USER IF NOT EXISTS ${ACCOUNT}@'%'`);
  await admin.query(`GRANT ALL ON ${DATABASE}.* TO ${ACCOUNT}@'%'`);
  await admin.query(`CREATE TABLE ${DATABASE}.orders (token VARCHAR(100) PRIMARY KEY)`);
  await admin.query(`CREATE TABLE ${DATABASE}.effects (id BIGINT AUTO_INCREMENT PRIMARY KEY, job_id BIGINT NOT NULL)`);
  await admin.end();
}

async function connected(urls: readonly string[]): Promise<Connection> {
  const admin = await writable(urls);
  await admin.query(`USE ${DATABASE}`);
  return admin;
}
