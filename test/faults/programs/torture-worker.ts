import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { QueueOptions } from '../../../lib/job/queue-options.js';
import { InvalidOptionsError } from '../../../lib/job/errors.js';
import type { JobContext } from '../../../lib/worker/run/job-context.js';
import type { WorkerOptions } from '../../../lib/worker/worker-options.js';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import { newJob } from '../../support/jobs.js';
import { Random } from '../../support/random.js';
import { newSchedule } from '../../support/schedules.js';
import {
  CHILD_MARK,
  CHILDREN,
  LIMITED_QUEUE,
  NO_SIGNAL,
  SIGNAL,
  TICK_MS,
  type TortureJob,
} from '../../support/torture/torture-job.js';
import { shiftClock } from '../../support/torture/shift-clock.js';

const { connection, hosts, journals, seed, queues, worker, clockOffsetMs } = JSON.parse(process.argv[2]!) as {
  connection: object;
  /** All nodes, the node of `connection` first. */
  hosts: readonly string[];
  journals: string;
  seed: number;
  queues: Record<string, QueueOptions>;
  worker: WorkerOptions;
  clockOffsetMs: number;
};
const POOL = 4;

shiftClock(clockOffsetMs);
const random = new Random(seed);
const journal = new Journal(journals, `worker-${process.pid}`);
const options = { ...connection, extra: { connectionLimit: POOL } } as DataSourceOptions;
const dataSource = await new DataSource(options).initialize().catch(exitDatabaseAway);
const handlers = Object.fromEntries(Object.keys(queues).map((queue) => [queue, handle]));
const tick = newJob({ queue: LIMITED_QUEUE, payload: '{"token":"tick","kind":"plain"}' });
const declaredSchedules = [newSchedule({ name: 'ticks', everyMs: TICK_MS, job: tick })];
const engine = await openEngine({ dataSource, hosts, worker, queues, handlers, declaredSchedules }).catch(
  exitDatabaseAway,
);
let completed = 0;
const add = engine.events.add.bind(engine.events);
engine.events.add = (event) => {
  // Only the journal keeps events, because there are very many.
  void add;
  if (event.event !== 'started') journal.append(event.event, event.jobId, event.attempt);
  if (event.event === 'completed') completed++;
};
process.on('disconnect', () => process.exit(1));
process.on('message', (message: { stop?: true; block?: number }) => {
  if (message.stop) void end();
  else if (message.block) block(message.block);
});
await engine.runner.start().catch(exitDatabaseAway);
process.send?.({ ready: true });
const progressTimer = setInterval(() => process.send?.({ completed }), 100);

/**
 * After a failover, connections of the application may go to a replica. Then the process starts anew. A single server
 * accepts writes again.
 */
function requireWritable(error: unknown): never {
  if ((error as { errno?: number }).errno === 1290 && hosts.length > 1) exitDatabaseAway(error);
  throw error;
}

/** The database is away: another process tries again. */
function exitDatabaseAway(error: unknown): never {
  if (error instanceof InvalidOptionsError) throw error;
  process.exit(3);
}

async function handle(job: JobContext<TortureJob>): Promise<void> {
  journal.append('begin', job.id, job.attempt);
  try {
    await work(job);
  } finally {
    journal.append('end', job.id, job.attempt);
  }
}

async function work(job: JobContext<TortureJob>): Promise<void> {
  switch (job.payload.kind) {
    case 'plain':
      return;
    case 'slow':
      return sleep(random.between(50, 500));
    case 'fails':
      if (random.next() < 0.5) throw new Error('as instructed');
      return;
    case 'snoozes':
      if (random.next() < 0.5) job.snooze(random.between(1, 100));
      return;
    case 'releases':
      if (random.next() < 0.5) job.release();
      return;
    case 'discards':
      return job.discard('as instructed');
    case 'transacts':
      // Exactly one effect per completion.
      await job
        .transaction((manager) => manager.query('INSERT INTO effects (job_id) VALUES (?)', [job.id]))
        .catch(requireWritable);
      return;
    case 'steps':
      await workOnce(job);
      return job.sleep('nap', random.between(1, 200));
    case 'waits':
      await workOnce(job);
      // The signal may come before the wait, in it, or while the job waits for its next attempt.
      if ((await job.waitFor(SIGNAL, { key: job.payload.token, timeout: '1d' })) === undefined) job.discard(NO_SIGNAL);
      if (random.next() < 0.3) throw new Error('as instructed');
      if (random.next() < 0.2) job.snooze(random.between(1, 500));
      return;
    case 'fans-out': {
      const children = Array.from({ length: CHILDREN }, (_, n): TortureJob => {
        return {
          token: `${job.payload.token}${CHILD_MARK}${n}`,
          kind: random.pick(['plain', 'fails', 'discards'] as const),
        };
      });
      const onFailure = random.pick(['run', 'cancel'] as const);
      await job.fanOut(job.queue, children, { onFailure, ...(job.group && { group: job.group }) });
      return;
    }
    case 'blocks':
      return block(random.between(10, 100));
    case 'exhausts':
      // Handlers occupy all connections of the application.
      await Promise.all(Array.from({ length: POOL }, () => dataSource.query('SELECT SLEEP(0.2)')));
  }
}

/** A step whose effect commits with it. */
async function workOnce(job: JobContext<TortureJob>): Promise<void> {
  await job
    .step('once', { transaction: true }, (manager) =>
      manager.query('INSERT INTO step_effects (token) VALUES (?)', [job.payload.token]),
    )
    .catch(requireWritable);
  if (random.next() < 0.3) throw new Error('as instructed');
}

function block(ms: number): void {
  const until = process.hrtime.bigint() + BigInt(ms) * 1_000_000n;
  while (process.hrtime.bigint() < until);
}

async function end(): Promise<void> {
  clearInterval(progressTimer);
  await engine.runner.stop();
  await engine.close();
  // Silent connections of the application would keep the process alive.
  process.exit(0);
}
