import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { EnqueueOptions } from '../../../lib/job/enqueue-options.js';
import { InvalidOptionsError } from '../../../lib/job/errors.js';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import { Random } from '../../support/random.js';
import { GROUPED_QUEUE, GROUPS, KINDS, SIGNAL, type TortureJob } from '../../support/torture/torture-job.js';

const { connection, hosts, journals, seed, queues, lease, pauseMs } = JSON.parse(process.argv[2]!) as {
  connection: object;
  /** All nodes, the node of `connection` first. */
  hosts: readonly string[];
  journals: string;
  seed: number;
  /** A queue that is listed more often gets more jobs. */
  queues: readonly string[];
  /** The lease of the workers. The timeout for answers follows from it. */
  lease: number;
  /** The pause between two jobs of one loop. */
  pauseMs: number;
};
const LOOPS = 4;
const ANSWER_TIMEOUT_MS = 4_000;
// For all queues together.
const MAX_WAITING = 500;

const random = new Random(seed);
const journal = new Journal(journals, `producer-${process.pid}`);
const dataSource = await new DataSource(connection as DataSourceOptions).initialize().catch(exitDatabaseAway);
const { producer, admin, close } = await openEngine({
  dataSource,
  hosts,
  queues: Object.fromEntries(
    queues.map((queue) => {
      const groups = queue === GROUPED_QUEUE ? { groups: { concurrency: 1 } } : {};
      return [queue, { maxWaiting: Math.floor(MAX_WAITING / queues.length), lease, ...groups }];
    }),
  ),
}).catch(exitDatabaseAway);
process.on('disconnect', () => process.exit(1));
const stopping = new AbortController();
process.on('message', () => stopping.abort());
process.send?.({ ready: true });

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

let count = 0;
await Promise.all([...Array.from({ length: LOOPS }, produce), reprioritise()]);
await close();
// Silent connections of the application would keep the process alive.
process.exit(0);

async function produce(): Promise<void> {
  while (!stopping.signal.aborted) {
    const way = random.next();
    const queue = random.pick(queues);
    if (way < 0.6)
      await enqueueRecorded([newJob()], ([job]) =>
        producer.enqueue(queue, job!, optionsFor(queue)).then((done) => [done]),
      );
    else if (way < 0.8) await enqueueRecorded(Array.from({ length: 10 }, newJob), (jobs) => enqueueMany(queue, jobs));
    else if (way < 0.9) await enqueueRecorded([newJob()], (jobs) => enqueueInTransaction(queue, jobs));
    else if (way < 0.95) await enqueueAndReplace();
    else await enqueueRecorded(Array.from({ length: 5 }, newJob), (jobs) => enqueueFlow(queue, jobs));
    await sleep(pauseMs * 2 * random.next());
  }
}

/** A transaction on a silent connection never settles, so this rejects after a timeout. */
async function rejectAfterTimeout(): Promise<never> {
  await sleep(ANSWER_TIMEOUT_MS, undefined, { ref: false });
  throw new Error('no answer');
}

function newJob(): TortureJob {
  return { token: `${process.pid}-${seed}-${count++}`, kind: random.pick(KINDS) };
}

/** Changes the order of the jobs of groups while workers claim them. */
async function reprioritise(): Promise<void> {
  while (!stopping.signal.aborted) {
    await sleep(100, undefined, { signal: stopping.signal }).catch(() => undefined);
    try {
      const { jobs } = await admin.find({ queue: GROUPED_QUEUE, state: 'waiting' }, { limit: 20 });
      // No job waits forever behind more urgent ones.
      if (jobs.length > 0) await admin.reprioritise(random.pick(jobs).id, random.between(-5, 0));
    } catch {
      // The database is away: the jobs keep their order.
    }
  }
}

/** A job that another one of another group replaces, unless it has started. */
async function enqueueAndReplace(): Promise<void> {
  const [first, second] = [newJob(), newJob()];
  const key = first.token;
  await enqueueRecorded([first], async () => [
    await producer.enqueue(GROUPED_QUEUE, first, { ...optionsFor(GROUPED_QUEUE), key }),
  ]);
  await sleep(random.between(0, 500));
  const options = { ...optionsFor(GROUPED_QUEUE), key, onConflict: 'replace' } as const;
  const replaces = { replaces: first.token };
  await enqueueRecorded([second], async () => [await producer.enqueue(GROUPED_QUEUE, second, options)], replaces);
}

/** The job may wait for it, have failed before its wait, or not have started. Half of them get it twice. */
async function signal({ token }: TortureJob): Promise<void> {
  for (let times = random.between(1, 2); times > 0 && !stopping.signal.aborted;) {
    await sleep(random.between(0, 1_500), undefined, { ref: false });
    try {
      await producer.signal(SIGNAL, token, 'go');
      journal.appendToken('signalled', token);
      times--;
    } catch {
      // The database is away: it is sent again.
    }
  }
}

/** Records each token before its call, so that the jobs of a killed producer are known too. */
async function enqueueRecorded(
  jobs: TortureJob[],
  act: (jobs: TortureJob[]) => Promise<{ id: number }[]>,
  more: { readonly replaces?: string } = {},
): Promise<void> {
  for (const { token } of jobs) journal.appendToken('tried', token, 0, more);
  for (const job of jobs) if (job.kind === 'waits') void signal(job);
  try {
    const put = await act(jobs);
    jobs.forEach(({ token }, index) => journal.appendToken('enqueued', token, put[index]!.id));
  } catch (error) {
    const { outcome, code } = error as { outcome?: string; code?: string };
    const isCertain = outcome === 'not-done' || code === 'QUEUE_FULL' || code === 'DUPLICATE_KEY';
    // The outcome of a transaction of the application is unknown. Then the order must exist if and only if the job
    // does.
    for (const { token } of jobs) journal.appendToken(isCertain ? 'refused' : 'unsure', token);
    await sleep(50);
  }
}

function optionsFor(queue: string): EnqueueOptions {
  return queue === GROUPED_QUEUE ? { group: `g${random.between(1, GROUPS)}` } : {};
}

function enqueueMany(queue: string, jobs: TortureJob[]): Promise<{ id: number }[]> {
  return producer.enqueueMany(
    queue,
    jobs.map((payload) => ({ payload, options: optionsFor(queue) })),
  );
}

/** Three jobs, one after them, and one after that unless it fails. */
async function enqueueFlow(queue: string, jobs: TortureJob[]): Promise<{ id: number }[]> {
  const flow = await producer.flow((f) => {
    const first = jobs.slice(0, 3).map((job) => f.add(queue, job, optionsFor(queue)));
    const parent = f.add(queue, jobs[3]!, { ...optionsFor(queue), after: first, onFailure: 'run' });
    f.add(random.pick(queues.filter((each) => each !== GROUPED_QUEUE)), jobs[4]!, { after: parent });
  });
  return [...flow.jobs];
}

function enqueueInTransaction(queue: string, [job]: TortureJob[]): Promise<{ id: number }[]> {
  const done = dataSource.transaction(async (manager) => {
    await manager.query('INSERT INTO orders (token) VALUES (?)', [job!.token]);
    const put = await producer.enqueue(queue, job!, { ...optionsFor(queue), manager });
    if (random.next() < 0.1) throw Object.assign(new Error('rolled back'), { outcome: 'not-done' });
    return [put];
  });
  return Promise.race([done.catch(requireWritable), rejectAfterTimeout()]);
}
