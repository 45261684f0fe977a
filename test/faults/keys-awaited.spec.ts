import { describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import type { Entry } from '../support/journal.js';
import { processesOf, type Processes } from '../support/processes.js';
import type { ProgramProcess } from '../support/programs.js';

const PROCESSES = 5;
const PRODUCERS = 10;
const ASKERS = PROCESSES * PRODUCERS;

describeEngines('50 producers in five processes that ask for one key and wait for its job', (setup, { name }) => {
  const rounds = name === 'sqlite' ? 10 : 20;

  it('all join the one that is alive, in every round, and all get its one result', async () => {
    const { world, processes, askers, workers } = await crew();

    for (let round = 0; round < rounds; round++) {
      for (const asker of askers) asker.tell({ ask: round, wish: { hold: true, answer: 'job' } });
      await all(askers, (asker) => asker.untilSaid(`asked ${round}`));
      const job = askers[0]!.said.at(-1)!.job!;
      await Promise.race(workers.map((worker) => worker.untilSaid('holding', job)));
      // A second one would hold its askers for ever.
      expect({ round, alive: await count(world) }).toEqual({ round, alive: 1 });
      for (const worker of workers) worker.tell({ finish: job });
      await all(askers, (asker) => asker.untilSaid(`answered ${round}`));
    }
    await end(askers, workers);

    const journal = processes.journal();
    const answers = answersByJob(journal);
    const done = await results(world);
    expect(put(journal)).toHaveLength(rounds);
    expect([...answers.keys()].sort((a, b) => a - b)).toEqual(put(journal));
    for (const [job, given] of answers) {
      expect({ job, askers: given.length, answers: new Set(given) }).toEqual({
        job,
        askers: ASKERS,
        answers: new Set([done.get(job)]),
      });
    }
    await expectOneAtATime(processes);
  }, 180_000);

  it('find one alive at any time, and get the result of the one that each has joined, while jobs end between their calls', async () => {
    const { world, processes, askers, workers } = await crew();
    const alive: number[] = [];
    let isOver = false;
    const watching = eventually(async () => {
      alive.push(await count(world));
      return isOver;
    });

    for (let round = 0; round < rounds; round++) {
      for (const asker of askers) asker.tell({ ask: round, wish: { answer: 'job' } });
      await all(askers, (asker) => asker.untilSaid(`answered ${round}`));
    }
    isOver = true;
    await watching;
    await end(askers, workers);

    const journal = processes.journal();
    const answers = answersByJob(journal);
    const done = await results(world);
    expect(Math.max(...alive)).toBe(1);
    expect([...done.keys()]).toEqual(put(journal));
    expect([...answers.values()].flat()).toHaveLength(rounds * ASKERS);
    for (const [job, given] of answers)
      expect({ job, answers: new Set(given) }).toEqual({ job, answers: new Set([done.get(job)]) });
    await expectOneAtATime(processes);
  }, 180_000);

  async function crew() {
    const world = await setup();
    const processes = await processesOf(world);
    // Makes the tables, before five processes want to.
    await world.start({ autoStart: false });
    const workers = [await processes.worker(), await processes.worker()];
    const askers = await Promise.all(
      Array.from({ length: PROCESSES }, () => processes.asker({ producers: PRODUCERS })),
    );
    return { world, processes, askers, workers };
  }
});

/** Also where one has ended: then the test is to fail, not to wait. */
async function all(programs: readonly ProgramProcess[], until: (program: ProgramProcess) => Promise<void>) {
  await Promise.all(programs.map(until));
  expect(programs.map(({ hasEnded }) => hasEnded)).not.toContain(true);
}

async function end(...crews: readonly (readonly ProgramProcess[])[]): Promise<void> {
  await Promise.all(crews.flat().map((program) => program.stop()));
}

/** Jobs that somebody was told he has put in, oldest first. */
function put(journal: readonly Entry[]): number[] {
  const entries = journal.filter(({ kind, token }) => kind === 'enqueued' && token === undefined);
  return entries.map(({ job }) => job).sort((a, b) => a - b);
}

function answersByJob(journal: readonly Entry[]): Map<number, string[]> {
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

/** No two runs of whatever jobs overlap, and every promise was kept. */
async function expectOneAtATime(processes: Processes): Promise<void> {
  const runs = processes.journal().filter(({ kind }) => kind === 'begin' || kind === 'end');
  expect(runs.filter(({ kind }, index) => kind !== (index % 2 === 0 ? 'begin' : 'end'))).toEqual([]);
  expect(await processes.violations()).toEqual([]);
}
