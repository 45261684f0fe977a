import { Ledger } from '../core/ledger.mjs';
import { now, sleep } from '../core/clock.mjs';

// A worker that gets nothing for this long has nothing to get.
const STALLED_MS = 15_000;

const SETTLES_MS = 3_000;

/**
 * Fills the queue, then lets workers empty it, and looks at the stretch from the last warm-up job to the empty queue,
 * or to the end of the time allowed. Not before each worker has had a job: until then fewer work than are spoken of, beside
 * others that take the processor to start.
 */
export async function drain(trial, given) {
  const { jobs, workers = 1, bytes, seconds, prefill, timeClaims = false, before } = given;
  const waitingBefore = prefill?.what === 'waiting' ? prefill.count : 0;
  const producer = await trial.producer();
  if (prefill) await producer.call('prefill', { ...prefill, from: jobs, bytes }, { timeoutMs: 600_000 });
  const indexes = jobs + waitingBefore;
  await producer.call('bulk', { count: jobs, bytes });
  await trial.rest();
  if (before) await before(trial);

  const crew = Array.from({ length: workers }, () => trial.worker({ indexes, timeClaims }));
  const meter = trial.meter();
  await Promise.all(crew.map((worker) => worker.start()));
  await reached(crew, jobs, seconds);
  const stopping = now();
  const emptyAt = waitingBefore === 0 && handledBy(crew) >= jobs ? await emptied(producer) : stopping;
  const counts = await Promise.all(crew.map((worker) => worker.call('stop')));
  meter.stop();

  const ledger = new Ledger(counts, indexes);
  const left = await leftOver(producer, ledger.missing);
  return {
    void: ledger.problem(left),
    again: ledger.again(left),
    ...stretch(ledger, meter, { from: Math.max(beginning(ledger.startedAt), ledger.allBeganAt), until: emptyAt }),
    ...(timeClaims ? { claims: counts.flatMap(({ claims }) => claims) } : {}),
  };
}

/**
 * Where the warm-up ends: between a twentieth and a quarter of the jobs, where the pause was longest. Who takes jobs by the
 * thousand begins them all at once, and a stretch that began among them would get the rest of them for nothing.
 */
function beginning(startedAt) {
  let longest = Math.ceil(startedAt.length / 20) - 1;
  const pause = (index) => startedAt[index + 1] - startedAt[index];
  for (let index = longest; index < startedAt.length / 4; index++) {
    if (pause(index) > pause(longest)) longest = index;
  }
  return startedAt[longest];
}

/** Rates and CPU time from one moment to another, after the warm-up. */
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

/** Resolves when so many jobs have been handled, or the time since the first one is over. */
async function reached(crew, jobs, seconds) {
  const handled = crew.map(() => 0);
  let changedAt = now();
  let until = Infinity;
  for (const [i, worker] of crew.entries()) {
    worker.handled = 0;
    worker.on('progress', (count) => {
      handled[i] = worker.handled = count;
      changedAt = now();
      if (until === Infinity) until = changedAt + seconds * 1_000;
    });
  }
  while (handledBy(crew) < jobs && now() < until) {
    if (now() - changedAt > STALLED_MS) return;
    await sleep(2);
  }
}

/** How many jobs the queue still has. A worker that has stopped may not have told all its outcomes at once. */
async function leftOver(producer, expected) {
  const until = now() + SETTLES_MS;
  for (;;) {
    const left = await producer.call('left');
    if (left === expected || now() > until) return left;
    await sleep(50);
  }
}

function handledBy(crew) {
  return crew.reduce((sum, { handled }) => sum + handled, 0);
}

/** The moment at which the contestant says that nothing is waiting, running or being completed any more. */
export async function emptied(producer) {
  const until = now() + STALLED_MS;
  while (now() < until) {
    const asked = now();
    if ((await producer.call('left')) === 0) return asked;
    await sleep(5);
  }
  return until;
}
