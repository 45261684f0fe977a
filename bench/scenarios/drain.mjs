import { Ledger } from '../core/ledger.mjs';
import { now, sleep } from '../core/clock.mjs';

// A worker without a job for this long has no more jobs to run.
const STALL_TIMEOUT_MS = 15_000;

const LEFTOVER_TIMEOUT_MS = 3_000;

/**
 * Fills the queue, then lets workers empty it. Measures from the last warm-up job to the empty queue, or to the end of
 * the allowed time. The measurement starts when each worker has had a job: before, fewer workers run, beside others
 * that are starting.
 */
export async function drain(trial, given) {
  const { jobs, workers = 1, bytes, seconds, prefill, timeClaims = false, before } = given;
  const waitingBefore = prefill?.state === 'waiting' ? prefill.count : 0;
  const producer = await trial.producer();
  if (prefill) await producer.call('prefill', { ...prefill, from: jobs, bytes }, { timeoutMs: 600_000 });
  const indexes = jobs + waitingBefore;
  await producer.call('bulk', { count: jobs, bytes });
  await trial.untilAtRest();
  if (before) await before(trial);

  const workerProcesses = Array.from({ length: workers }, () => trial.worker({ indexes, timeClaims }));
  const meter = trial.meter();
  await Promise.all(workerProcesses.map((worker) => worker.start()));
  await untilHandled(workerProcesses, jobs, seconds);
  const stopping = now();
  const emptyAt = waitingBefore === 0 && handledBy(workerProcesses) >= jobs ? await untilEmpty(producer) : stopping;
  const counts = await Promise.all(workerProcesses.map((worker) => worker.call('stop')));
  meter.stop();

  const ledger = new Ledger(counts, indexes);
  const left = await leftOver(producer, ledger.missing);
  return {
    void: ledger.problem(left),
    again: ledger.again(left),
    ...stretch(ledger, meter, { from: Math.max(warmUpEnd(ledger.startedAt), ledger.allStartedAt), until: emptyAt }),
    ...(timeClaims ? { claims: counts.flatMap(({ claims }) => claims) } : {}),
  };
}

/**
 * The end of the warm-up: the longest pause between a twentieth and a quarter of the jobs. A contestant that claims
 * thousands of jobs starts them together, so a measurement that begins among them would count the rest for free.
 */
function warmUpEnd(startedAt) {
  let longest = Math.ceil(startedAt.length / 20) - 1;
  const pause = (index) => startedAt[index + 1] - startedAt[index];
  for (let index = longest; index < startedAt.length / 4; index++) {
    if (pause(index) > pause(longest)) longest = index;
  }
  return startedAt[longest];
}

/** Rates and CPU time between two times after the warm-up. */
export function stretch({ startedAt, handled }, meter, { from, until }) {
  const jobs = startedAt.filter((at) => at > from && at <= until).length;
  const seconds = (until - from) / 1_000;
  const cpu = meter.between(from, until);
  const cpuSeconds = cpu.workers + cpu.server;
  return {
    handled,
    jobs,
    seconds,
    jobsPerSecond: jobs / seconds,
    cpu,
    cpuPer100k: (cpuSeconds / jobs) * 100_000,
    jobsPerCpuSecond: jobs / cpuSeconds,
  };
}

/** Resolves when `jobs` have been handled, or `seconds` after the first one, or when the workers stall. */
async function untilHandled(workerProcesses, jobs, seconds) {
  const handled = workerProcesses.map(() => 0);
  let changedAt = now();
  let until = Infinity;
  for (const [i, worker] of workerProcesses.entries()) {
    worker.handled = 0;
    worker.on('progress', (count) => {
      handled[i] = worker.handled = count;
      changedAt = now();
      if (until === Infinity) until = changedAt + seconds * 1_000;
    });
  }
  while (handledBy(workerProcesses) < jobs && now() < until) {
    if (now() - changedAt > STALL_TIMEOUT_MS) return;
    await sleep(2);
  }
}

/** The number of jobs left in the queue. The outcomes of a stopped worker may take some time to be stored. */
async function leftOver(producer, expected) {
  const until = now() + LEFTOVER_TIMEOUT_MS;
  for (;;) {
    const left = await producer.call('left');
    if (left === expected || now() > until) return left;
    await sleep(50);
  }
}

function handledBy(workerProcesses) {
  return workerProcesses.reduce((sum, { handled }) => sum + handled, 0);
}

/** Resolves with the time at which the contestant has no job that waits, runs or is being completed. */
export async function untilEmpty(producer) {
  const until = now() + STALL_TIMEOUT_MS;
  while (now() < until) {
    const calledAt = now();
    if ((await producer.call('left')) === 0) return calledAt;
    await sleep(5);
  }
  return until;
}
