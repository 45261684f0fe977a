import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerSettings } from '../faults/programs/worker.js';
import type { World } from './engines.js';
import { findViolations, type FinishedJob } from './history-checker.js';
import { Journal, readJournals, type JournalEntry } from './journal.js';
import { ProgramProcess } from './programs.js';

/** Worker and producer processes on the database of a test, with one shared history. */
export interface Processes {
  worker(settings?: Partial<WorkerSettings>, env?: Record<string, string>): Promise<ProgramProcess>;
  producer(settings: { jobs: number; failEvery: number }): Promise<ProgramProcess>;
  /** Starts this many producers. Each enqueues `calls` jobs with one key, one after the other. */
  racer(settings: { producers: number; calls: number }): Promise<ProgramProcess>;
  /**
   * Starts this many producers. In each round of the test they enqueue a job with one key at the same time, and wait
   * for it.
   */
  requester(settings: { producers: number }): Promise<ProgramProcess>;
  /** The entries of all processes, in the order of time. */
  journal(): JournalEntry[];
  /** Kills one of the workers at random, and puts a new one in its place. */
  replaceOne(workers: ProgramProcess[], start: () => Promise<ProgramProcess>): Promise<void>;
  /** Records the death of the process, which could not record the end of its runs. */
  recordDeath(program: ProgramProcess): void;
  /** The violations of guarantees according to all journals and the final database. */
  violations(): Promise<string[]>;
}

/** All processes end with the test. */
export async function processesOf({ connection, sql, afterTest }: World): Promise<Processes> {
  const journals = await mkdtemp(join(tmpdir(), 'sql-queue-journals-'));
  afterTest(() => rm(journals, { recursive: true, force: true }));
  const start = async (name: string, settings: object, env?: Record<string, string>) => {
    const program = await ProgramProcess.start(name, { connection, journals, ...settings }, env);
    afterTest(() => program.kill());
    return program;
  };
  const recordDeath = ({ pid }: ProgramProcess) => new Journal(journals, `worker-${pid}`).append('died');
  return {
    async replaceOne(workers, startAnother) {
      const victim = Math.floor(Math.random() * workers.length);
      await workers[victim]!.kill();
      recordDeath(workers[victim]!);
      workers[victim] = await startAnother();
    },
    worker: (settings = {}, env) => start('worker', { queue: {}, ...settings }, env),
    producer: (settings) => start('producer', settings),
    racer: (settings) => start('key-racer', settings),
    requester: (settings) => start('key-requester', settings),
    journal: () => readJournals(journals),
    recordDeath,
    violations: async () => {
      const rows = await sql<FinishedJob>('SELECT id, state, attempt FROM sql_queue_history');
      return findViolations(
        readJournals(journals),
        rows.map((row) => ({ ...row, id: Number(row.id) })),
      );
    },
  };
}
