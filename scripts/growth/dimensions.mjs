// The dimensions in which the tables grow, and the verbs of each. `fill` writes the rows. `steps` yields the verbs one after
// the other, and gets the answer of each: { verb, act, per }, where `per` divides the time.
import { sequence } from '../lists/seed.mjs';

const CHUNK = 100_000;
const FULL = 500;
const DAY_MS = 86_400_000;
// As the pages of the board and the command show it.
const PAYLOAD = '{"to":"ann@example.com","template":"order-confirmed","total":1999}';
const FREE = { concurrency: 1, rate: null, quantum: 1, onRetry: 'pass' };
const JOBS_PER_GROUP = 5;
const WORKER_QUEUES = Array.from({ length: 10 }, (_, n) => `queue-${n}`);

export const DIMENSIONS = {
  waiting: {
    title: 'waiting jobs in one queue',
    small: 100,
    large: 10_000_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      await addWaiting(world, size);
    },
    steps: verbsOfJobs,
  },
  scheduled: {
    title: 'scheduled jobs in one queue',
    small: 100,
    large: 10_000_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      await inChunks(size, (numbers) =>
        world.sql(`INSERT INTO sql_queue_jobs (queue, payload, run_at, state, runnable)
          SELECT 'q', '${PAYLOAD}', ${Date.now() + DAY_MS} + n, 'scheduled', 0 FROM ${numbers}`),
      );
    },
    steps: (world) => verbsOfJobs(world),
  },
  finished: {
    title: 'finished jobs',
    small: 100,
    large: 10_000_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      await addWaiting(world, 101);
      const claim = await claimFrom(world, 1);
      await world.store.jobs.complete(batchOf(claim, complete, DAY_MS));
      await addCopies(world, size - 1);
      await world.reopen();
    },
    async *steps(world) {
      yield* verbsOfJobs(world);
      const { jobs, admin } = world.store;
      yield { verb: 'get a finished job', act: () => admin.get(2) };
      await jobs.enqueue(many(FULL));
      const claim = await claimFrom(world, FULL);
      await jobs.complete(batchOf(claim, complete, 0));
      yield { verb: `prune ${FULL}`, act: () => jobs.prune(FULL) };
    },
  },
  snapshot: {
    title: 'jobs that passed while a transaction kept its snapshot',
    small: 0,
    large: 1_000_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      await addWaiting(world, 100);
      if (size === 0) return;
      await world.keepSnapshot();
      const { jobs } = world.store;
      for (let passed = 0; passed < size; passed += FULL) {
        await jobs.enqueue(many(FULL));
        await jobs.complete(batchOf(await claimFrom(world, FULL), complete, false));
      }
    },
    async *steps(world) {
      yield* verbsOfJobs(world);
      await world.store.jobs.enqueue(many(1));
      const claim = yield {
        verb: 'connect as another process, and claim 1',
        act: () => world.withAnotherStore((store) => claimFrom({ ...world, store }, 1)),
      };
      await world.store.jobs.complete(batchOf(claim, complete, false));
    },
  },
  queues: {
    title: 'queues with a job each',
    small: 100,
    large: 10_000,
    async fill(world, size) {
      const names = Array.from({ length: size }, (_, n) => `queue-${n}`);
      await addQueues(world, names);
      for (let from = 0; from < size; from += FULL)
        await world.store.jobs.enqueue(names.slice(from, from + FULL).map((queue) => newJob({ queue })));
    },
    async *steps(world) {
      yield* verbsOfJobs(world, WORKER_QUEUES[5], WORKER_QUEUES);
      const { admin, stats } = world.store;
      yield { verb: 'list the queues, per queue', act: () => admin.queues(), per: world.size };
      yield { verb: 'sample the statistics, per queue', act: () => stats.takeSample(), per: world.size };
    },
  },
  groups: {
    title: 'groups with waiting jobs in one queue',
    // A claim of 500 jobs reads up to 2,000 groups, and takes one job of each of the first 500.
    small: 2_500,
    large: 100_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      await inChunks(size * JOBS_PER_GROUP, (numbers) =>
        world.sql(`INSERT INTO sql_queue_jobs (queue, payload, runnable, group_key)
          SELECT 'q', '${PAYLOAD}', 3, CONCAT('g', n % ${size}) FROM ${numbers}`),
      );
      await inChunks(size, (numbers) =>
        world.sql(`INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
          SELECT 'q', CONCAT('g', n), 'ready', n, -32769, 0, '[]' FROM ${numbers}`),
      );
      world.nextGroup = 0;
    },
    async *steps(world) {
      const { jobs } = world.store;
      const inGroups = (count) => many(count, () => ({ group: `g${world.nextGroup++ % world.size}` }));
      for (const count of [1, FULL]) {
        yield { verb: `enqueue ${count}`, act: () => jobs.enqueue(inGroups(count)) };
        const claim = yield { verb: `claim ${count}`, act: () => claimFrom(world, count, { groups: FREE }) };
        yield { verb: `complete ${count}`, act: () => jobs.complete(batchOf(claim, complete, DAY_MS)) };
      }
      yield { verb: 'poll', act: () => jobs.summarizeWork(['q']) };
    },
  },
  flow: {
    title: 'children of one flow',
    small: 100,
    large: 10_000,
    fill: (world) => addQueues(world, ['q', 'parent']),
    async *steps(world) {
      const { size } = world;
      const { flows, jobs } = world.store;
      const flow = {
        jobs: [...many(size), newJob({ queue: 'parent' })],
        edges: Array.from({ length: size }, (_, needs) => ({ job: size, needs, onFailure: 'cancel' })),
      };
      yield { verb: 'enqueue the flow, per child', act: () => flows.create(flow), per: size };
      const endJobs = async (count) => {
        const claim = await claimFrom(world, count);
        await jobs.complete(batchOf(claim, complete, DAY_MS));
        return flows.settle(
          claim.jobs.map(({ id }) => id),
          () => DAY_MS,
        );
      };
      yield { verb: 'claim and end one child, and settle', act: () => endJobs(1) };
      yield {
        verb: 'claim and end the others by 50, and settle the parent, per child',
        per: size - 1,
        async act() {
          for (let ended = 1; ended < size; ended += 50) await endJobs(50);
        },
      };
      const parent = await claimFrom(world, 1, { queue: 'parent' });
      if (parent.jobs.length !== 1) throw new Error(`expected the parent of the flow, got ${parent.jobs.length} jobs`);
      yield { verb: 'complete the parent', act: () => jobs.complete(batchOf(parent, complete, DAY_MS)) };
    },
  },
  steps: {
    title: 'jobs that wait for a signal or sleep',
    small: 100,
    large: 10_000,
    async fill(world, size) {
      await addQueues(world, ['q']);
      const { jobs } = world.store;
      for (let from = 0; from < size; from += FULL) {
        await jobs.enqueue(many(Math.min(FULL, size - from)));
        const claim = await claimFrom(world, FULL);
        const waits = await Promise.all(
          claim.jobs.map((job, n) => (n % 2 ? sleep(world, claim, job, DAY_MS) : waitForSignal(world, claim, job))),
        );
        await jobs.complete({ ...batchOf(claim), completions: claim.jobs.map((job, n) => end(claim, job, waits[n])) });
      }
    },
    async *steps(world) {
      const { jobs, steps } = world.store;
      for (const begin of [waitForSignal, sleep]) {
        const isSleep = begin === sleep;
        await jobs.enqueue(many(1));
        const claim = await claimFrom(world, 1);
        const [job] = claim.jobs;
        const wait = yield { verb: isSleep ? 'sleep' : 'wait for a signal', act: () => begin(world, claim, job) };
        yield { verb: isSleep ? 'snooze until then' : 'snooze', act: () => jobs.complete(batchOf(claim, wait)) };
        yield { verb: 'poll', act: () => jobs.summarizeWork(['q']) };
        if (isSleep) yield { verb: 'promote 1', act: () => jobs.promote(FULL) };
        else {
          const signal = signalOf(world, job.id);
          yield { verb: 'send a signal', act: () => steps.signal({ ...signal, data: '1' }) };
          yield { verb: 'wake the job that waits for it', act: () => steps.wakeWaiting(signal.hash) };
        }
        const again = await claimFrom(world, 1);
        if (again.jobs[0]?.id !== job.id) throw new Error(`expected job ${job.id}, got ${again.jobs[0]?.id}`);
        yield { verb: 'read the steps of a job', act: () => steps.readSteps(job.id) };
        yield { verb: 'complete a job with steps', act: () => jobs.complete(batchOf(again, complete, DAY_MS)) };
      }
    },
  },
};

const complete = { kind: 'complete', result: null };
const retry = { kind: 'retry', delayMs: 1, error: { name: 'Error', message: '550 mailbox unavailable' } };

/** Adds and takes as many jobs, so that the tables keep their sizes. */
async function* verbsOfJobs(world, queue = 'q', polled = [queue]) {
  const { jobs, admin } = world.store;
  const add = (count) => many(count, () => ({ queue }));
  const claim = (count) => () => claimFrom(world, count, { queue });
  for (const count of [1, FULL]) {
    yield { verb: `enqueue ${count}`, act: () => jobs.enqueue(add(count)) };
    const failing = yield { verb: `claim ${count}`, act: claim(count) };
    yield { verb: `fail ${count}, retry later`, act: () => jobs.complete(batchOf(failing, retry)) };
    yield { verb: `promote ${count}`, act: () => jobs.promote(FULL) };
    const again = yield { verb: `claim ${count}, returned`, act: claim(count) };
    yield { verb: `complete ${count}, kept`, act: () => jobs.complete(batchOf(again, complete, DAY_MS)) };
    await jobs.enqueue(add(count));
    const unkept = yield { verb: `claim ${count}`, act: claim(count) };
    yield { verb: `complete ${count}, not kept`, act: () => jobs.complete(batchOf(unkept, complete, false)) };
  }
  yield { verb: 'poll', act: () => jobs.summarizeWork(polled) };
  const [id] = await jobs.enqueue(add(1));
  yield { verb: 'get a job', act: () => admin.get(id) };
  yield { verb: 'cancel a job', act: () => admin.cancel(id, () => DAY_MS) };
}

async function addQueues(world, names) {
  const { byQueue } = await world.store.jobs.chooseStrategies(new Map(names.map((name) => [name, 'auto'])));
  world.strategy = byQueue.get(names[0]).name;
}

/** The rows of `enqueue` have no other values. */
function addWaiting(world, count) {
  return inChunks(count, (numbers) =>
    world.sql(`INSERT INTO sql_queue_jobs (queue, payload) SELECT 'q', '${PAYLOAD}' FROM ${numbers}`),
  );
}

/** Copies the only row of the history. */
async function addCopies(world, count) {
  const copied = { id: 'h.id + 1 + n', finished_at: 'h.finished_at + n', expires_at: 'h.expires_at + n' };
  const columns = world.library.HISTORY_COLUMNS.split(',').map((column) => column.trim());
  const values = columns.map((column) => copied[column] ?? `h.${column}`);
  const [{ id }] = await world.sql('SELECT id FROM sql_queue_history');
  await inChunks(count, (numbers) =>
    world.sql(`INSERT INTO sql_queue_history (${columns.join(', ')})
      SELECT ${values.join(', ')}
      FROM (SELECT * FROM sql_queue_history WHERE id = ${id}) AS h CROSS JOIN ${numbers}`),
  );
}

async function inChunks(count, insert) {
  for (let from = 0; from < count; from += CHUNK) await insert(sequence(from, Math.min(CHUNK, count - from)));
}

function newJob(given) {
  return {
    ...{ queue: 'q', name: 'default', payload: PAYLOAD, priority: 0, delayMs: null, runAtMs: null },
    ...{ maxAttempts: null, headers: null, overrides: null },
    ...given,
  };
}

function many(count, given = () => ({})) {
  return Array.from({ length: count }, () => newJob(given()));
}

async function claimFrom({ store, strategy }, limit, given) {
  const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  const jobs = await store.jobs.claim({
    ...{ claimId: id, workerId: 'worker-1', queue: 'q', limit, order: 'fifo', strategy, leaseMs: 3_600_000 },
    ...{ startLimit: limit, maxAttempts: 5 },
    ...given,
  });
  return { id, jobs };
}

/** Ends all jobs of the claim. */
function batchOf(claim, outcome, retentionMs = DAY_MS) {
  return {
    completions: claim.jobs.map((job) => end(claim, job, outcome, retentionMs)),
    claims: [{ id: claim.id, startLimit: claim.jobs.length, isFinished: true }],
    mayHaveCommitted: false,
    mayBeRescued: new Set(),
  };
}

function end(claim, job, outcome, retentionMs = DAY_MS) {
  return { job, claimId: claim.id, workerId: 'worker-1', outcome, ranMs: 7, endedAt: new Date(), retentionMs };
}

/** Resolves with the outcome of the run. */
async function waitForSignal(world, claim, job) {
  const signal = signalOf(world, job.id);
  const owner = { jobId: job.id, claimId: claim.id };
  const { untilMs } = await world.store.steps.waitForSignal(owner, signal.name, signal, 30 * DAY_MS);
  return { kind: 'snooze', delayMs: 30 * DAY_MS, untilMs, signal: signal.hash };
}

async function sleep(world, claim, job, delayMs = 1) {
  const owner = { jobId: job.id, claimId: claim.id };
  const { untilMs } = await world.store.steps.startSleep(owner, 'pause', { delayMs });
  return { kind: 'snooze', delayMs, untilMs };
}

function signalOf({ library }, id) {
  return { name: 'approval', key: `order-${id}`, hash: library.signalHash('approval', `order-${id}`) };
}
