import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerSettings } from '../faults/programs/worker.js';
import type { World } from './engines.js';
import { violations, type Finished } from './history-checker.js';
import { Journal, readJournals, type Entry } from './journal.js';
import { ProgramProcess } from './programs.js';

/** Worker and producer processes on a test's database, and the one history they all write. */
export interface Processes {
  worker(settings?: Partial<WorkerSettings>, env?: Record<string, string>): Promise<ProgramProcess>;
  producer(settings: { jobs: number; failEvery: number }): Promise<ProgramProcess>;
  /** So many producers that put in jobs with one key, one after the other, so many each. */
  racer(settings: { producers: number; calls: number }): Promise<ProgramProcess>;
  /** So many producers that ask for one key at the same time, each time the test says so, and wait for its job. */
  asker(settings: { producers: number }): Promise<ProgramProcess>;
  /** What all of them wrote, in the order of time. */
  journal(): Entry[];
  /** Notes that the process is gone: it had no chance to write how its runs ended. */
  died(program: ProgramProcess): void;
  /** What must never have happened, by all journals and by what the database has in the end. */
  violations(): Promise<string[]>;
}

/** None outlives the test. */
export async function processesOf({ connection, sql, afterTest }: World): Promise<Processes> {
  const journals = await mkdtemp(join(tmpdir(), 'sql-queue-journals-'));
  afterTest(() => rm(journals, { recursive: true, force: true }));
  const start = async (name: string, settings: object, env?: Record<string, string>) => {
    const program = await ProgramProcess.start(name, { connection, journals, ...settings }, env);
    afterTest(() => program.kill());
    return program;
  };
  return {
    worker: (settings = {}, env) => start('worker', { queue: {}, ...settings }, env),
    producer: (settings) => start('producer', settings),
    racer: (settings) => start('key-racer', settings),
    asker: (settings) => start('key-asker', settings),
    journal: () => readJournals(journals),
    died: ({ pid }) => new Journal(journals, `worker-${pid}`).note('died'),
    violations: async () => {
      const rows = await sql<Finished>('SELECT id, state, attempt FROM sql_queue_history');
      return violations(
        readJournals(journals),
        rows.map((row) => ({ ...row, id: Number(row.id) })),
      );
    },
  };
}
