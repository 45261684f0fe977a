import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import { Random } from '../../support/random.js';
import { KINDS, type TortureJob } from '../../support/torture/torture-job.js';

const { connection, hosts, journals, seed, queues, lease, pauseMs } = JSON.parse(process.argv[2]!) as {
  connection: object;
  /** All nodes, the one of `connection` first. */
  hosts: readonly string[];
  journals: string;
  seed: number;
  /** One that is there more often gets more jobs. */
  queues: readonly string[];
  /** As the workers have it: how long an answer is waited for follows from it. */
  lease: number;
  /** Between two jobs of one loop. */
  pauseMs: number;
};
const LOOPS = 4;
const PATIENCE_MS = 4_000;
// Of all queues together.
const MOST_WAITING = 500;

const random = new Random(seed);
const journal = new Journal(journals, `producer-${process.pid}`);
const dataSource = await new DataSource(connection as DataSourceOptions).initialize().catch(away);
const { producer, close } = await openEngine({
  dataSource,
  hosts,
  queues: Object.fromEntries(queues.map((queue) => [queue, { maxWaiting: MOST_WAITING / queues.length, lease }])),
}).catch(away);
process.on('disconnect', () => process.exit(1));
const stopping = new AbortController();
process.on('message', () => stopping.abort());
process.send?.({ ready: true });

/**
 * The application's own connections go to a node that a failover has made a replica: as for any such, begin anew. A server
 * by itself will take writes again.
 */
function requireWritable(error: unknown): never {
  if ((error as { errno?: number }).errno === 1290 && hosts.length > 1) away();
  throw error;
}

/** The database is away just now: another process will try it again. */
function away(): never {
  process.exit(3);
}

let count = 0;
await Promise.all(Array.from({ length: LOOPS }, produce));
await close();
// The application's own connections may be silent ones.
process.exit(0);

async function produce(): Promise<void> {
  while (!stopping.signal.aborted) {
    const way = random.next();
    const queue = random.pick(queues);
    if (way < 0.6) await attempt([newJob()], ([job]) => producer.enqueue(queue, job!).then((done) => [done]));
    else if (way < 0.8) await attempt(Array.from({ length: 10 }, newJob), (jobs) => many(queue, jobs));
    else await attempt([newJob()], (jobs) => inTransaction(queue, jobs));
    await sleep(pauseMs * 2 * random.next());
  }
}

/** Of a transaction whose connection fell silent nobody hears any more. */
async function late(): Promise<never> {
  await sleep(PATIENCE_MS, undefined, { ref: false });
  throw new Error('no answer');
}

function newJob(): TortureJob {
  return { token: `${process.pid}-${seed}-${count++}`, kind: random.pick(KINDS) };
}

/** Notes beforehand what is tried, so that a job of a producer that was killed meanwhile has a name too. */
async function attempt(jobs: TortureJob[], act: (jobs: TortureJob[]) => Promise<{ id: number }[]>): Promise<void> {
  for (const { token } of jobs) journal.noteToken('tried', token);
  try {
    const put = await act(jobs);
    jobs.forEach(({ token }, index) => journal.noteToken('enqueued', token, put[index]!.id));
  } catch (error) {
    const { outcome, code } = error as { outcome?: string; code?: string };
    const isCertain = outcome === 'not-done' || code === 'QUEUE_FULL';
    // Of a transaction of the application's own nobody knows: then the order has to be there just as the job.
    for (const { token } of jobs) journal.noteToken(isCertain ? 'refused' : 'unsure', token);
    await sleep(50);
  }
}

function many(queue: string, jobs: TortureJob[]): Promise<{ id: number }[]> {
  return producer.enqueueMany(
    queue,
    jobs.map((payload) => ({ payload })),
  );
}

function inTransaction(queue: string, [job]: TortureJob[]): Promise<{ id: number }[]> {
  const done = dataSource.transaction(async (manager) => {
    await manager.query('INSERT INTO orders (token) VALUES (?)', [job!.token]);
    const put = await producer.enqueue(queue, job!, { manager });
    if (random.next() < 0.1) throw Object.assign(new Error('rolled back'), { outcome: 'not-done' });
    return [put];
  });
  return Promise.race([done.catch(requireWritable), late()]);
}
