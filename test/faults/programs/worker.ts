import { setImmediate } from 'node:timers/promises';
import mysql2, { type PoolOptions } from 'mysql2';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { QueueOptions } from '../../../lib/job/queue-options.js';
import type { SubscriptionOptions } from '../../../lib/job/topics.js';
import type { JobContext } from '../../../lib/runtime/job-context.js';
import type { QueueEventName } from '../../../lib/job/queue-event.js';
import type { WorkerOptions } from '../../../lib/runtime/worker-options.js';
import { openEngine, type Engine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';

/** What a worker process is told at its start. */
export interface WorkerSettings {
  readonly connection: object;
  readonly journals: string;
  readonly queue: QueueOptions;
  readonly worker?: WorkerOptions;
  /** What its queue gets copies of. */
  readonly subscription?: SubscriptionOptions;
  /** How many there are in the process. Default 1; the test's messages are for the first. */
  readonly workers?: number;
  readonly skewMs?: number;
  /** The time zone of all its sessions, the library's own among them. */
  readonly sessionTimeZone?: string;
  /** The events the test wants to hear of; all go into the journal. */
  readonly tell?: readonly QueueEventName[];
}

/** What its jobs ask of it. */
export interface Wish {
  /** Ends the process from within the handler. */
  exit?: boolean;
  /** Goes on until the test says `{ finish: true }`, or `{ finish: id }` to this job alone, whatever the signal says. */
  hold?: boolean;
  /** Keeps the thread for so many milliseconds, as one does that computes without a pause. */
  block?: number;
  /** Does that so many times, tells how far it is, and lets the event loop turn once in between. */
  times?: number;
  /** Throws in its first attempt. */
  failFirst?: boolean;
  /** What it returns: the process that has run it, or the job too. */
  answer?: 'process' | 'job';
}

interface Message {
  finish?: true | number;
  stop?: true;
  enqueue?: Wish;
  delay?: number;
  runAt?: number;
}

const settings = JSON.parse(process.argv[2]!) as WorkerSettings;
const { connection, queue, tell = [], skewMs = 0, worker = {}, workers = 1 } = settings;
const journal = new Journal(settings.journals, `worker-${process.pid}`);
const say = (message: object) => void process.send?.(message);
let finish!: () => void;
const finished = new Promise<void>((resolve) => (finish = resolve));
const held = new Map<number, () => void>();

async function handle(job: JobContext<Wish>): Promise<number | string> {
  const { id, attempt, payload, signal } = job;
  journal.note('begin', id, attempt);
  try {
    if (payload.exit) process.exit(1);
    for (let turn = 1; payload.block && turn <= (payload.times ?? 1); turn++) {
      if (payload.times) {
        job.progress(turn);
        await setImmediate();
      }
      block(id, payload.block);
    }
    if (payload.hold) await hold(id, signal);
    if (payload.failFirst && attempt === 1) throw new Error('the first time fails');
    return payload.answer === 'job' ? `${id} by ${process.pid}` : process.pid;
  } finally {
    journal.note('end', id, attempt);
  }
}

function block(job: number, ms: number): void {
  say({ said: 'blocking', job });
  // The event loop stands still all the same, and the core is free for others.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function hold(job: number, signal: AbortSignal): Promise<void> {
  signal.addEventListener('abort', () => say({ said: `aborted ${(signal.reason as { code: string }).code}`, job }));
  const alone = new Promise<void>((resolve) => held.set(job, resolve));
  say({ said: 'holding', job });
  await Promise.race([finished, alone]);
  held.delete(job);
}

const driver = settings.sessionTimeZone === undefined ? undefined : driverIn(settings.sessionTimeZone);
const dataSource = await new DataSource({ ...connection, ...(driver && { driver }) } as DataSourceOptions).initialize();
const engines = await Promise.all(Array.from({ length: workers }, start));
const [engine] = engines as [Engine];
process.on('message', (message: Message) => {
  if (message.finish === true) finish();
  else if (message.finish !== undefined) held.get(message.finish)?.();
  if (message.stop) void end();
  if (message.enqueue) void enqueue(message.enqueue, message);
});
// The test is gone.
process.on('disconnect', () => process.exit(1));
say({ ready: true });

async function start(): Promise<Engine> {
  const started = await openEngine({
    ...{ dataSource, worker, skewMs: () => skewMs },
    queues: { q: queue },
    subscriptions: settings.subscription && { q: settings.subscription },
    handlers: { q: handle },
  });
  const add = started.events.add.bind(started.events);
  started.events.add = (event) => {
    add(event);
    if (event.event !== 'started') journal.note(event.event, event.jobId, event.attempt);
    if (tell.includes(event.event)) say({ event });
  };
  await started.runner.start();
  return started;
}

async function enqueue(wish: Wish, { delay, runAt }: Message): Promise<void> {
  const at = runAt === undefined ? {} : { runAt: new Date(runAt) };
  const { id } = await engine.producer.enqueue('q', wish, { ...(delay === undefined ? {} : { delay }), ...at });
  journal.note('enqueued', id);
  say({ said: 'enqueued', job: id });
}

function driverIn(timeZone: string): object {
  const createPool = (options: PoolOptions) => {
    const pool = mysql2.createPool(options);
    pool.on('connection', (made) => made.query(`SET time_zone = '${timeZone}'`));
    return pool;
  };
  return { ...mysql2, createPool };
}

async function end(): Promise<void> {
  await Promise.all(engines.map(({ runner }) => runner.stop()));
  await Promise.all(engines.map(({ close }) => close()));
  await dataSource.destroy();
  // Nothing may be left that keeps the process alive.
  process.removeAllListeners('disconnect');
  process.disconnect();
}
