import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import type { JournalEntry } from '../support/journal.js';
import { processesOf, type Processes } from '../support/processes.js';
import type { ProgramProcess } from '../support/programs.js';

const PROCESSES = 5;
const PRODUCERS = 10;
const REQUESTERS = PROCESSES * PRODUCERS;

describeEngines('50 producers in five processes that wait for the job of one key', (setup, { name }) => {
  const rounds = name === 'sqlite' ? 10 : 20;

  it('all join the unfinished job in every round and receive its one result', async () => {
    const { world, processes, requesters, workers } = await crew();

    for (let round = 0; round < rounds; round++) {
      for (const requester of requesters) requester.send({ round, instructions: { hold: true, answer: 'job' } });
      await all(requesters, (requester) => requester.untilMessage(`requested ${round}`));
      const job = requesters[0]!.messages.at(-1)!.job!;
      await Promise.race(workers.map((worker) => worker.untilMessage('holding', job)));
      // A second job would never finish, and its callers would wait forever.
      expect({ round, alive: await count(world) }).toEqual({ round, alive: 1 });
      for (const worker of workers) worker.send({ finish: job });
      await all(requesters, (requester) => requester.untilMessage(`answered ${round}`));
    }
    await end(requesters, workers);

    const journal = processes.journal();
    const answers = answersByJob(journal);
    const done = await results(world);
    expect(put(journal)).toHaveLength(rounds);
    expect([...answers.keys()].sort((a, b) => a - b)).toEqual(put(journal));
    for (const [job, given] of answers) {
      expect({ job, requesters: given.length, answers: new Set(given) }).toEqual({
        job,
        requesters: REQUESTERS,
        answers: new Set([done.get(job)]),
      });
    }
    await expectOneAtATime(processes);
  });

  it('find at most one unfinished job and receive its result while jobs end between calls', async () => {
    const { world, processes, requesters, workers } = await crew();
    const alive: number[] = [];
    let isOver = false;
    const watching = eventually(async () => {
      alive.push(await count(world));
      return isOver;
    });

    for (let round = 0; round < rounds; round++) {
      for (const requester of requesters) requester.send({ round, instructions: { answer: 'job' } });
      await all(requesters, (requester) => requester.untilMessage(`answered ${round}`));
    }
    isOver = true;
    await watching;
    await end(requesters, workers);

    const journal = processes.journal();
    const answers = answersByJob(journal);
    const done = await results(world);
    expect(Math.max(...alive)).toBe(1);
    expect([...done.keys()]).toEqual(put(journal));
    expect([...answers.values()].flat()).toHaveLength(rounds * REQUESTERS);
    for (const [job, given] of answers)
      expect({ job, answers: new Set(given) }).toEqual({ job, answers: new Set([done.get(job)]) });
    await expectOneAtATime(processes);
  });

  async function crew() {
    const world = await setup();
    const processes = await processesOf(world);
    // Creates the tables before five processes start.
    await world.start({ autoStart: false });
    const workers = [await processes.worker(), await processes.worker()];
    const requesters = await Promise.all(
      Array.from({ length: PROCESSES }, () => processes.requester({ producers: PRODUCERS })),
    );
    return { world, processes, requesters, workers };
  }
});

/** Also resolves if a program has ended, so that the test fails instead of waiting. */
async function all(programs: readonly ProgramProcess[], until: (program: ProgramProcess) => Promise<void>) {
  await Promise.all(programs.map(until));
  expect(programs.map(({ hasEnded }) => hasEnded)).not.toContain(true);
}

async function end(...crews: readonly (readonly ProgramProcess[])[]): Promise<void> {
  await Promise.all(crews.flat().map((program) => program.stop()));
}

/** The ids of the created jobs, oldest first. */
function put(journal: readonly JournalEntry[]): number[] {
  const entries = journal.filter(({ kind, token }) => kind === 'enqueued' && token === undefined);
  return entries.map(({ job }) => job).sort((a, b) => a - b);
}

function answersByJob(journal: readonly JournalEntry[]): Map<number, string[]> {
  const answers = new Map<number, string[]>();
  for (const { kind, job, token } of journal) {
    if (kind === 'answered') answers.set(job, [...(answers.get(job) ?? []), token!]);
  }
  return answers;
}

async function results({ sql }: World): Promise<Map<number, string>> {
  const rows = await sql<{ id: string; result: string }>('SELECT id, result FROM sql_queue_history ORDER BY id');
  return new Map(rows.map(({ id, result }) => [Number(id), result]));
}

async function count({ sql }: World): Promise<number> {
  return Number((await sql<{ n: number }>('SELECT COUNT(*) AS n FROM sql_queue_jobs'))[0]!.n);
}

/** No two runs overlap, and the journal shows no violation. */
async function expectOneAtATime(processes: Processes): Promise<void> {
  const runs = processes.journal().filter(({ kind }) => kind === 'begin' || kind === 'end');
  expect(runs.filter(({ kind }, index) => kind !== (index % 2 === 0 ? 'begin' : 'end'))).toEqual([]);
  expect(await processes.violations()).toEqual([]);
}
