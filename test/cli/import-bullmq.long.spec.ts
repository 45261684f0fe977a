import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { installLibrary } from '../support/built-library.js';
import { BULLMQ_PROJECT, loadBullmq, type TestBullmq, type TestQueue } from '../support/bullmq.js';
import { describeEngines, type World } from '../support/engines.js';
import { OwnRedis } from '../support/own-redis.js';

interface Ended {
  code: number;
  out: string;
  err: string;
}

interface Report {
  moved: Record<string, number>;
  known: number;
  schedulers: number;
  left: number;
  leftJobs: { id: string; reason: string }[];
  waitingInRedis: number;
}

const root = resolve(import.meta.dirname, '../..');
let folder: string;
let bullmq: TestBullmq;
let redis: OwnRedis;

beforeAll(async () => {
  bullmq = await loadBullmq();
  redis = await OwnRedis.start();
  folder = await mkdtemp(join(tmpdir(), 'sql-queue-import-'));
  await installLibrary(join(folder, 'package'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
});
afterAll(async () => {
  await redis?.end();
  await rm(folder, { recursive: true, force: true });
});

function programOf({ dataSource }: World, args: readonly string[]) {
  const options = dataSource.options as { type: string; url?: string; database?: string };
  const url = options.type === 'better-sqlite3' ? `sqlite:${options.database}` : options.url!;
  const env = { ...process.env, NODE_OPTIONS: '', SQL_QUEUE_URL: url, REDIS_URL: redis.url };
  const command = [join(folder, 'package/dist/cli.js'), 'import-bullmq', ...args, '--yes'];
  return { command, options: { env, cwd: BULLMQ_PROJECT } };
}

async function runImport(world: World, ...args: string[]): Promise<Ended> {
  const { command, options } = programOf(world, args);
  const running = promisify(execFile)(process.execPath, command, options);
  const ended = (await running.catch((error: object) => error)) as { stdout: string; stderr: string; code?: number };
  return { code: ended.code ?? 0, out: ended.stdout, err: ended.stderr };
}

async function reportOf(world: World, ...args: string[]): Promise<Report> {
  const { code, out, err } = await runImport(world, ...args, '--json');
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Report;
}

describeEngines('the command import-bullmq', (setup) => {
  const cleanups: (() => unknown)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  const open = async (handlers: Record<string, (job: JobContext) => unknown> = {}) => {
    const world = await setup();
    const engine = await world.start({ handlers, autoStart: false });
    const connection = { url: redis.url };
    const source = new bullmq.Queue('mails', { connection });
    await source.obliterate({ force: true });
    cleanups.push(() => source.close());
    return { world, ...engine, source, connection };
  };

  const payloads = async (source: TestQueue) =>
    (await source.getJobs(['waiting', 'prioritized', 'delayed', 'failed'], 0, -1, true)).map(({ data }) => data);

  it('moves waiting, prioritized and delayed jobs with their names, options and times, in their order', async () => {
    const seen: unknown[] = [];
    const { world, admin, runner, events, source } = await open({ mails: (job) => void seen.push(job.payload) });
    await source.add('welcome', { n: 1 });
    await source.add(
      'later',
      { n: 4 },
      { delay: 3_600_000, attempts: 4, backoff: { type: 'exponential', delay: 500 } },
    );
    await source.add('low', { n: 3 }, { priority: 7 });
    await source.add('first', { n: 0 }, { lifo: true });
    await source.add('named', 'a text', { jobId: 'order-7', attempts: 2, backoff: 100 });

    const report = await reportOf(world, 'mails', '--create');
    const { jobs } = await admin.find({ queue: 'mails' });
    await runner.start();
    await events.untilCount(4, 'completed');

    expect(report).toMatchObject({
      ...{ moved: { waiting: 3, prioritized: 1, delayed: 1 }, known: 0, left: 0, waitingInRedis: 0 },
    });
    const key = expect.stringMatching(/^bullmq:mails:\w/);
    expect(jobs).toMatchObject([
      { name: 'first', payload: { n: 0 }, state: 'waiting', maxAttempts: 1, key },
      { name: 'welcome', payload: { n: 1 }, state: 'waiting', maxAttempts: 1 },
      { name: 'named', payload: 'a text', maxAttempts: 2, headers: { 'bullmq.id': 'order-7' } },
      { name: 'low', payload: { n: 3 }, priority: 7 },
      { name: 'later', payload: { n: 4 }, state: 'scheduled', maxAttempts: 4 },
    ]);
    const laterMs = jobs[4]!.runAt!.getTime() - jobs[4]!.createdAt.getTime();
    expect(laterMs).toBeGreaterThan(3_500_000);
    expect(laterMs).toBeLessThan(3_600_000);
    expect(seen).toEqual([{ n: 0 }, { n: 1 }, 'a text', { n: 3 }]);
    expect(await payloads(source)).toEqual([]);
  });

  it('moves the remaining attempts of a job that waits for a retry, and when it is due', async () => {
    const { world, admin, source, connection } = await open();
    await source.add('sync', {}, { attempts: 5, backoff: { type: 'fixed', delay: 600_000 } });
    const worker = new bullmq.Worker('mails', () => Promise.reject(new Error('503')), { connection });
    await new Promise<void>((failed) => worker.on('failed', () => failed()));
    await worker.close();

    await reportOf(world, 'mails', '--create');

    const { jobs } = await admin.find({ queue: 'mails' });
    expect(jobs).toMatchObject([{ state: 'scheduled', maxAttempts: 4 }]);
    const laterMs = jobs[0]!.runAt!.getTime() - jobs[0]!.createdAt.getTime();
    expect(laterMs).toBeGreaterThan(500_000);
    expect(laterMs).toBeLessThan(600_000);
  });

  it('moves failed jobs into the history with their error, and they can be retried', async () => {
    const { world, admin, runner, events, source, connection } = await open({ mails: () => 'sent' });
    const { id } = await source.add('sync', { n: 1 }, { attempts: 3 });
    const worker = new bullmq.Worker('mails', () => Promise.reject(new Error('550 no such user')), { connection });
    await new Promise<void>((dead) =>
      worker.on('failed', (job: { attemptsMade: number }) => job.attemptsMade === 3 && dead()),
    );
    await worker.close();

    const without = await reportOf(world, 'mails', '--create');
    const failed = await reportOf(world, 'mails', '--create', '--failed');
    const { jobs } = await admin.find({ queue: 'mails', state: 'dead' });
    const retried = await admin.retry({ queue: 'mails', state: 'dead' });
    await runner.start();
    await events.until('completed');

    expect([without.moved, failed.moved]).toEqual([{}, { failed: 1 }]);
    expect(jobs).toMatchObject([
      {
        ...{ name: 'sync', payload: { n: 1 }, headers: { 'bullmq.id': id }, attempt: 3, maxAttempts: 3 },
        error: { name: 'Error', message: '550 no such user', stack: expect.stringContaining('550 no such user') },
      },
    ]);
    expect(retried).toBe(1);
    expect(await payloads(source)).toEqual([]);
  });

  it('moves job schedulers with their pattern, zone, data and next run', async () => {
    const { world, admin, schedules, source } = await open();
    // 29 February: the zone decides which of two days is meant, and no tick comes while the test runs.
    await source.upsertJobScheduler(
      'leap',
      { pattern: '0 3 29 2 *', tz: 'Europe/Berlin' },
      { name: 'report', data: 7 },
    );
    await source.upsertJobScheduler('local', { pattern: '0 0 5 29 2 *', endDate: 4_000_000_000_000 }, { name: 'l' });
    await source.upsertJobScheduler('often', { every: 3_600_000 }, { name: 'o', opts: { attempts: 3 } });
    await source.upsertJobScheduler('thrice', { every: 3_600_000, limit: 3 }, { name: 't' });
    const [next] = await source.getJobs(['delayed'], 0, 0, true);

    const tried = await runImport(world, 'mails', '--dry-run');
    const first = await runImport(world, 'mails', '--create', '--tz', 'Asia/Tokyo', '--json');
    const { code, out } = await runImport(world, 'mails', '--json');

    expect(tried).toMatchObject({ code: 0, out: expect.stringContaining('  thrice: it has the limit 3, which') });
    expect(first.code).toBe(1);
    expect(JSON.parse(first.out)).toMatchObject({ schedulers: 3, left: 1, leftJobs: [{ id: 'thrice' }] });
    expect({ code, report: JSON.parse(out) as Report }).toMatchObject({ code: 1, report: { schedulers: 0, left: 1 } });
    expect(await schedules.list()).toMatchObject([
      { name: 'leap', cron: '0 3 29 2 *', tz: 'Europe/Berlin', payload: 7, jobName: 'report', queue: 'mails' },
      { name: 'local', cron: '0 0 5 29 2 *', tz: 'Asia/Tokyo', until: new Date(4_000_000_000_000), jobName: 'l' },
      { name: 'often', everyMs: 3_600_000, overlap: 'one-waiting' },
    ]);
    expect(next).toBeDefined();
    // BullMQ starts the first job of an interval at once.
    expect((await admin.find({ queue: 'mails' })).jobs).toMatchObject([{ name: 'o', maxAttempts: 3 }]);
    expect((await source.getJobSchedulers(0, -1, true)).map(({ key }) => key)).toEqual(['thrice']);
  });

  it('takes the data and the options of a job scheduler without a template from its next job', async () => {
    const { world, schedules, source } = await open();
    const template = { name: 'report', data: { to: 'ann' }, opts: { attempts: 3 } };
    await source.upsertJobScheduler('leap', { pattern: '0 3 29 2 *', tz: 'UTC' }, template);
    // So BullMQ 5 stores a job with the option `repeat` before its first run.
    await deleteTemplate(source, 'leap');

    const report = await reportOf(world, 'mails', '--create');

    expect(report).toMatchObject({ schedulers: 1, left: 0 });
    expect(await schedules.list()).toMatchObject([
      { name: 'leap', jobName: 'report', payload: { to: 'ann' }, options: { retry: { attempts: 3 } } },
    ]);
  });

  it('leaves a schedule of the application as it is, and runs its tick once', async () => {
    const { world, admin, schedules, source } = await open();
    await source.upsertJobScheduler('leap', { pattern: '0 3 29 2 *', tz: 'UTC' }, { name: 'old' });
    await schedules.upsert('leap', { queue: 'mails', cron: '0 3 29 2 *', jobName: 'new' });

    const report = await reportOf(world, 'mails');

    expect(report).toMatchObject({ schedulers: 1, left: 0 });
    expect(await schedules.list()).toMatchObject([{ name: 'leap', jobName: 'new' }]);
    expect(await admin.counts('mails')).toMatchObject({ waiting: 0, scheduled: 0 });
  });

  it('refuses to move while a job is active, and changes nothing', async () => {
    const { world, admin, source, connection } = await open();
    await source.addBulk([1, 2].map((n) => ({ name: 'job', data: n })));
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const worker = new bullmq.Worker('mails', () => released, { connection });
    await new Promise<void>((active) => worker.on('active', () => active()));

    const { code, err } = await runImport(world, 'mails', '--create');
    const isPaused = await source.isPaused();
    const waiting = await payloads(source);
    release();
    await worker.close();

    expect(code).toBe(1);
    expect(err).toContain('1 jobs of mails are active in BullMQ. Stop its workers');
    expect(isPaused).toBe(false);
    expect(waiting).toEqual([2]);
    expect((await admin.counts('mails')).waiting).toBe(0);
  });

  it('leaves jobs of flows and invalid ones in Redis, and says why', async () => {
    const { world, admin, source, connection } = await open();
    const flows = new bullmq.FlowProducer({ connection });
    cleanups.push(() => flows.close());
    await flows.add({ name: 'parent', queueName: 'mails', children: [{ name: 'child', queueName: 'mails' }] });
    await source.addBulk(['good', 'send mail', 'odd name'].map((name) => ({ name, data: name })));

    const { code, out, err } = await runImport(world, 'mails', '--create', '--rename', 'send mail=send-mail');

    expect(code).toBe(1);
    expect(out).toContain('Moved to mails: 2 waiting');
    expect(out).toContain('In Redis remain 3 jobs');
    expect(out).toContain('1 wait for the children of their flows, and stay with them.');
    expect(out).toMatch(/it is part of a flow\n {2}\d+: .*expected name to be 1 to 100 of the characters.*"odd name"/s);
    expect(err).toContain('Some jobs stay in Redis.');
    expect((await admin.find({ queue: 'mails' })).jobs.map(({ name }) => name)).toEqual(['good', 'send-mail']);
  });

  it('loses and doubles no job if it is killed between the commit and the deletion of a page, and is repeated', async () => {
    const runs = new Map<unknown, number>();
    const { world, runner, source } = await open({
      mails: ({ payload }) => void runs.set(payload, (runs.get(payload) ?? 0) + 1),
    });
    const numbers = Array.from({ length: 2_200 }, (_, n) => n);
    await source.addBulk(numbers.map((n) => ({ name: 'job', data: n })));
    await runner.start();

    const kills: (string | null)[] = [];
    for (const deletions of [0, 1, 4]) {
      const proxy = await DeletionProxy.start(redis.url, deletions);
      const { command, options } = programOf(world, ['mails', '--create', '--redis', proxy.url]);
      const child = spawn(process.execPath, command, { ...options, stdio: 'ignore' });
      proxy.onDeletion = () => child.kill('SIGKILL');
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
      kills.push(signal);
      await proxy.close();
      // The next import finds jobs that have ended here and are still in Redis.
      await runner.whenIdle();
    }
    const report = await reportOf(world, 'mails', '--create');
    await runner.whenIdle();

    expect(kills).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL']);
    expect(report).toMatchObject({ left: 0, waitingInRedis: 0 });
    expect(report.known).toBeGreaterThan(0);
    expect([...runs.keys()].sort((a, b) => Number(a) - Number(b))).toEqual(numbers);
    expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
  });
});

/** Stands between a client and Redis, and holds back what the client sends from some deletion of a job on. */
class DeletionProxy {
  onDeletion = () => {};
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param passing the number of packets with deletions that pass */
  static async start(redisUrl: string, passing: number): Promise<DeletionProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new DeletionProxy(server, `redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (client) => proxy.#relay(client, redisUrl, () => passing-- > 0));
    return proxy;
  }

  #relay(client: Socket, redisUrl: string, mayPass: () => boolean): void {
    const upstream = connect(Number(new URL(redisUrl).port), '127.0.0.1');
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    let isHeld = false;
    upstream.pipe(client);
    client.on('data', (packet) => {
      isHeld ||= isDeletion(packet.toString('latin1')) && !mayPass();
      if (isHeld) this.onDeletion();
      else upstream.write(packet);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

async function deleteTemplate(source: TestQueue, scheduler: string): Promise<void> {
  const client = await (source.getBackend?.().client ?? source.client!);
  const { hdel } = client as unknown as { hdel(key: string, ...fields: string[]): Promise<number> };
  expect(await hdel.call(client, source.toKey(`repeat:${scheduler}`), 'data', 'opts')).toBe(2);
}

/** The script that deletes a job is the only one with the key of the job schedulers. */
function isDeletion(packet: string): boolean {
  return /\r\neval/i.test(packet) && packet.includes('bull:mails:repeat\r\n');
}
