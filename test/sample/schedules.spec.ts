import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('07-schedules');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the schedules sample', () => {
  it('runs one job per tick in two workers, one of which is killed', async () => {
    const { start, ticks } = await setup();

    const sample = start();
    const end = await sample.ended;

    expect(end).toBe(0);
    expect(sample.output).toContain('2:30 in Berlin, across the change to summer time: 2027-03-28T01:00:00.000Z');
    expect(sample.number(/Stopped: (\d+) reports/)).toBeGreaterThanOrEqual(20);
    expect(new Set(ticks()).size).toBe(ticks().length);
    expect(new Set(ticks().map((tick) => tick.split(' ')[0]))).toEqual(
      new Set(['report-of-all', 'report-of-acme', 'report-of-globex']),
    );
  });

  it('stops cleanly at Ctrl-C, is killed, and the next start continues', async () => {
    const { start, ticks } = await setup();

    const interrupted = start();
    await interrupted.until(/report-of-all \(all/);
    interrupted.ctrlC();
    const end = await interrupted.ended;
    const killed = start();
    await killed.until(/report-of-acme \(acme/);
    killed.kill();
    await killed.ended;

    expect([end, await start().ended]).toEqual([0, 0]);
    expect(new Set(ticks()).size).toBe(ticks().length);
  });
});

async function setup() {
  const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-schedules-'));
  cleanups.push(() => rm(cwd, { recursive: true, force: true }));
  return {
    start: () => {
      const sample = new SampleProcess({ main, args: [], cwd, env: {} });
      cleanups.push(async () => {
        sample.kill();
        await sample.ended;
      });
      return sample;
    },
    /** The name and time of each tick with a job. */
    ticks: (): string[] => {
      const database = new Database(join(cwd, 'schedules.sqlite'), { readonly: true });
      const rows = database
        .prepare(`SELECT options FROM sql_queue_history UNION ALL SELECT options FROM sql_queue_jobs`)
        .all() as { options: string }[];
      database.close();
      return rows.map(({ options }) => {
        const { schedule } = JSON.parse(options) as { schedule: { name: string; at: number } };
        return `${schedule.name} ${schedule.at}`;
      });
    },
  };
}
