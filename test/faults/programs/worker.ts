import { setImmediate, setTimeout } from 'node:timers/promises';
import mysql2, { type PoolOptions } from 'mysql2';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { QueueOptions } from '../../../lib/job/queue-options.js';
import type { SubscriptionOptions } from '../../../lib/job/topics.js';
import type { NewSchedule } from '../../../lib/job/schedules/schedule.js';
import type { JobContext } from '../../../lib/worker/run/job-context.js';
import type { QueueEventName } from '../../../lib/job/queue-event.js';
import type { WorkerOptions } from '../../../lib/worker/worker-options.js';
import { openEngine, type Engine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import { runLoggedJob, type LoggedJob } from '../../support/logged-jobs.js';

/** The settings of a worker process. */
export interface WorkerSettings {
  readonly connection: object;
  readonly journals: string;
  readonly queue: QueueOptions;
  readonly worker?: WorkerOptions;
  /** The nodes of a cluster. */
  readonly hosts?: readonly string[];
  /** The schedules from code. */
  readonly declaredSchedules?: readonly NewSchedule[];
  /** The subscription of its queue. */
  readonly subscription?: SubscriptionOptions;
  /** The number of workers in the process. Default 1. The messages of the test go to the first. */
  readonly workers?: number;
  readonly skewMs?: number;
  /** The time zone of all sessions, including those of the library. */
  readonly sessionTimeZone?: string;
  /** The events to forward to the test. The journal contains all events. */
  readonly forward?: readonly QueueEventName[];
}

/** Instructions in the payload of a job. */
export interface JobInstructions extends LoggedJob {
  /** Ends the process from within the handler. */
  exit?: boolean;
  /** Runs until the test sends `{ finish: true }`, or `{ finish: id }` for this job alone, even after an abort. */
  hold?: boolean;
  /** Blocks the thread for this many milliseconds, like a computation without a pause. */
  block?: number;
  /** Repeats the block this many times. Before each one it reports progress and lets the event loop turn once. */
  times?: number;
  /** Takes this many milliseconds, without blocking the thread. */
  sleep?: number;
  /** Throws in its first attempt. */
  failFirst?: boolean;
  /** The result: the id of the process, or of the job as well. */
  answer?: 'process' | 'job';
}

interface Message {
  finish?: true | number;
  stop?: true;
  freeze?: true;
  enqueue?: JobInstructions;
  delay?: number;
  runAt?: number;
}

const settings = JSON.parse(process.argv[2]!) as WorkerSettings;
const { connection, queue, forward = [], skewMs = 0, worker = {}, workers = 1 } = settings;
const journal = new Journal(settings.journals, `worker-${process.pid}`);
const send = (message: object) => void process.send?.(message);
let finish!: () => void;
const finished = new Promise<void>((resolve) => (finish = resolve));
const finishHandlers = new Map<number, () => void>();

async function handle(job: JobContext<JobInstructions>): Promise<number | string> {
  const { id, attempt, payload, signal } = job;
  journal.append('begin', id, attempt);
  try {
    if (payload.exit) process.exit(1);
    for (let turn = 1; payload.block && turn <= (payload.times ?? 1); turn++) {
      if (payload.times) {
        job.progress(turn);
        await setImmediate();
      }
      block(id, payload.block);
    }
    if (payload.sleep) await setTimeout(payload.sleep);
    await runLoggedJob(job, dataSource);
    if (payload.hold) await untilFinished(id, signal);
    if (payload.failFirst && attempt === 1) throw new Error('the first time fails');
    return payload.answer === 'job' ? `${id} by ${process.pid}` : process.pid;
  } finally {
    journal.append('end', id, attempt);
  }
}

function block(job: number, ms: number): void {
  send({ text: 'blocking', job });
  // Blocks the event loop, but leaves the core to other processes.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function untilFinished(job: number, signal: AbortSignal): Promise<void> {
  signal.addEventListener('abort', () => send({ text: `aborted ${(signal.reason as { code: string }).code}`, job }));
  const finishedAlone = new Promise<void>((resolve) => finishHandlers.set(job, resolve));
  send({ text: 'holding', job });
  await Promise.race([finished, finishedAlone]);
  finishHandlers.delete(job);
}

const driver = settings.sessionTimeZone === undefined ? undefined : driverInTimeZone(settings.sessionTimeZone);
const dataSource = await new DataSource({ ...connection, ...(driver && { driver }) } as DataSourceOptions).initialize();
const engines = await Promise.all(Array.from({ length: workers }, start));
const [engine] = engines as [Engine];
process.on('message', (message: Message) => {
  if (message.finish === true) finish();
  else if (message.finish !== undefined) finishHandlers.get(message.finish)?.();
  if (message.stop) void end();
  // A signal of the test could stop this process between the check of a connection and the statement that follows.
  if (message.freeze) process.kill(process.pid, 'SIGSTOP');
  if (message.enqueue) void enqueue(message.enqueue, message);
});
// The test has ended.
process.on('disconnect', () => process.exit(1));
send({ ready: true });

async function start(): Promise<Engine> {
  const started = await openEngine({
    ...{ dataSource, worker, skewMs: () => skewMs },
    hosts: settings.hosts,
    queues: { q: queue },
    declaredSchedules: settings.declaredSchedules,
    subscriptions: settings.subscription && { q: settings.subscription },
    handlers: { q: handle },
  });
  const add = started.events.add.bind(started.events);
  started.events.add = (event) => {
    add(event);
    if (event.event !== 'started') journal.append(event.event, event.jobId, event.attempt);
    if (forward.includes(event.event)) send({ event });
  };
  await started.runner.start();
  return started;
}

async function enqueue(instructions: JobInstructions, { delay, runAt }: Message): Promise<void> {
  const at = runAt === undefined ? {} : { runAt: new Date(runAt) };
  const { id } = await engine.producer.enqueue('q', instructions, { ...(delay === undefined ? {} : { delay }), ...at });
  journal.append('enqueued', id);
  send({ text: 'enqueued', job: id });
}

function driverInTimeZone(timeZone: string): object {
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
  // No listener may keep the process alive.
  process.removeAllListeners('disconnect');
  process.disconnect();
}
